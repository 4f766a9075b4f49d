/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptor helpers and whole-file reading with a ceiling. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"

bool fd_is_exposed(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct termios terminal;
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return false;
	/* Nobody finds a file without a name, whatever its mode is. */
	if (S_ISREG(st.st_mode))
		return !fd_mode_writes(flags) && st.st_nlink;
	/* Somebody else's device has only its mode to protect it, as on the host. */
	return (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) && tcgetattr(fd, &terminal) < 0 &&
	       (geteuid() == 0 || geteuid() == st.st_uid);
}

bool fd_can_be_turned(int fd, bool network)
{
	struct sockaddr_storage own = { .ss_family = AF_UNSPEC }, other;
	socklen_t own_size = sizeof(own), size = sizeof(int), other_size = sizeof(other);
	int type;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return false;
	if (getsockname(fd, (struct sockaddr *)&own, &own_size) < 0)
		return true;
	if (own.ss_family == AF_INET || own.ss_family == AF_INET6)
		return !network;
	return own.ss_family != AF_UNIX || type == SOCK_DGRAM ||
	       getpeername(fd, (struct sockaddr *)&other, &other_size) < 0;
}

bool fd_is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

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

uint64_t fd_allow(uint64_t soft)
{
	struct rlimit limit;
	rlim_t former;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return RLIM_INFINITY;
	former = limit.rlim_cur;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	if (limit.rlim_cur != former)
		setrlimit(RLIMIT_NOFILE, &limit);
	return former;
}

int fd_open_up(int fd, mode_t *ret_former)
{
	struct stat st;
	int r = fstat(fd, &st) < 0 ? -errno : fd_set_mode(fd, (st.st_mode & 0777) | S_IRWXU);

	if (r == 0)
		*ret_former = st.st_mode & 07777;
	return r;
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
