/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard streams that are files or devices, in the child.
 *
 * A descriptor keeps the mount it was opened on, here one of the host: through it a file's
 * mode and owner can be changed, and it can be opened once more for writing
 * (/proc/self/fd/0), whatever the mounts of the sandbox say. So a file that is only read,
 * and a device, are opened again on a read-only mount of their own, /dev/null on the one that
 * the sandbox has anyway. A file that is written stays what it is: its position is shared with
 * whoever else writes there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backend/linux/native.h"
#include "base/fd.h"

#define STAGE "streams"
#define SEALED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

static const char *const links[] = { "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2" };
static const char *const names[] = { "standard input", "standard output", "standard error" };

static CHILD_SAFE int fail(int fd, int error_fd)
{
	return spawn_child_fail(error_fd, CORDON_E_INIT, errno, STAGE,
				"cannot protect the file that is", names[fd],
				"pipe it: cat FILE | cordon run ...");
}

/* A read-only mount of the very file that fd is, or -1. */
static CHILD_SAFE int clone_sealed(int fd, const struct stat *st)
{
	char path[PATH_MAX];
	ssize_t n = readlink(links[fd], path, sizeof(path) - 1);
	struct stat found;
	int tree;

	if (n < 0)
		return -1;
	path[n] = '\0';
	tree = native_clone_tree(AT_FDCWD, path);
	if (tree >= 0 && fstat(tree, &found) == 0 && found.st_dev == st->st_dev &&
	    found.st_ino == st->st_ino && native_set_attributes(tree, SEALED, 0) == 0)
		return tree;
	if (tree >= 0) {
		close(tree);
		errno = ESTALE;
	}
	return -1;
}

/* The mount of the file that the last sealed stream is. Several streams are often one file,
 * and to give up a mount takes longer than all else here. */
struct sealed {
	int tree; /* -1: none yet */
	dev_t dev;
	ino_t ino;
};

static CHILD_SAFE bool find_sealed(struct sealed *s, int fd, const struct stat *st)
{
	if (s->tree >= 0 && s->dev == st->st_dev && s->ino == st->st_ino)
		return true;
	if (s->tree >= 0)
		close(s->tree);
	*s = (struct sealed){ clone_sealed(fd, st), st->st_dev, st->st_ino };
	return s->tree >= 0;
}

/* Puts in its place what is opened on such a mount, at the same position. */
static CHILD_SAFE int seal(struct sealed *s, int fd, int flags, const struct stat *st)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	int again;

	/* Through the number of the stream itself, whose link has a name that is known here. */
	if (!find_sealed(s, fd, st) || dup2(s->tree, fd) < 0)
		return -1;
	again = open(links[fd], (flags & (O_ACCMODE | O_PATH | O_NONBLOCK)) | O_NOCTTY);
	if (again < 0 || dup2(again, fd) < 0)
		return -1;
	close(again);
	if (at >= 0)
		lseek(fd, at, SEEK_SET);
	return 0;
}

static CHILD_SAFE bool is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

CHILD_SAFE int native_open_nulls(const struct native *n, int error_fd)
{
	for (int fd = 0; fd < NATIVE_STREAMS; fd++) {
		int flags, again;
		struct stat st;

		if (!n->is_null[fd])
			continue;
		flags = fcntl(fd, F_GETFL);
		again = open("/dev/null", (flags & (O_ACCMODE | O_NONBLOCK)) | O_CLOEXEC);
		if (again < 0 || fstat(again, &st) < 0 || !is_null(&st) || dup2(again, fd) < 0)
			return fail(fd, error_fd);
		close(again);
	}
	return 0;
}

CHILD_SAFE int native_seal_streams(struct native *n, int error_fd)
{
	struct sealed sealed = { .tree = -1 };

	for (int fd = 0; fd < NATIVE_STREAMS; fd++) {
		int original, flags = fcntl(fd, F_GETFL);
		struct stat st;

		if (flags < 0 || fstat(fd, &st) < 0)
			continue;
		n->is_null[fd] = n->own_dev && is_null(&st) && !(flags & O_PATH);
		if (n->is_null[fd] || !fd_is_exposed(fd))
			continue;
		original = fcntl(fd, F_DUPFD_CLOEXEC, NATIVE_STREAMS);
		if (original < 0 || seal(&sealed, fd, flags, &st) < 0)
			return fail(fd, error_fd);
		if (n->pid_namespace && S_ISREG(st.st_mode))
			n->originals[fd] = original;
		else
			close(original);
	}
	if (sealed.tree >= 0)
		n->streams_mount = sealed.tree;
	return 0;
}

CHILD_SAFE void native_settle_streams(const struct native *n)
{
	for (int fd = 0; fd < NATIVE_STREAMS; fd++) {
		off_t at = n->originals[fd] ? lseek(fd, 0, SEEK_CUR) : -1;

		if (at >= 0)
			lseek(n->originals[fd], at, SEEK_SET);
	}
}
