/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptor helpers and whole-file reading with a ceiling. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"

void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

int steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

int fd_pipe(int *ret_read, int *ret_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

int fd_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EAGAIN) {
			struct pollfd wait = { .fd = fd, .events = POLLOUT };

			poll(&wait, 1, -1);
			continue;
		}
		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return 0;
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

int fd_read_stream(struct arena *a, int fd, const char *name, size_t max, struct str *ret_text,
		   struct cordon_error *err)
{
	autobuf struct buf b = buf_make(max + 1);
	char *copy;
	long got;

	do
		got = buf_read(&b, fd, 65536);
	while (got > 0 || got == -EINTR);
	if (b.n > max || got == -ENOBUFS)
		return err_set(err, CORDON_E_LIMIT, 0, "read",
			       "%s: larger than the limit of %zu bytes", name, max);
	if (got < 0)
		return err_set(err, CORDON_E_IO, (int)-got, "read", "%s", name);
	copy = arena_dup(a, buf_str(&b));
	if (!copy)
		return err_nomem(err, "read");
	*ret_text = (struct str){ copy, b.n };
	return 0;
}

static const char *kind_of_file(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	}
	return "not a regular file";
}

int fd_read_file(struct arena *a, const char *path, size_t max, struct str *ret_text,
		 struct cordon_error *err)
{
	/* O_NONBLOCK: opening a FIFO for reading must not wait for a writer. */
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, CORDON_E_IO, errno, "read", "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, CORDON_E_IO, 0, "read", "%s: is %s, not a regular file", path,
			       kind_of_file(st.st_mode));
	return fd_read_stream(a, fd, path, max, ret_text, err);
}

/* By its own name below /proc: fchmod does not take an O_PATH descriptor. */
int fd_set_mode(int fd, mode_t mode)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode) < 0 ? -errno : 0;
}

int fd_open_up(int fd, mode_t *ret_former)
{
	struct stat st;
	int r = fstat(fd, &st) < 0 ? -errno : fd_set_mode(fd, (st.st_mode & 0777) | S_IRWXU);

	if (r == 0)
		*ret_former = st.st_mode & 07777;
	return r;
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

const struct dirent *fd_next_entry(DIR *dir)
{
	const struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(dir);
	} while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry;
}
