/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets of another network namespace, which only a process with one thread can enter. */
#include <criterion/criterion.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/nursery.h"
#include "skip.h"

#define NO_NAMESPACE 77

/* Calls the check in a namespace whose loopback is down, so that there is no address of any
 * kind; it returns 0 or the number of what is wrong. */
static void in_namespace(int (*check)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 ? NO_NAMESPACE : check());
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACE)
		must_or_skip("no network namespace can be made here");
	cr_assert_eq(WEXITSTATUS(status), 0, "wrong: %d", WEXITSTATUS(status));
}

static int fresh(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static bool loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	autoclose int fd = fresh(AF_INET);

	return ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

static bool stock(struct nursery *n, int family)
{
	*n = NURSERY_NONE;
	return nursery_stock(n, fresh(family), family == AF_INET6) &&
	       nursery_stock(n, fresh(family), family == AF_INET6);
}

/* Each can listen, like a new one. */
static bool serves(int family)
{
	struct nursery n;
	int i = 0;

	if (!stock(&n, family) || nursery_stock(&n, -1, family == AF_INET6))
		return false;
	for (; i < 100; i++) {
		autoclose int fd = nursery_socket(&n);

		if (fd < 0 || listen(fd, 1) < 0)
			break;
	}
	nursery_close(&n);
	return i == 100;
}

static int both_kinds(void)
{
	if (!loopback_up())
		return 1;
	return !serves(AF_INET) ? 2 : !serves(AF_INET6) ? 3 : 0;
}

Test(nursery, of_both_kinds)
{
	in_namespace(both_kinds);
}

/* As where IPv6 is switched off: sockets of it can be made all the same. */
static int no_six(void)
{
	struct nursery n;

	if (stock(&n, AF_INET6))
		return 1;
	return nursery_works(&n) ? 2 : nursery_socket(&n) >= 0 ? 3 : 0;
}

Test(nursery, without_a_loopback_of_ipv6_there_is_none)
{
	in_namespace(no_six);
}

static int refused_often(void)
{
	struct timespec before, after;
	struct nursery n;

	if (!stock(&n, AF_INET))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 50; i++)
		if (nursery_socket(&n) >= 0)
			return 2;
	clock_gettime(CLOCK_MONOTONIC, &after);
	return after.tv_sec - before.tv_sec > 5 ? 3 : 0;
}

Test(nursery, what_cannot_be_reached_is_not_waited_for)
{
	in_namespace(refused_often);
}
