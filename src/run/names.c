/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name server of a sandbox. A name that the policy lists has the address that stands
 * for it (egress.h). Any other question is answered with "no such name" and the name is
 * noted, so that the report says what the command wanted instead of nothing. No question
 * leaves the machine because of an answer given here.
 *
 * The sockets were made by the sandbox's init in its own network namespace: nobody but
 * the command can ask, and no answer goes anywhere else. What it sends is read with
 * fixed buffers, a bounded number of questions at a time, and answered without waiting;
 * a command that floods it, leaves connections open or never reads only hurts itself.
 */
#include "run/names.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/fd.h"
#include "net/dns.h"
#include "report/violation.h"
#include "run/egress.h"
#include "run/supervise.h"

/* Questions taken in one go, so that the rest of the loop has its turn. */
#define BATCH 16
#define CONNECTIONS 8
/* How long not to accept after that failed for want of descriptors. */
#define PAUSE_MS 1000
/* Two bytes of length go before each message. */
#define TCP_ROOM (2 + DNS_PACKET_MAX)

struct names;

struct connection {
	struct names *names;
	struct loop_watch watch; /* fd -1: free */
	size_t n;
	uint8_t bytes[TCP_ROOM];
};

struct names {
	struct run_part part;
	struct run *run;
	struct egress *egress; /* NULL: nothing is listed */
	struct loop_watch udp, tcp;
	struct loop_timer pause;
	struct connection connections[CONNECTIONS];
	struct utsname host;
};

static void close_watch(struct names *names, struct loop_watch *watch)
{
	loop_unwatch(run_loop(names->run), watch);
	fd_close(&watch->fd);
}

static bool is_own_name(const struct names *names, struct str name)
{
	return str_eq(name, STR("localhost")) || str_ends(name, STR(".localhost")) ||
	       strcasecmp(name.p, names->host.nodename) == 0;
}

/* Programs look up their own machine and addresses without wanting to go anywhere. */
static bool is_local(const struct names *names, const struct dns_query *query)
{
	struct str name = str_of(query->name);

	return !name.n || query->type == DNS_PTR || str_ends(name, STR(".arpa")) ||
	       is_own_name(names, name);
}

/* Is it a question for an address of a kind that there is in the sandbox? */
static bool wants_address(const struct names *names, const struct dns_query *query)
{
	return query->class == DNS_INTERNET &&
	       (query->type == DNS_A ||
		(query->type == DNS_AAAA && egress_has_six(names->egress)));
}

static size_t write_address(const uint8_t *packet, const struct dns_query *query,
			    const uint8_t four[4], const uint8_t six[16], uint8_t *out)
{
	return query->type == DNS_A ? dns_write_address(packet, query, DNS_A, four, out)
				    : dns_write_address(packet, query, DNS_AAAA, six, out);
}

/* A listed name has one address of each kind and nothing else: no hint (HTTPS, SVCB) that
 * would lead past it. */
static size_t answer_listed(struct names *names, const uint8_t *packet,
			    const struct dns_query *query, uint8_t *out)
{
	uint8_t four[4], six[16];

	if (!wants_address(names, query))
		return dns_write_answer(packet, query, DNS_NO_ERROR, out);
	if (!egress_address(names->egress, str_of(query->name), four, six))
		return dns_write_answer(packet, query, DNS_SERVER_FAILED, out);
	return write_address(packet, query, four, six, out);
}

static size_t answer_own(struct names *names, const uint8_t *packet,
			 const struct dns_query *query, uint8_t *out)
{
	static const uint8_t four[4] = { 127, 0, 0, 1 }, six[16] = { [15] = 1 };

	return wants_address(names, query) ? write_address(packet, query, four, six, out)
					   : dns_write_answer(packet, query, DNS_NO_ERROR, out);
}

/* With a list the sandbox has no file that knows its own machine. */
static size_t answer_local(struct names *names, const uint8_t *packet,
			   const struct dns_query *query, uint8_t *out)
{
	const char *name = NULL;
	uint8_t address[16];

	if (names->egress && is_own_name(names, str_of(query->name)))
		return answer_own(names, packet, query, out);
	if (names->egress && query->type == DNS_PTR &&
	    dns_read_reverse(str_of(query->name), address))
		name = egress_name(names->egress, address);
	return name ? dns_write_pointer(packet, query, name, out)
		    : dns_write_answer(packet, query, DNS_NO_NAME, out);
}

/* Returns the length of the answer; 0: none. */
static size_t answer(struct names *names, const uint8_t *packet, size_t n, uint8_t *out)
{
	struct dns_query query;
	struct violation v = { .op = VIOLATION_resolve, .source = VIOLATION_BY_dns };

	if (!dns_read_query(packet, n, &query))
		return 0;
	if (is_local(names, &query))
		return answer_local(names, packet, &query, out);
	if (names->egress && egress_lists(names->egress, str_of(query.name)))
		return answer_listed(names, packet, &query, out);
	v.object = str_of(query.name);
	violations_add(run_violations(names->run), &v);
	return dns_write_answer(packet, &query, DNS_NO_NAME, out);
}

