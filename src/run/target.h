/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: the process whose call waits for an answer, read from outside.
 *
 * Nothing read here is to be trusted for longer than the call waits: whoever acts on it
 * asks the listener afterwards whether the call still does (notify_waits). Another
 * thread of the target may change its memory at any time; what was read was read once.
 *
 * A place is resolved as the kernel would for the target: below the target's root,
 * symlinks followed, /proc/self and the links below it those of the target. It comes
 * back as a directory's descriptor and one name in it, so that later questions are about
 * that very directory.
 */
#ifndef CORDON_RUN_TARGET_H
#define CORDON_RUN_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"

struct target_view {
	int root; /* O_PATH; every target of one run has the same; -1: not opened yet */
	/* Lays the right to look at every process down, or takes it again, for who has one that
	 * its targets have not; NULL: nobody has. */
	void (*look)(const void *whose, bool may);
	const void *whose;
};

struct target {
	struct target_view *view;
	pid_t tid; /* as the host numbers it */
};

/* Processes are looked up in this /proc, in which they have the numbers of the host. For a
 * process that sees another one at /proc. */
bool target_use_proc(int proc); /* false, with errno: cannot be used */

/* Copies the string at `address` into text; both ends included it is at most PATH_MAX
 * bytes. Returns its length, or -EFAULT, -ENAMETOOLONG, or -EACCES when the target may
 * not be looked at. */
ssize_t target_read_string(pid_t tid, uint64_t address, char text[PATH_MAX]);
/* The same for several at once, which costs one system call and not one each. */
struct target_string {
	uint64_t address;
	char *text; /* PATH_MAX bytes */
	ssize_t n;  /* what target_read_string returns */
};
#define TARGET_STRINGS_MAX 2
void target_read_strings(pid_t tid, struct target_string *strings, size_t count);
/* Copies n bytes: 0, -EFAULT or -EACCES. */
int target_read(pid_t tid, uint64_t address, void *to, size_t n);
/* May its memory not be read, whatever is there? Then it is a process that has set itself so
 * (PR_SET_DUMPABLE), or whose program its user may not read. */
bool target_is_closed(pid_t tid);

/* A file of its directory in /proc, for reading; -1: errno says why. */
int target_open_proc(pid_t tid, const char *name);

/* Makes sure that view->root is open: 0 or -errno. */
int target_open_root(const struct target *target);

/* The path of the directory that dirfd (AT_FDCWD: the working directory) is for it: its
 * length, 0 when that is not known. */
size_t target_base_path(const struct target *target, int dirfd, char text[PATH_MAX]);

/* Its working directory, O_PATH, or -errno. */
int target_open_cwd(const struct target *target);

/* What one of its descriptors leads to, O_PATH, or -errno. */
int target_open_descriptor(const struct target *target, int fd);
/* Is it a socket for datagrams? False also where that cannot be known. */
bool target_has_datagrams(const struct target *target, int fd);

struct target_place {
	int dir;		 /* O_PATH */
	char name[NAME_MAX + 1]; /* "": `dir` is the object itself, as with / or a/.. or a
				  * link of /proc, which may lead to a file */
	bool slash;		 /* something followed the name: only a directory is meant */
};

/* Resolves `path` relative to dirfd (AT_FDCWD: the target's directory); with follow, a
 * symlink in the last place is followed, too, also one that leads nowhere. Returns 0 or
 * the errno that the kernel would give, negative; the caller closes ret->dir. */
int target_resolve(const struct target *target, int dirfd, const char *path, bool follow,
		   struct target_place *ret);

/* Opens what the path leads to, and nothing on the way is a link: 0, or the errno, negative, which
 * is ELOOP at the first link. */
int target_walk_without_links(const struct target *target, int dirfd, const char *path);
/* Quickly: is there no symlink anywhere in the path, the last component included? Then
 * what would be made is called as the text says. False also when that is not known. */
bool target_has_no_links(const struct target *target, int dirfd, const char *path);

/* The path of an open object, as the sandbox shows it. -ENOENT when it was removed. */
ssize_t target_path_of(int dir, char text[PATH_MAX]);
/* The same for one that is known to have a link left. */
ssize_t target_name_of(int dir, char text[PATH_MAX]);

/* The whole of its /proc/PID/status, of which the list of groups can be as long as many pages.
 * False when it cannot be read. */
#define TARGET_STATUS_MAX ((size_t)1 << 20) /* 65,536 groups */
bool target_status(pid_t tid, struct buf *ret);

/* Does it execute this very program? Its name is whatever it says. */
bool target_is_own(pid_t tid);

/* The target's comm; "" when it cannot be read. */
void target_program(pid_t tid, char *text, size_t size);

#endif
