/* SPDX-License-Identifier: Apache-2.0 */
/* Each message is a byte, the kind, and sockets. */
#include "run/egress_sockets.h"

#include <string.h>
#include <sys/socket.h>

#include "backend/linux/native.h"
#include "base/fd.h"

static void take_one(const struct egress_sockets *to, unsigned char kind, int fd)
{
	bool six = kind == AF_INET6;

	if (kind == NATIVE_HEARS_FOUR || kind == NATIVE_HEARS_SIX)
		egress_udp_take(to->udp, to->loop, fd, kind == NATIVE_HEARS_SIX);
	else if (!nursery_stock(six ? to->six : to->four, fd, six))
		fd_close(&fd);
}

static bool take_message(const struct egress_sockets *to, int box)
{
	union {
		char space[CMSG_SPACE(sizeof(int) * NATIVE_SOCKETS)];
		struct cmsghdr align;
	} control;
	unsigned char kind;
	struct iovec into = { .iov_base = &kind, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &into,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.space) };
	struct cmsghdr *h;

	if (recvmsg(box, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
		return false;
	h = CMSG_FIRSTHDR(&message);
	if (!h || h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
		return false;
	for (size_t i = 0; i < (h->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(fd));
		take_one(to, kind, fd);
	}
	return true;
}

void egress_sockets_take(const struct egress_sockets *to, int box)
{
	while (take_message(to, box))
		;
}
