/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out for a list of hosts, as far as only the inside can make it: routes that
 * bring every address which stands for a host to the loopback device, and sockets of this
 * network namespace. They are handed out unbound; the supervisor, who owns the namespace,
 * makes more of them and listens where the command wants to connect.
 *
 * All of them go out as one descriptor: a socket in whose queue they wait.
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/handover.h"
#include "backend/linux/native.h"
#include "base/linux_compat.h"

#define STAGE "egress"
/* The first device of a namespace is the loopback. */
#define LOOPBACK_INDEX 1
/* The most that the loopback takes. */
#define PACKET_BYTES 524280

struct route_request {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr device;
	uint32_t device_index;
	struct rtattr attribute;
	uint8_t address[16];
};

static CHILD_SAFE void write_route(struct route_request *q, const struct native_route *r)
{
	size_t n = r->family == AF_INET ? 4 : 16;

	memset(q, 0, sizeof(*q));
	q->head.nlmsg_len = (uint32_t)(offsetof(struct route_request, address) + n);
	q->head.nlmsg_type = RTM_NEWROUTE;
	q->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK;
	q->route.rtm_family = r->family;
	q->route.rtm_dst_len = r->bits;
	q->route.rtm_table = RT_TABLE_LOCAL;
	q->route.rtm_protocol = RTPROT_STATIC;
	q->route.rtm_scope = RT_SCOPE_HOST;
	q->route.rtm_type = RTN_LOCAL;
	q->device.rta_type = RTA_OIF;
	q->device.rta_len = RTA_LENGTH(sizeof(q->device_index));
	q->device_index = LOOPBACK_INDEX;
	q->attribute.rta_type = RTA_DST;
	q->attribute.rta_len = (unsigned short)RTA_LENGTH(n);
	memcpy(q->address, r->address, n);
}

struct address_request {
	struct nlmsghdr head;
	struct ifaddrmsg about;
	struct rtattr attribute;
	uint8_t address[16];
};

/* Programs that ask only for addresses of a kind that their machine has (AI_ADDRCONFIG)
 * do not count the loopback's. */
static CHILD_SAFE void write_address(struct address_request *q, const struct native_route *r)
{
	size_t n = r->family == AF_INET ? 4 : 16;

	memset(q, 0, sizeof(*q));
	q->head.nlmsg_len = (uint32_t)(offsetof(struct address_request, address) + n);
	q->head.nlmsg_type = RTM_NEWADDR;
	q->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK;
	q->about.ifa_family = r->family;
	q->about.ifa_prefixlen = (unsigned char)(8 * n);
	q->about.ifa_flags = IFA_F_NODAD | IFA_F_PERMANENT;
	q->about.ifa_scope = RT_SCOPE_UNIVERSE;
	q->about.ifa_index = LOOPBACK_INDEX;
	q->attribute.rta_type = IFA_LOCAL;
	q->attribute.rta_len = (unsigned short)RTA_LENGTH(n);
	memcpy(q->address, r->address, n);
}

/* Two patterns may need the same one. */
static CHILD_SAFE int ask(int kernel, const struct nlmsghdr *question)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} answer;

	if (send(kernel, question, question->nlmsg_len, 0) < 0 ||
	    recv(kernel, &answer, sizeof(answer), MSG_TRUNC) < (ssize_t)sizeof(answer) ||
	    answer.head.nlmsg_type != NLMSG_ERROR)
		return -1;
	errno = -answer.error.error;
	return errno == 0 || errno == EEXIST ? 0 : -1;
}

static CHILD_SAFE int add_route(int kernel, const struct native_route *r)
{
	struct route_request route;
	struct address_request address;

	write_route(&route, r);
	if (ask(kernel, &route.head) < 0)
		return -1;
	write_address(&address, r);
	return r->assigned ? ask(kernel, &address.head) : 0;
}

struct size_request {
	struct nlmsghdr head;
	struct ifinfomsg device;
	struct {
		struct rtattr attribute;
		uint32_t bytes;
	} six, four;
};

/* What goes over the loopback is handed on in packets of this size: an eighth of the work
 * that a large transfer is by default. Kernels before 6.3 do not know it, or not for IPv4. */
