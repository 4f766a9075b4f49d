/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors as Linux has them: O_PATH, and names below /proc. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/kcmp.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

int fd_pipe(int *ret_read, int *ret_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

int fd_pair(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
}

/* The slave by the master and not by a name, which another mount may give to another. */
int fd_pty(int *ret_master, int *ret_slave)
{
	autoclose int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int unlocked = 0, slave;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) < 0)
		return -errno;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -errno;
	*ret_master = steal_fd(&master);
	*ret_slave = slave;
	return 0;
}

int fd_open_again(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_NOCTTY | O_CLOEXEC);
}

/* At -1, where the file is: by the call itself, which not every C library has. */
ssize_t fd_write_now(int pipe, const void *data, size_t n)
{
	struct iovec bytes = { .iov_base = (void *)(uintptr_t)data, .iov_len = n };
	long done = syscall(SYS_pwritev2, pipe, &bytes, 1L, -1L, -1L, RWF_NOWAIT);

	if (done < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
		errno = ENOTSUP;
	return done;
}

int fd_is_one(int a, int b)
{
	long differ = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b);

	return differ < 0 ? -1 : differ == 0;
}

ssize_t fd_send(int socket, const void *data, size_t n, int fd)
{
	/* Room for one descriptor, aligned as the kernel wants it. */
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec bytes = { .iov_base = (void *)(uintptr_t)data, .iov_len = n };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	ssize_t sent;

	if (fd >= 0) {
		struct cmsghdr *header;

		memset(&control, 0, sizeof(control));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent;
}

/* By its own name below /proc: fchmod does not take an O_PATH descriptor. */
int fd_set_mode(int fd, mode_t mode)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode) < 0 ? -errno : 0;
}

int fd_give_rights(int dir, const char *name, mode_t type, mode_t *ret_former)
{
	autoclose int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return (st.st_mode & S_IFMT) == type ? fd_open_up(fd, ret_former) : -EACCES;
}

ssize_t fd_path(int fd, char text[PATH_MAX])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, text, PATH_MAX);
	if (n < 0)
		return -errno;
	if (n == PATH_MAX)
		return -ENAMETOOLONG;
	text[n] = '\0';
	return n;
}

int fd_open_directory(const char *path, bool links)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = links ? 0 : RESOLVE_NO_SYMLINKS };

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

int fd_enter(int dir, const char *name)
{
	return openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int fd_rename_new(int from, const char *name, int to, const char *as)
{
	long r = syscall(SYS_renameat2, from, name, to, as, RENAME_NOREPLACE);

	return r < 0 ? -errno : 0;
}

int fd_unnamed(int dir, mode_t mode)
{
	return openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
}

int fd_memory(const char *name)
{
	return memfd_create(name, MFD_CLOEXEC);
}

int fd_sync_all(int fd)
{
	return syncfs(fd) < 0 ? -errno : 0;
}

bool fd_has_file_caps(const char *path)
{
	return getxattr(path, "security.capability", NULL, 0) > 0;
}

ssize_t fd_copy(int out, int in, off_t *at, size_t n)
{
	return sendfile(out, in, at, n);
}

struct timespec fd_mtime(const struct stat *st)
{
	return st->st_mtim;
}

struct timespec fd_ctime(const struct stat *st)
{
	return st->st_ctim;
}

bool fd_mode_reads(int mode)
{
	return (mode & O_ACCMODE) != O_WRONLY && !(mode & O_PATH);
}

bool fd_mode_writes(int mode)
{
	return (mode & O_ACCMODE) != O_RDONLY && !(mode & O_PATH);
}