static void udp_ready(void *data, uint32_t events)
{
	struct names *names = data;

	(void)events;
	for (unsigned i = 0; i < BATCH; i++) {
		uint8_t packet[DNS_PACKET_MAX], out[DNS_ANSWER_MAX];
		struct sockaddr_storage from;
		socklen_t from_size = sizeof(from);
		ssize_t n = recvfrom(names->udp.fd, packet, sizeof(packet), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &from_size);
		size_t length = n > 0 ? answer(names, packet, (size_t)n, out) : 0;

		if (n < 0)
			return;
		/* A full buffer loses the answer, as on any network. */
		if (length)
			sendto(names->udp.fd, out, length, MSG_DONTWAIT | MSG_NOSIGNAL,
			       (const struct sockaddr *)&from, from_size);
	}
}

/* The whole messages in what was received so far; false: nothing more to say to it. */
static bool answer_stream(struct connection *c)
{
	uint8_t out[2 + DNS_ANSWER_MAX];

	while (c->n >= 2) {
		size_t length = (size_t)c->bytes[0] << 8 | c->bytes[1], n;

		if (length > DNS_PACKET_MAX)
			return false;
		if (c->n < 2 + length)
			return true;
		n = answer(c->names, c->bytes + 2, length, out + 2);
		out[0] = (uint8_t)(n >> 8);
		out[1] = (uint8_t)n;
		if (!n ||
		    send(c->watch.fd, out, 2 + n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)(2 + n))
			return false;
		c->n -= 2 + length;
		memmove(c->bytes, c->bytes + 2 + length, c->n);
	}
	return true;
}

static void connection_ready(void *data, uint32_t events)
{
	struct connection *c = data;
	ssize_t n = recv(c->watch.fd, c->bytes + c->n, sizeof(c->bytes) - c->n, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->n += (size_t)n;
	if (n <= 0 || !answer_stream(c))
		close_watch(c->names, &c->watch);
}

static struct connection *free_connection(struct names *names)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (names->connections[i].watch.fd < 0)
			return &names->connections[i];
	return NULL;
}

static void keep_connection(struct names *names, int fd)
{
	struct connection *c = free_connection(names);
	struct cordon_error ignored;

	if (!c) {
		close(fd);
		return;
	}
	c->n = 0;
	c->watch.fd = fd;
	if (loop_watch(run_loop(names->run), &c->watch, EPOLLIN, &ignored) < 0)
		fd_close(&c->watch.fd);
}

/* Without descriptors the connection stays in the queue and the socket readable: looking
 * at it again at once would turn the loop into a spin. */
static void tcp_ready(void *data, uint32_t events)
{
	struct names *names = data;
	int fd = accept4(names->tcp.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd >= 0) {
		keep_connection(names, fd);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	loop_unwatch(run_loop(names->run), &names->tcp);
	loop_set_timer(run_loop(names->run), &names->pause, PAUSE_MS);
}

static void pause_over(void *data)
{
	struct names *names = data;
	struct cordon_error ignored;

	if (loop_watch(run_loop(names->run), &names->tcp, EPOLLIN, &ignored) < 0)
		fd_close(&names->tcp.fd);
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct names *names = part->data;

	(void)err;
	names->run = run;
	return 0;
}

static int took(struct run_part *part, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct names *names = part->data;
	struct loop_watch *watch = kind == HANDOVER_DNS_UDP ? &names->udp : &names->tcp;

	watch->fd = fd;
	return loop_watch(run_loop(names->run), watch, EPOLLIN, err);
}

static void end(struct run_part *part, struct run_result *result)
{
	struct names *names = part->data;

	(void)result;
	loop_clear_timer(run_loop(names->run), &names->pause);
	close_watch(names, &names->udp);
	close_watch(names, &names->tcp);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		close_watch(names, &names->connections[i].watch);
}

int names_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err)
{
	struct names *names;

	if (!(in->launch->hands_over & HANDOVER_BIT(DNS_UDP)))
		return 0;
	names = arena_new(a, struct names);
	if (!names)
		return err_nomem(err, "names");
	names->egress = *in->egress;
	names->part = (struct run_part){
		.name = "names",
		.takes = HANDOVER_BIT(DNS_UDP) | HANDOVER_BIT(DNS_TCP),
		.begin = begin,
		.took = took,
		.end = end,
		.data = names,
	};
	names->udp = (struct loop_watch){ .fd = -1, .ready = udp_ready, .data = names };
	names->tcp = (struct loop_watch){ .fd = -1, .ready = tcp_ready, .data = names };
	names->pause = (struct loop_timer){ .fired = pause_over, .data = names };
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &names->connections[i];

		c->names = names;
		c->watch = (struct loop_watch){ .fd = -1, .ready = connection_ready, .data = c };
	}
	uname(&names->host);
	*ret = &names->part;
	return 0;
}
