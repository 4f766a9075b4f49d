/* SPDX-License-Identifier: Apache-2.0 */
/* net/relay_route: which answer belongs to which question. */
#include <criterion/criterion.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/relay_in.h"

static const uint8_t loopback[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };

Test(route, the_loopback_is_here)
{
	int kernel = relay_open_routes();

	cr_assert_geq(kernel, 0);
	/* Again and again: each answer is the last question's. */
	for (int i = 0; i < 3; i++)
		cr_assert_eq(relay_way(kernel, loopback), RELAY_WAY_HERE);
	close(kernel);
}

struct answer {
	struct nlmsghdr head;
	struct rtmsg route;
};

static void say(int to, uint32_t number, unsigned char type)
{
	struct answer a = { .head = { .nlmsg_len = sizeof(a),
				      .nlmsg_type = RTM_NEWROUTE,
				      .nlmsg_seq = number },
			    .route.rtm_type = type };

	cr_assert_eq(send(to, &a, sizeof(a), 0), (ssize_t)sizeof(a));
}

/* What was said to an earlier question must not open an address that is asked for now. */
Test(route, an_answer_that_was_left_behind_is_nobodys)
{
	struct nlmsghdr asked;
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	say(ends[1], 0, RTN_UNICAST);
	cr_assert_eq(relay_way(ends[0], loopback), RELAY_WAY_NONE);
	cr_assert_geq(recv(ends[1], &asked, sizeof(asked), 0), 0);
	say(ends[1], asked.nlmsg_seq, RTN_UNICAST);
	say(ends[1], asked.nlmsg_seq + 1, RTN_LOCAL);
	cr_assert_eq(relay_way(ends[0], loopback), RELAY_WAY_HERE);
	close(ends[0]);
	close(ends[1]);
}
