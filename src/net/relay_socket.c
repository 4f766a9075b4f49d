/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets towards an address. */
#include "net/relay_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static socklen_t fill(union address *to, uint32_t device, const uint8_t address[16],
		      uint16_t port)
{
	struct in6_addr six;

	memcpy(&six, address, sizeof(six));
	memset(to, 0, sizeof(*to));
	if (IN6_IS_ADDR_V4MAPPED(&six)) {
		to->four.sin_family = AF_INET;
		to->four.sin_port = htons(port);
		memcpy(&to->four.sin_addr, address + 12, 4);
		return sizeof(to->four);
	}
	to->six.sin6_family = AF_INET6;
	to->six.sin6_port = htons(port);
	to->six.sin6_addr = six;
	to->six.sin6_scope_id = device;
	return sizeof(to->six);
}

static int begin_connecting(int fd, uint32_t device, const uint8_t address[16], uint16_t port)
{
	union address to;
	socklen_t size = fill(&to, device, address, port);

	return connect(fd, &to.any, size) < 0 && errno != EINPROGRESS ? -1 : 0;
}

int relay_connect(int fd, const uint8_t address[16], uint16_t port)
{
	return begin_connecting(fd, 0, address, port);
}

static int family_of(const uint8_t address[16])
{
	union address to;

	fill(&to, 0, address, 0);
	return to.any.sa_family;
}

int relay_socket_by(uint32_t device, const uint8_t address[16], uint16_t port, int type)
{
	static const int yes = 1;
	autoclose int fd = socket(family_of(address), type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	/* Whoever wrote small pieces wanted them sent. */
	if (type == SOCK_STREAM)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return begin_connecting(fd, device, address, port) < 0 ? -1 : steal_fd(&fd);
}

int relay_socket(const uint8_t address[16], uint16_t port, int type)
{
	return relay_socket_by(0, address, port, type);
}
