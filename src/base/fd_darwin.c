/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors as macOS has them. Nothing is born CLOEXEC but by open: cordon starts all of
 * its processes by spawn, which closes what was not asked for. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
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
