/* SPDX-License-Identifier: Apache-2.0 */
/* Who listens on the loopback, found in /proc. */
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/services.h"

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* A socket on a port that the kernel chooses; listens where that is wanted. */
static int on_port(union address at, socklen_t size, bool listens, uint16_t *ret_port)
{
	int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, &at.any, size), 0);
	if (listens)
		cr_assert_eq(listen(fd, 1), 0);
	cr_assert_eq(getsockname(fd, &at.any, &size), 0);
	*ret_port = ntohs(at.any.sa_family == AF_INET6 ? at.six.sin6_port : at.four.sin_port);
	return fd;
}

static void is_found(union address at, socklen_t size)
{
	uint16_t port;
	int fd = on_port(at, size, true, &port);

	cr_expect_eq(service_find(0, port), SERVICE_THERE);
	cr_expect_eq(service_find(getpid(), port), SERVICE_THERE);
	close(fd);
	cr_expect_eq(service_find(0, port), SERVICE_NOT_THERE);
	fd = on_port(at, size, false, &port);
	cr_expect_eq(service_find(0, port), SERVICE_NOT_THERE);
	close(fd);
}

Test(services, of_ipv4)
{
	union address at = { .four = { .sin_family = AF_INET } };

	is_found(at, sizeof(at.four));
	at.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	is_found(at, sizeof(at.four));
	at.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 4);
	is_found(at, sizeof(at.four));
}

Test(services, of_ipv6)
{
	union address at = { .six = { .sin6_family = AF_INET6 } };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	close(fd);
	is_found(at, sizeof(at.six));
	at.six.sin6_addr = in6addr_loopback;
	is_found(at, sizeof(at.six));
	/* ::ffff:127.0.0.1 */
	at.six.sin6_addr = (struct in6_addr){ { { [10] = 0xff, [11] = 0xff, 127, 0, 0, 1 } } };
	is_found(at, sizeof(at.six));
}

Test(services, of_nobody)
{
	cr_expect_eq(service_find(1 << 30, 80), SERVICE_UNKNOWN);
}
