/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors as macOS has them. Nothing is born CLOEXEC but by open: cordon starts all of
 * its processes by spawn, which closes what was not asked for. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_on_exec(const int ends[2])
{
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
}

int fd_pipe(int *ret_read, int *ret_write)
{
	int ends[2];

	if (pipe(ends) < 0)
		return -errno;
	close_on_exec(ends);
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

int fd_pair(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return -errno;
	close_on_exec(ends);
	/* Older systems do not know MSG_NOSIGNAL. */
	setsockopt(ends[0], SOL_SOCKET, SO_NOSIGPIPE, &(int){ 1 }, sizeof(int));
	setsockopt(ends[1], SOL_SOCKET, SO_NOSIGPIPE, &(int){ 1 }, sizeof(int));
	return 0;
}

int fd_pty(int *ret_master, int *ret_slave)
{
	autoclose int master = posix_openpt(O_RDWR | O_NOCTTY);
	char name[PATH_MAX];
	int slave;

	if (master < 0 || fcntl(master, F_SETFD, FD_CLOEXEC) < 0 || grantpt(master) < 0 ||
	    unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) != 0)
		return -errno;
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	*ret_master = steal_fd(&master);
	*ret_slave = slave;
	return 0;
}

/* By its name, which a pipe has not: what is opened below /dev/fd is the same open file. */
int fd_open_again(int fd, int flags)
{
	char name[PATH_MAX];

	if (ttyname_r(fd, name, sizeof(name)) != 0) {
		errno = ENOTTY;
		return -1;
	}
	return open(name, flags | O_NOCTTY | O_CLOEXEC);
}

ssize_t fd_write_now(int pipe, const void *data, size_t n)
{
	(void)pipe, (void)data, (void)n;
	errno = ENOTSUP;
	return -1;
}

int fd_is_one(int a, int b)
{
	(void)a, (void)b;
	return -1;
}

int fd_set_mode(int fd, mode_t mode)
{
	return fchmod(fd, mode) < 0 ? -errno : 0;
}

int fd_give_rights(int dir, const char *name, mode_t type, mode_t *ret_former)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if ((st.st_mode & S_IFMT) != type)
		return -EACCES;
	if (fchmodat(dir, name, (st.st_mode & 0777) | S_IRWXU, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ret_former = st.st_mode & 07777;
	return 0;
}

ssize_t fd_path(int fd, char text[PATH_MAX])
{
	return fcntl(fd, F_GETPATH, text) < 0 ? -errno : (ssize_t)strlen(text);
}

int fd_open_directory(const char *path, bool links)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (links ? 0 : O_NOFOLLOW_ANY));
}

int fd_enter(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int fd_rename_new(int from, const char *name, int to, const char *as)
{
	return renameatx_np(from, name, to, as, RENAME_EXCL) < 0 ? -errno : 0;
}

int fd_unnamed(int dir, mode_t mode)
{
	(void)dir, (void)mode;
	errno = ENOTSUP;
	return -1;
}

int fd_memory(const char *name)
{
	(void)name;
	errno = ENOTSUP;
	return -1;
}

int fd_sync_all(int fd)
{
	return fsync_volume_np(fd, SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT) < 0 ? -errno : 0;
}

bool fd_has_file_caps(const char *path)
{
	(void)path;
	return false;
}

ssize_t fd_copy(int out, int in, off_t *at, size_t n)
{
	char chunk[65536];
	ssize_t got = pread(in, chunk, n < sizeof(chunk) ? n : sizeof(chunk), *at);
	int r = got > 0 ? fd_write_all(out, chunk, (size_t)got) : 0;

	if (r < 0) {
		errno = -r;
		return -1;
	}
	*at += got > 0 ? got : 0;
	return got;
}

struct timespec fd_mtime(const struct stat *st)
{
	return st->st_mtimespec;
}

struct timespec fd_ctime(const struct stat *st)
{
	return st->st_ctimespec;
}

bool fd_mode_reads(int mode)
{
	return (mode & O_ACCMODE) != O_WRONLY;
}

bool fd_mode_writes(int mode)
{
	return (mode & O_ACCMODE) != O_RDONLY;
}
