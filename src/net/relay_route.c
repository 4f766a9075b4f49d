/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the kernel where packets to an address would go. That covers every address the
 * host has at that moment, whoever configured it, and broadcast and blackholes as well.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/relay_in.h"

int relay_open_routes(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&kernel, sizeof(kernel)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

struct question {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr attribute;
	uint8_t address[16];
};

static void write_question(struct question *q, uint32_t number, const uint8_t address[16])
{
	struct in6_addr six;
	size_t n;

	memcpy(&six, address, sizeof(six));
	n = IN6_IS_ADDR_V4MAPPED(&six) ? 4 : 16;
	memset(q, 0, sizeof(*q));
	q->head.nlmsg_len = (uint32_t)(offsetof(struct question, address) + n);
	q->head.nlmsg_type = RTM_GETROUTE;
	q->head.nlmsg_flags = NLM_F_REQUEST;
	q->head.nlmsg_seq = number;
	q->route.rtm_family = n == 4 ? AF_INET : AF_INET6;
	q->route.rtm_dst_len = (unsigned char)(n * 8);
	q->attribute.rta_type = RTA_DST;
	q->attribute.rta_len = (unsigned short)RTA_LENGTH(n);
	memcpy(q->address, address + 16 - n, n);
}

enum relay_way relay_way(int routes, const uint8_t address[16])
{
	static uint32_t number;
	union {
		struct nlmsghdr head;
		char room[4096];
	} answer;
	struct question q;
	const struct rtmsg *route;
	ssize_t n;

	write_question(&q, ++number, address);
	if (send(routes, &q, q.head.nlmsg_len, 0) < 0)
		return RELAY_WAY_NONE;
	/* The kernel has answered by the time send returns; before it there may be what it said
	 * to a question whose answer could not be taken. */
	do
		n = recv(routes, &answer, sizeof(answer), MSG_DONTWAIT);
	while (n >= (ssize_t)sizeof(answer.head) && answer.head.nlmsg_seq != number);
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(*route)) || answer.head.nlmsg_type != RTM_NEWROUTE)
		return RELAY_WAY_NONE;
	route = NLMSG_DATA(&answer.head);
	return route->rtm_type == RTN_UNICAST ? RELAY_WAY_OUT : RELAY_WAY_HERE;
}
