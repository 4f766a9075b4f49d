/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call of connect leads. */
#include "run/observe_host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/num.h"
#include "net/synthetic.h"
#include "run/services.h"

/* How a service of the host is named; how often one is looked for in a run. */
#define HERE "localhost:"
#define SERVICES_MAX 256

static void print_port(char *text, uint16_t port)
{
	if (port)
		snprintf(text, OBSERVED_TEXT - INET6_ADDRSTRLEN, ":%u", port);
}

/* host:port of an address that leads out, without a port where that is 0; false for any
 * other. */
static bool print_address(const struct sockaddr_storage *address, char text[OBSERVED_TEXT])
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	char ip[INET6_ADDRSTRLEN];
	struct in_addr four = in->sin_addr;
	bool mapped = address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr);

	if (mapped)
		memcpy(&four, &in6->sin6_addr.s6_addr[12], sizeof(four));
	if (address->ss_family == AF_INET || mapped) {
		if (four.s_addr == 0 || (ntohl(four.s_addr) >> 24) == 127)
			return false;
		inet_ntop(AF_INET, &four, ip, sizeof(ip));
		print_port(text + snprintf(text, OBSERVED_TEXT, "%s", ip), ntohs(in->sin_port));
		return true;
	}
	if (address->ss_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
	    IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))
		return false;
	inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip));
	print_port(text + snprintf(text, OBSERVED_TEXT, "[%s]", ip), ntohs(in6->sin6_port));
	return true;
}

/* Then it is not known here for which; whoever knows decides and tells (egress.h). */
static bool stands_for_name(const struct observer *o, const struct host *host)
{
	return o->policy->hosts.n && synthetic_is(host->address);
}

static bool is_refused_host(const struct observer *o, const char *text)
{
	struct cordon_error ignored;
	struct host host;

	return host_parse_target(str_of(text), &host, &ignored) == 0 &&
	       !stands_for_name(o, &host) && !policy_decide_host(o->policy, &host).allowed;
}

/* The port of an address on the loopback; 0: it is no such address. */
static uint16_t loopback_port(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	struct host h = { .kind = HOST_ADDRESS, .prefix_bits = 128 };

	if (address->ss_family == AF_INET6) {
		memcpy(h.address, &in6->sin6_addr, 16);
	} else if (address->ss_family == AF_INET) {
		memset(h.address + 10, 0xff, 2);
		memcpy(h.address + 12, &in->sin_addr, 4);
	} else {
		return 0;
	}
	return host_is_loopback(&h) ? ntohs(in->sin_port) : 0;
}

static bool has_datagrams(const struct request *q)
{
	return target_has_datagrams(&q->target, (int)request_argument(q, 0));
}

/* The sandbox has a loopback of its own. Who connects where nobody listens on it may have
 * meant the host's, and whether somebody listens there is seen later. Datagrams reach no such
 * service; the C library connects with them only to put addresses in order. */
static bool look_at_service(struct observer *o, const struct request *q, uint16_t port,
			    struct observed_object *ret)
{
	if (!port || o->services == SERVICES_MAX)
		return false;
	o->services++;
	snprintf(ret->text, sizeof(ret->text), HERE "%u", port);
	return is_refused_host(o, ret->text) &&
	       service_find(q->target.tid, port) == SERVICE_NOT_THERE && !has_datagrams(q);
}

static bool is_missed_service(const char *text)
{
	struct str port = str_skip(str_of(text), sizeof(HERE) - 1);
	uint64_t number;

	return num_parse_u64(port, UINT16_MAX, &number) &&
	       service_find(0, (uint16_t)number) == SERVICE_THERE;
}

/* Without one it is only asked which way packets would go. The port is in the same place in
 * both kinds. */
static bool has_port(const struct sockaddr_storage *address)
{
	return ((const struct sockaddr_in *)(const void *)address)->sin_port;
}

bool observe_host(struct observer *o, const struct request *q, struct observed_object *ret)
{
	struct sockaddr_storage address = { 0 };
	size_t n = q->flags < sizeof(address) ? q->flags : sizeof(address);
	pid_t tid = q->target.tid;

	ret->what = OBSERVED_HOST;
	if (target_read(tid, request_argument(q, q->row->path), &address, n) != 0)
		return false;
	if (!print_address(&address, ret->text))
		return look_at_service(o, q, loopback_port(&address), ret);
	if (!is_refused_host(o, ret->text))
		return false;
	if (!has_port(&address))
		ret->what = OBSERVED_ASKS;
	else if (has_datagrams(q))
		ret->what = OBSERVED_SENDS;
	return true;
}

static bool is_here(const char *text)
{
	return str_starts(str_of(text), STR(HERE));
}

bool observe_judge_host(const struct observer *o, const struct observed_object *found)
{
	if (!is_refused_host(o, found->text))
		return false;
	if (is_here(found->text))
		return is_missed_service(found->text);
	if (o->connects)
		++*o->connects;
	return found->what != OBSERVED_ASKS;
}
