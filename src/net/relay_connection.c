/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection after the other, from the request to its report: the name is looked up,
 * each address looked at before it is dialled, and then bytes are moved until both sides
 * are done.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "net/address.h"
#include "net/relay_in.h"
#include "net/relay_socket.h"

#define DIAL_MS 10000
/* A server inside that does not take it by then is too busy. */
#define DIAL_INSIDE_MS 3000
/* A proxy answers when it has connected. */
#define PROXY_MS 60000

struct connection {
	struct relay *relay;
	struct connection *next_one, **at; /* in the relay's list */
	struct relay_request request;
	struct loop_watch inside, outside;
	int given[RELAY_FDS_MAX - 1]; /* leading inside, of what is published; -1: none */
	struct loop_timer timer;
	struct relay_lookup lookup;
	enum dns_type asked;
	struct dns_addresses found;
	size_t next; /* of found */
	struct relay_flow up, down;
	struct relay_check check;
	size_t seen;	 /* ahead, of a proxy's answer */
	unsigned status; /* of that */
	char other[HELLO_NAME_MAX + 1];
	enum relay_outcome outcome;
	uint8_t address[16];
};

/* --- the end --------------------------------------------------------------------- */

/* Waits for room: the supervisor always reads. */
static void report(struct relay *relay, const struct relay_report *r)
{
	while (send(relay->control.fd, r, sizeof(*r), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void close_end(struct relay *relay, struct loop_watch *end, bool broken)
{
	static const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	loop_unwatch(relay->loop, end);
	if (end->fd < 0)
		return;
	/* A reset, also where somebody else has the socket open. */
	if (broken)
		connect(end->fd, &nowhere, sizeof(nowhere));
	fd_close(&end->fd);
}

static void finish(struct connection *c, bool broken)
{
	struct relay *relay = c->relay;
	struct relay_report r = { .id = c->request.id,
				  .outcome = c->outcome,
				  .status = c->status,
				  .sent = c->up.bytes,
				  .received = c->down.bytes };

	memcpy(r.address, c->address, sizeof(r.address));
	memcpy(r.other, c->other, sizeof(r.other));
	/* Before the command can see the end of it: a limit that was reached is to end the
	 * command, and not what that makes of it. */
	report(relay, &r);
	relay_lookup_stop(&c->lookup);
	loop_clear_timer(relay->loop, &c->timer);
	relay_flow_drop(&relay->pieces, &c->up);
	relay_flow_drop(&relay->pieces, &c->down);
	close_end(relay, &c->inside, broken);
	close_end(relay, &c->outside, broken);
	for (size_t i = 0; i < RELAY_FDS_MAX - 1; i++)
		fd_close(&c->given[i]);
	*c->at = c->next_one;
	if (c->next_one)
		c->next_one->at = c->at;
	relay->n_connections--;
	relay->n_published -= c->request.published != 0;
	free(c);
}

/* Where a proxy is to be asked, what was not found is that. */
static void fail(struct connection *c)
{
	if (c->request.proxy < PROXY_USES &&
	    (c->outcome == RELAY_NO_NAME || c->outcome == RELAY_NO_SERVER ||
	     c->outcome == RELAY_UNREACHABLE))
		c->outcome = RELAY_NO_PROXY;
	finish(c, true);
}

/* --- moving ---------------------------------------------------------------------- */

/* Watches an end for what its two flows wait for; one that waits for nothing is not
 * watched, for its hang-up would be told again and again. */
static bool watch_end(struct connection *c, struct loop_watch *end, const struct relay_flow *reads,
		      const struct relay_flow *writes)
{
	bool wants = !reads->held && !reads->ended && !reads->blocked;
	uint32_t events =
		(wants ? (uint32_t)EPOLLIN : 0) | (writes->held ? (uint32_t)EPOLLOUT : 0);
	struct cordon_error ignored;

	if (events)
		return loop_watch(c->relay->loop, end, events, &ignored) == 0;
	loop_unwatch(c->relay->loop, end);
	return true;
}

/* False: it asks for another name. */
static bool check_name(struct connection *c)
{
	if (relay_check(&c->check, &c->up, &c->down, c->other))
		return true;
	c->outcome = RELAY_OTHER_NAME;
	return false;
}

static void move(void *data, uint32_t events)
{
	struct connection *c = data;
	struct relay_pieces *pieces = &c->relay->pieces;

	(void)events;
	if (!check_name(c) || !relay_flow_run(pieces, &c->up) ||
	    !relay_flow_run(pieces, &c->down) ||
	    !watch_end(c, &c->inside, &c->up, &c->down) ||
	    !watch_end(c, &c->outside, &c->down, &c->up)) {
		if (pieces->spent)
			c->outcome = RELAY_SPENT;
		fail(c);
		return;
	}
	if (c->up.over && c->down.over)
		finish(c, false);
}

static void begin_moving(struct connection *c)
{
	c->outcome = RELAY_DONE;
	relay_flow_begin(&c->up, c->inside.fd, c->outside.fd);
	relay_flow_begin(&c->down, c->outside.fd, c->inside.fd);
	if (!c->request.published && c->request.target.kind == HOST_NAME &&
	    !host_is_local(&c->request.target))
		relay_check_begin(&c->check, c->request.target.name, &c->up);
	c->inside.ready = c->outside.ready = move;
	move(c, 0);
}

/* --- dialling -------------------------------------------------------------------- */

static void dial_next(struct connection *c);

/* The proxy that is asked to connect; NULL: none. */
static const struct proxy *proxy_of(const struct connection *c)
{
	return c->request.proxy < PROXY_USES ? &c->relay->setup.proxies[c->request.proxy] : NULL;
}

/* Where the socket is to lead. */
static const struct host *goal(const struct connection *c)
{
	return proxy_of(c) ? &proxy_of(c)->at : &c->request.target;
}

static void set_failure(struct connection *c, enum relay_outcome outcome)
{
	if (c->outcome == RELAY_UNDECIDED)
		c->outcome = outcome;
}

static void not_connected(struct connection *c)
{
	loop_clear_timer(c->relay->loop, &c->timer);
	close_end(c->relay, &c->outside, true);
	set_failure(c, RELAY_UNREACHABLE);
	dial_next(c);
}

static void dial_timed_out(void *data)
{
	not_connected(data);
}

static void proxy_said(void *data, uint32_t events)
{
	struct connection *c = data;

	(void)events;
	switch (relay_proxy_says(c->outside.fd, &c->seen, &c->status)) {
	case RELAY_SAYS_LATER:
		return;
	case RELAY_SAYS_YES:
		loop_clear_timer(c->relay->loop, &c->timer);
		begin_moving(c);
		return;
	case RELAY_SAYS_NO:
		break;
	}
	c->outcome = RELAY_PROXY_NO;
	fail(c);
}

static void ask_proxy(struct connection *c)
{
	struct cordon_error ignored;

	/* What another address of the proxy's had said so far is not part of this answer. */
	c->seen = 0;
	c->status = 0;
	c->outside.ready = proxy_said;
	if (relay_proxy_ask(c->outside.fd, &c->request.target, proxy_of(c)) &&
	    loop_watch(c->relay->loop, &c->outside, EPOLLIN, &ignored) == 0)
		loop_set_timer(c->relay->loop, &c->timer, PROXY_MS);
	else
		not_connected(c);
}

static void dialled(void *data, uint32_t events)
{
	struct connection *c = data;
	int error = 0;
	socklen_t size = sizeof(error);

	(void)events;
	if (getsockopt(c->outside.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error) {
		not_connected(c);
		return;
	}
	loop_clear_timer(c->relay->loop, &c->timer);
	if (proxy_of(c))
		ask_proxy(c);
	else
		begin_moving(c);
}

static bool is_denied(const struct relay *relay, const struct host *address)
{
	vec_each(h, &relay->denied)
		if (host_covers(h, address))
			return true;
	return false;
}

static void forbid(struct connection *c, const uint8_t address[16])
{
	c->outcome = RELAY_FORBIDDEN;
	memcpy(c->address, address, sizeof(c->address));
}

/* May this address be dialled? A name leads to addresses of others, and of any kind where
 * the policy gives them; to this machine only an address given in full does, and
 * "localhost", which only the policy can mean. */
static bool may_dial(struct connection *c, const uint8_t address[16])
{
	const struct host *target = &c->request.target;
	struct host there = { .kind = HOST_ADDRESS, .prefix_bits = 128, .port = target->port };
	enum address_listed listed;
	enum relay_way way;

	memcpy(there.address, address, sizeof(there.address));
	if (is_denied(c->relay, &there)) {
		forbid(c, address);
		return false;
	}
	listed = address_listed(&there, c->relay->literals.at, c->relay->literals.n);
	if (listed == ADDRESS_LISTED ||
	    (target->kind == HOST_NAME && host_is_local(target)))
		return true;
	way = relay_way(c->relay->routes, address);
	/* A proxy may have a way where this machine has none. */
	if (way == RELAY_WAY_NONE && proxy_of(c))
		way = RELAY_WAY_OUT;
	if (way == RELAY_WAY_OUT && (listed == ADDRESS_IN_LISTED || !address_why_not(&there)))
		return true;
	if (way == RELAY_WAY_NONE && !address_why_not(&there)) {
		set_failure(c, RELAY_UNREACHABLE);
		return false;
	}
	forbid(c, address);
	return false;
}

/* A socket on its way to the address; of what is published the one that was given. */
static int begin_dial(struct connection *c, const uint8_t address[16])
{
	autoclose int fd = -1;

	if (!c->request.published)
		return relay_socket(address, goal(c)->port, SOCK_STREAM);
	fd = steal_fd(&c->given[c->next - 1]);
	if (fd >= 0 && relay_connect(fd, address, c->request.target.port) == 0)
		return steal_fd(&fd);
	return -1;
}

static bool dial(struct connection *c, const uint8_t address[16])
{
	struct cordon_error ignored;

	/* The proxy's address is the caller's word; that of the target was looked at. */
	if (!c->request.published && !proxy_of(c) && !may_dial(c, address))
		return false;
	if (c->outcome != RELAY_FORBIDDEN)
		memcpy(c->address, address, sizeof(c->address));
	c->outside = (struct loop_watch){
		.fd = begin_dial(c, address),
		.ready = dialled,
		.data = c,
	};
	if (c->outside.fd >= 0 &&
	    loop_watch(c->relay->loop, &c->outside, EPOLLOUT, &ignored) == 0) {
		loop_set_timer(c->relay->loop, &c->timer,
			       c->request.published ? DIAL_INSIDE_MS : DIAL_MS);
		return true;
	}
	close_end(c->relay, &c->outside, true);
	set_failure(c, RELAY_UNREACHABLE);
	return false;
}

/* The addresses in turn, those of IPv4 first. */
static void dial_next(struct connection *c)
{
	while (c->next < c->found.n)
		if (dial(c, c->found.at[c->next++]))
			return;
	if (c->found.code != DNS_NO_ERROR && c->found.code != DNS_NO_NAME)
		set_failure(c, RELAY_NO_SERVER);
	if (c->asked != DNS_A || c->found.code == DNS_NO_NAME) {
		set_failure(c, RELAY_NO_NAME);
		fail(c);
		return;
	}
	c->asked = DNS_AAAA;
	relay_lookup_start(&c->lookup, goal(c)->name, DNS_AAAA);
}

static void looked_up(void *data, const struct dns_addresses *found)
{
	struct connection *c = data;

	c->found = *found;
	c->next = 0;
	dial_next(c);
}

/* --- requests -------------------------------------------------------------------- */

static void add_found(struct connection *c, const uint8_t address[16])
{
	if (c->found.n < DNS_ADDRESSES_MAX)
		memcpy(c->found.at[c->found.n++], address, 16);
}

/* The loopback, in both families. */
static void find_localhost(struct connection *c)
{
	static const uint8_t four[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
	static const uint8_t six[16] = { [15] = 1 };

	add_found(c, four);
	add_found(c, six);
}

static void find_known(struct connection *c)
{
	vec_each(known, &c->relay->config.hosts)
		if (strcmp(known->name, goal(c)->name) == 0)
			add_found(c, known->address);
}

static void begin(struct connection *c)
{
	const struct host *target = goal(c);

	/* A name means to the proxy what it likes; an address means the same to both. */
	if (proxy_of(c) && c->request.target.kind == HOST_ADDRESS &&
	    !may_dial(c, c->request.target.address)) {
		fail(c);
		return;
	}
	c->asked = DNS_AAAA; /* nothing is asked after what is known */
	if (c->request.published)
		find_localhost(c);
	else if (target->kind == HOST_ADDRESS)
		add_found(c, target->address);
	else if (host_is_local(target))
		find_localhost(c);
	else
		find_known(c);
	if (c->found.n) {
		dial_next(c);
		return;
	}
	c->asked = DNS_A;
	relay_lookup_start(&c->lookup, target->name, DNS_A);
}

void relay_refuse(struct relay *relay, const struct relay_request *q, int *fds)
{
	struct loop_watch end = { .fd = fds[0] };
	struct relay_report r = { .id = q->id,
				  .outcome = relay->pieces.spent ? RELAY_SPENT : RELAY_NO_ROOM };

	close_end(relay, &end, true);
	for (size_t i = 1; i < RELAY_FDS_MAX; i++)
		fd_close(&fds[i]);
	report(relay, &r);
}

/* With few descriptors, too, anybody on the host leaves room for the command. */
static bool has_room(const struct relay *relay, const struct relay_request *q)
{
	return relay->n_connections < relay->connections_max && !relay->pieces.spent &&
	       (!q->published || relay->n_published < (relay->connections_max + 1) / 2);
}

void relay_begin(struct relay *relay, const struct relay_request *q, int *fds)
{
	struct connection *c = NULL;

	if (has_room(relay, q))
		c = calloc(1, sizeof(*c));
	if (!c) {
		relay_refuse(relay, q, fds);
		return;
	}
	relay->n_connections++;
	relay->n_published += q->published != 0;
	c->next_one = relay->first;
	c->at = &relay->first;
	if (c->next_one)
		c->next_one->at = &c->next_one;
	relay->first = c;
	c->relay = relay;
	c->request = *q;
	c->outcome = RELAY_UNDECIDED;
	c->inside = (struct loop_watch){ .fd = fds[0], .data = c };
	memcpy(c->given, fds + 1, sizeof(c->given));
	c->outside = (struct loop_watch){ .fd = -1, .data = c };
	c->timer = (struct loop_timer){ .fired = dial_timed_out, .data = c };
	c->lookup = (struct relay_lookup){
		.loop = relay->loop, .config = &relay->config, .done = looked_up, .data = c
	};
	begin(c);
}

void relay_finish_all(struct relay *relay)
{
	while (relay->first)
		finish(relay->first, true);
	loop_stop(relay->loop);
}
