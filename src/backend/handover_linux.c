/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of the hand-over. What is done with a descriptor is the business of whoever
 * asked for it.
 */
#include "backend/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"

#define STAGE "hand-over"

int handover_open(int *ret_supervisor, int *ret_inside, struct cordon_error *err)
{
	int ends[2];

	/* Messages keep their bounds, and the end of the other side shows. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, STAGE, "cannot make a socket pair");
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
		err_set(err, CORDON_E_SYSTEM, errno, STAGE, "cannot prepare the socket pair");
		fd_close(&ends[0]);
		fd_close(&ends[1]);
		return -err->code;
	}
	*ret_supervisor = ends[0];
	*ret_inside = ends[1];
	return 0;
}

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

CHILD_SAFE static int send_message(int socket, unsigned char kind, int fd)
{
	return fd_send(socket, &kind, 1, fd) == 1 ? 0 : -1;
}

CHILD_SAFE int handover_send(int inside, enum handover_kind kind, int fd, int error_fd)
{
	if (send_message(inside, (unsigned char)kind, fd) == 0)
		return 0;
	return spawn_child_fail(error_fd, CORDON_E_INIT, errno, STAGE, "cannot hand over the",
				handover_kind_to_string(kind), NULL);
}

CHILD_SAFE int handover_finish(int inside, int error_fd)
{
	char agreed;
	ssize_t got = -1;

	if (send_message(inside, HANDOVER_END, -1) == 0)
		do
			got = read(inside, &agreed, 1);
		while (got < 0 && errno == EINTR);
	if (got == 1)
		return 0;
	return spawn_child_fail(error_fd, CORDON_E_INIT, got < 0 ? errno : 0, STAGE,
				"the supervisor did not take over", NULL, NULL);
}

/* Closes every descriptor that came, so that a bad message leaves none behind. */
static unsigned collect_fds(struct msghdr *message, int *ret_fd)
{
	unsigned n = 0;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h; h = CMSG_NXTHDR(message, h)) {
		size_t count;

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(fd));
			if (n++ == 0)
				*ret_fd = fd;
			else
				fd_close(&fd);
		}
	}
	return n;
}

static int bad_message(int *fd, struct cordon_error *err)
{
	fd_close(fd);
	return err_set(err, CORDON_E_INIT, 0, STAGE,
		       "the sandbox handed over something that was not asked for");
}

int handover_take(int supervisor, int *ret_fd, struct cordon_error *err)
{
	union control control;
	unsigned char bytes[2];
	struct iovec into = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	struct msghdr message = {
		.msg_iov = &into,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space),
	};
	unsigned fds;
	int fd = -1;
	ssize_t got;

	do
		got = recvmsg(supervisor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return HANDOVER_NOTHING;
	if (got < 0)
		return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot take over");
	fds = collect_fds(&message, &fd);
	if (got == 0 && !fds)
		return HANDOVER_GONE;
	/* Cut off: we have no descriptor left, or there was more than one. */
	if (got != 1 || message.msg_flags & (MSG_CTRUNC | MSG_TRUNC))
		return bad_message(&fd, err);
	if (bytes[0] == HANDOVER_END && !fds)
		return HANDOVER_END;
	if (bytes[0] >= HANDOVER_KIND_COUNT || fds != 1)
		return bad_message(&fd, err);
	*ret_fd = fd;
	return bytes[0];
}

int handover_agree(int supervisor, struct cordon_error *err)
{
	if (send_message(supervisor, HANDOVER_END, -1) == 0)
		return 0;
	return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot let the command begin");
}
