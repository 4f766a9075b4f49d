/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets of the sandbox's name server. They are made in its network namespace, by
 * an init that may still bind a port below 1024, and handed out: the supervisor answers.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/handover.h"
#include "backend/linux/native.h"

#define STAGE "name-server"
#define PORT 53
#define BACKLOG 8

static CHILD_SAFE int hand_out(const struct native *n, int type, enum handover_kind kind,
			       int error_fd)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return native_fail(error_fd, STAGE, "cannot listen on", "127.0.0.1:53");
	r = handover_send(n->handover_fd, kind, fd, error_fd);
	close(fd);
	return r;
}

CHILD_SAFE int native_start_resolver(const struct native *n, int error_fd)
{
	int r;

	if (!n->resolver)
		return 0;
	r = hand_out(n, SOCK_DGRAM, HANDOVER_DNS_UDP, error_fd);
	return r < 0 ? r : hand_out(n, SOCK_STREAM, HANDOVER_DNS_TCP, error_fd);
}
