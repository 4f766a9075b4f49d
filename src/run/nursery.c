/* SPDX-License-Identifier: Apache-2.0 */
/* Listen, connect, accept, disconnect. */
#include "run/nursery.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include "base/fd.h"

/* On the loopback it is there at once; on a machine with much else to do the kernel takes a
 * moment for it. Only where something is stuck does it take this long. */
#define STUCK_MS 200

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* Sockets of IPv6 can be made although no device has an address of it. */
static bool has_loopback_six(int fd)
{
	static const struct sockaddr_in6 at = { .sin6_family = AF_INET6,
						.sin6_addr = IN6ADDR_LOOPBACK_INIT };

	return bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
}

bool nursery_stock(struct nursery *n, int fd, bool six)
{
	int *place = n->listens < 0 ? &n->listens : &n->connects;

	if (*place >= 0 || (six && place == &n->connects && !has_loopback_six(fd)))
		return false;
	n->six = six;
	*place = fd;
	return true;
}

bool nursery_works(const struct nursery *n)
{
	return n->connects >= 0;
}

void nursery_close(struct nursery *n)
{
	fd_close(&n->listens);
	fd_close(&n->connects);
}

/* Ends its connection, forgets its port and what went wrong. */
static bool forget(int fd)
{
	static const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	int error;
	socklen_t size = sizeof(error);

	return connect(fd, &nowhere, sizeof(nowhere)) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0;
}

/* Where it listens, as seen from beside it. */
static bool read_port(const struct nursery *n, union address *ret)
{
	socklen_t size = sizeof(*ret);

	if (getsockname(n->listens, &ret->any, &size) < 0)
		return false;
	if (n->six)
		ret->six.sin6_addr = in6addr_loopback;
	else
		ret->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return true;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool await(struct pollfd ends[2])
{
	int64_t until = now_ms() + STUCK_MS, left = STUCK_MS;
	int r;

	do {
		r = poll(ends, 2, (int)left);
		left = until - now_ms();
	} while (r < 0 && errno == EINTR && left > 0);
	return r > 0;
}

static int accept_one(const struct nursery *n)
{
	/* What connects is asked for nothing but whether it failed. */
	struct pollfd ends[] = { { .fd = n->listens, .events = POLLIN }, { .fd = n->connects } };
	union address at;

	if (listen(n->listens, 1) < 0 || !read_port(n, &at) ||
	    (connect(n->connects, &at.any, n->six ? sizeof(at.six) : sizeof(at.four)) < 0 &&
	     errno != EINPROGRESS))
		return -1;
	if (!await(ends) || !(ends[0].revents & POLLIN))
		return -1;
	return accept4(n->listens, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int nursery_socket(const struct nursery *n)
{
	autoclose int fd = nursery_works(n) ? accept_one(n) : -1;

	if (!nursery_works(n))
		return -1;
	forget(n->connects);
	/* It ends listening and forgets its port as well. */
	shutdown(n->listens, SHUT_RDWR);
	return fd >= 0 && forget(fd) ? steal_fd(&fd) : -1;
}
