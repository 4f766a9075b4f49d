/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File descriptors: born CLOEXEC, closed by scope, handed on with steal_fd.
 */
#ifndef CORDON_BASE_FD_H
#define CORDON_BASE_FD_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include "base/arena.h"
#include "base/err.h"

/* Could whoever has this descriptor do more to what is behind it than it was opened for,
 * because it keeps the mount it was opened on: a file that is only read (or neither), to be
 * opened again for writing or get another mode; a device of the caller's? CHILD_SAFE. */
bool fd_is_exposed(int fd);
/* Is it a socket that can be turned to others than it was handed over for? It is of the network
 * it was made in, whoever has it: a datagram goes wherever it is addressed to, and a connection
 * of the internet is given up for another. Only a connected stream of this machine's is bound
 * to its other end. network: the internet is open, and sockets of it are no matter. */
bool fd_can_be_turned(int fd, bool network);
/* Does somebody at another end wait for it, a pipe's or a socket's? */
bool fd_is_pipe(int fd);
/* Closes *fd if it is not negative, keeps errno, sets *fd to -1. */
void fd_close(int *fd);
int steal_fd(int *fd);

#define autoclose __attribute__((cleanup(fd_close)))

/* pipe2(O_CLOEXEC); returns 0 or -errno. */
int fd_pipe(int *ret_read, int *ret_write);
/* Writes all of data, retrying on EINTR and, by waiting, on EAGAIN. 0 or -errno. */
int fd_write_all(int fd, const void *data, size_t n);

/* Two connected stream sockets. 0 or -errno. */
int fd_pair(int ends[2]);
/* A new terminal, as master and slave; neither becomes anybody's. 0 or -errno. */
int fd_pty(int *ret_master, int *ret_slave);
/* Another open file of the same terminal or, where the system can, the same pipe, with flags of
 * its own; -1 with errno. */
int fd_open_again(int fd, int flags);
/* write(2) to a pipe that does not wait, whatever the flags are of the open file, which others
 * share: EAGAIN then. ENOTSUP where the kernel cannot. */
ssize_t fd_write_now(int pipe, const void *data, size_t n);
/* 1 when both are one open file, 0 when they are not, -1 when the kernel does not say. */
int fd_is_one(int a, int b);

/* Sends n bytes over a socket and, unless it is -1, a descriptor with them. sendmsg's
 * result. CHILD_SAFE. */
ssize_t fd_send(int socket, const void *data, size_t n, int fd);

/* Reads the regular file at `path` whole into the arena, NUL-terminated. A
 * directory, FIFO, device or socket is an error, as is more than max bytes;
 * opening never blocks. */
int fd_read_file(struct arena *a, const char *path, size_t max, struct str *ret_text,
		 struct cordon_error *err);
/* Reads a stream (a pipe, stdin) until its end, with the same ceiling. `name` is
 * what messages call it. */
int fd_read_stream(struct arena *a, int fd, const char *name, size_t max, struct str *ret_text,
		   struct cordon_error *err);

/* Lets the owner do everything to a file or directory (`type`, S_IFREG or S_IFDIR) that took
 * its own rights away. The thing itself is changed: never what a link of that name leads
 * to. Returns 0 or a negative errno. */
int fd_give_rights(int dir, const char *name, mode_t type, mode_t *ret_former);
/* The same for an open one, which may be O_PATH; fd_set_mode puts the mode back. */
int fd_open_up(int fd, mode_t *ret_former);
int fd_set_mode(int fd, mode_t mode);

/* Lets this process have so many descriptors, or as many as it can. Returns how many it could have
 * before. A set-up that takes many, and whoever watches, may need more than programs are usually
 * given. CHILD_SAFE. */
uint64_t fd_allow(uint64_t soft);

/* A directory to name things in, not to be read; `links`: it may be reached through some.
 * -1 with errno. */
int fd_open_directory(const char *path, bool links);
/* The same below an open one or AT_FDCWD, never a link itself. */
int fd_enter(int dir, const char *name);
/* renameat to a name that must not be there. 0 or -errno. */
int fd_rename_new(int from, const char *name, int to, const char *as);
/* A file without a name in the directory, to be written; -1 with errno where there are none. */
int fd_unnamed(int dir, mode_t mode);
/* A file in memory, without a name but for messages; -1 with errno where there are none. */
int fd_memory(const char *name);
/* Lets all of the file system be on disk that the descriptor is in. 0 or -errno. */
int fd_sync_all(int fd);
/* Do capabilities come with executing this file? */
bool fd_has_file_caps(const char *path);
/* Copies up to n bytes at *at of a file, and moves *at on. As sendfile(2) of Linux. */
ssize_t fd_copy(int out, int in, off_t *at, size_t n);
/* Can be read from or written to, by what F_GETFL says? */
bool fd_mode_reads(int mode);
bool fd_mode_writes(int mode);
/* When content and when anything of a file changed last. */
struct timespec fd_mtime(const struct stat *st);
struct timespec fd_ctime(const struct stat *st);

/* The next entry of a directory, "." and ".." left out. NULL at the end, with errno 0, or
 * where reading it failed: then not all names are known. */
const struct dirent *fd_next_entry(DIR *dir);

/* The path of an open object now, NUL-terminated. Returns its length or -errno; a removed
 * one has a path that is not there. */
ssize_t fd_path(int fd, char text[PATH_MAX]);

#endif