static CHILD_SAFE void enlarge_packets(int kernel)
{
	struct size_request q = {
		.head = { .nlmsg_len = sizeof(q),
			  .nlmsg_type = RTM_NEWLINK,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.device.ifi_index = LOOPBACK_INDEX,
		.six = { { RTA_LENGTH(4), IFLA_GSO_MAX_SIZE }, PACKET_BYTES },
		.four = { { RTA_LENGTH(4), LINUX_IFLA_GSO_IPV4_MAX_SIZE }, PACKET_BYTES },
	};

	ask(kernel, &q.head);
}

/* *ret_six: there is IPv6. */
static CHILD_SAFE int add_routes(const struct native *n, int kernel, bool *ret_six, int error_fd)
{
	for (size_t i = 0; i < n->n_routes; i++) {
		const struct native_route *r = &n->routes[i];
		bool added = add_route(kernel, r) == 0;

		if (!added && !r->optional)
			return native_fail(error_fd, STAGE, "cannot add a route to", r->text);
		*ret_six |= added && r->family == AF_INET6;
	}
	return 0;
}

static CHILD_SAFE int arrange(const struct native *n, bool *ret_six, int error_fd)
{
	int r, kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (kernel < 0)
		return native_fail(error_fd, STAGE, "cannot arrange", "the network");
	enlarge_packets(kernel);
	r = add_routes(n, kernel, ret_six, error_fd);
	close(kernel);
	return r;
}

union control {
	char space[CMSG_SPACE(sizeof(int) * NATIVE_SOCKETS)];
	struct cmsghdr align;
};

/* One byte, the family, with n sockets. */
static CHILD_SAFE int pack(int box, unsigned char family, const int *fds, size_t n)
{
	union control control;
	struct iovec byte = { .iov_base = &family, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = CMSG_SPACE(sizeof(int) * n) };
	struct cmsghdr *header;

	memset(&control, 0, sizeof(control));
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(header), fds, sizeof(int) * n);
	return sendmsg(box, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static CHILD_SAFE int fill(int box, unsigned char family)
{
	int fds[NATIVE_SOCKETS], r = 0;
	size_t n = 0;

	while (n < NATIVE_SOCKETS && r == 0) {
		fds[n] = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		r = fds[n] < 0 ? -1 : 0;
		n += r == 0;
	}
	if (r == 0)
		r = pack(box, family, fds, n);
	while (n > 0)
		close(fds[--n]);
	return r;
}

/* That the kernel refuses UDP to a listed host is heard with these; without them it is not
 * told why. */
static CHILD_SAFE int fill_hearing(int box)
{
	static const int kinds[][2] = { { AF_INET, IPPROTO_ICMP }, { AF_INET6, IPPROTO_ICMPV6 } };
	int r = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r == 0; i++) {
		int fd = socket(kinds[i][0], SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, kinds[i][1]);

		if (fd < 0)
			continue;
		r = pack(box, kinds[i][0] == AF_INET ? NATIVE_HEARS_FOUR : NATIVE_HEARS_SIX, &fd,
			 1);
		close(fd);
	}
	return r;
}

/* Those of IPv6 say that names may have addresses of it. */
static CHILD_SAFE int fill_all(const struct native *n, bool six, int box)
{
	if (fill(box, AF_INET) < 0 || (n->n_routes && fill_hearing(box) < 0))
		return -1;
	if (n->n_routes && !six)
		return 0;
	return fill(box, AF_INET6) < 0 && errno != EAFNOSUPPORT ? -1 : 0;
}

CHILD_SAFE int native_open_egress(const struct native *n, int error_fd)
{
	int ends[2], r;
	bool six = false;

	if (!n->sockets)
		return 0;
	r = arrange(n, &six, error_fd);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
	    fill_all(n, six, ends[0]) < 0)
		return native_fail(error_fd, STAGE, "cannot make", "sockets");
	close(ends[0]);
	r = handover_send(n->handover_fd, HANDOVER_SOCKETS, ends[1], error_fd);
	close(ends[1]);
	return r;
}
