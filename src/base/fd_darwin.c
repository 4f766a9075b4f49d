/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors as macOS has them. Nothing is born CLOEXEC but by open: cordon starts all of
 * its processes by spawn, which closes what was not asked for. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fd_pipe(int *ret_read, int *ret_write)
{
	int ends[2];

	if (pipe(ends) < 0)
		return -errno;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
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

bool fd_mode_writes(int mode)
{
	return (mode & O_ACCMODE) != O_RDONLY;
}
