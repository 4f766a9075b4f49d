/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-relay: the way out of a sandbox whose policy lists hosts.
 *
 * It runs in the host's network, one for each run, started by the supervisor and locked
 * in before it reads its first message. It knows no policy: what it is asked to reach is
 * allowed, by name. What it decides is whether an address that a name led to may be
 * dialled, and it dials the very address it looked at. Nothing is taken from the bytes
 * that it moves.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "net/address.h"
#include "net/relay_in.h"
#include "net/relay_socket.h"

#define CONFIG_BYTES_MAX ((size_t)8 << 20)
#define DIAL_MS 10000
/* A server inside that does not take it by then is too busy. */
#define DIAL_INSIDE_MS 3000
/* A proxy answers when it has connected. */
#define PROXY_MS 60000
/* Two sockets each, three of what is published; and the servers, the rest. */
#define FDS_EACH 3
#define FDS_BESIDE 64

struct relay {
	struct loop *loop;
	struct loop_watch control;
	struct relay_config config;
	VEC(struct host) literals, denied;
	int routes;
	struct relay_setup setup;
	struct relay_pieces pieces;
	struct connection *first;
	size_t n_connections, connections_max;
	size_t n_published;
};

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
	    (c->outcome == RELAY_NO_NAME || c->outcome == RELAY_UNREACHABLE))
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
	if (c->outcome == RELAY_NO_NAME)
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
	if (c->asked != DNS_A || c->found.code == DNS_NO_NAME) {
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

static void no_room(struct relay *relay, const struct relay_request *q, int *fds)
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

static void add_connection(struct relay *relay, const struct relay_request *q, int *fds)
{
	struct connection *c = NULL;

	if (has_room(relay, q))
		c = calloc(1, sizeof(*c));
	if (!c) {
		no_room(relay, q, fds);
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
	c->outcome = RELAY_NO_NAME;
	c->inside = (struct loop_watch){ .fd = fds[0], .data = c };
	memcpy(c->given, fds + 1, sizeof(c->given));
	c->outside = (struct loop_watch){ .fd = -1, .data = c };
	c->timer = (struct loop_timer){ .fired = dial_timed_out, .data = c };
	c->lookup = (struct relay_lookup){
		.loop = relay->loop, .config = &relay->config, .done = looked_up, .data = c
	};
	begin(c);
}

/* The connection's descriptor comes first; -1: there is none. */
static void take_fds(struct msghdr *message, int fds[RELAY_FDS_MAX])
{
	struct cmsghdr *h = CMSG_FIRSTHDR(message);

	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
	    h->cmsg_len <= CMSG_LEN(sizeof(int) * RELAY_FDS_MAX))
		memcpy(fds, CMSG_DATA(h), h->cmsg_len - CMSG_LEN(0));
}

/* The run is over; what was moved so far still counts. */
static void finish_all(struct relay *relay)
{
	while (relay->first)
		finish(relay->first, true);
	loop_stop(relay->loop);
}

static void control_ready(void *data, uint32_t events)
{
	struct relay *relay = data;
	struct relay_request q = { 0 };
	union {
		char space[CMSG_SPACE(sizeof(int) * RELAY_FDS_MAX)];
		struct cmsghdr align;
	} control;
	struct iovec into = { .iov_base = &q, .iov_len = sizeof(q) };
	struct msghdr message = { .msg_iov = &into,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.space) };
	ssize_t n = recvmsg(relay->control.fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fds[RELAY_FDS_MAX] = { -1, -1, -1 };

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		finish_all(relay);
		return;
	}
	take_fds(&message, fds);
	/* No descriptor was left to take it into. */
	if (fds[0] < 0 || n != (ssize_t)sizeof(q) || message.msg_flags & MSG_CTRUNC) {
		no_room(relay, &q, fds);
		return;
	}
	add_connection(relay, &q, fds);
}

/* --- the program ----------------------------------------------------------------- */

static int quit(const struct cordon_error *err)
{
	fprintf(stderr, "%s: %s\n", RELAY_PROGRAM, err->message);
	return 1;
}

static size_t room_for_connections(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > FDS_BESIDE + FDS_EACH * RELAY_CONNECTIONS_MAX)
		return RELAY_CONNECTIONS_MAX;
	return limit.rlim_cur > FDS_BESIDE ? (size_t)(limit.rlim_cur - FDS_BESIDE) / FDS_EACH : 1;
}

static int read_addresses(struct relay *relay, struct arena *a, char *const *words, size_t n,
			  struct cordon_error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct str word = str_of(words[i]);
		bool denied = str_starts(word, STR(RELAY_DENIED));
		struct host *slot = denied ? vec_push(&relay->denied, a)
					   : vec_push(&relay->literals, a);
		int r;

		if (!slot)
			return err_nomem(err, RELAY_PROGRAM);
		if (denied)
			word = str_skip(word, sizeof(RELAY_DENIED) - 1);
		r = host_parse(word, slot, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int set_up(struct relay *relay, struct arena *a, struct cordon_error *err)
{
	sigset_t none;
	int r;

	/* Wherever it was started, nobody shall find that it is busy. */
	if (chdir("/") < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, RELAY_PROGRAM, "cannot go to /");
	/* Who is sent something may have gone: that ends the connection, and nothing else. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	relay->connections_max = room_for_connections();
	relay_read_config(a, &relay->config);
	relay->routes = relay_open_routes();
	if (relay->routes < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, RELAY_PROGRAM,
			       "cannot ask the kernel for routes");
	r = loop_new(&none, NULL, NULL, &relay->loop, err);
	if (r < 0)
		return r;
	relay->control = (struct loop_watch){ .fd = RELAY_CONTROL_FD,
					      .ready = control_ready,
					      .data = relay };
	r = loop_watch(relay->loop, &relay->control, EPOLLIN, err);
	return r < 0 ? r : relay_confine(err);
}

/* What the supervisor says first; it was sent when the relay was started. */
static int take_setup(struct relay *relay, struct cordon_error *err)
{
	ssize_t n = recv(RELAY_CONTROL_FD, &relay->setup, sizeof(relay->setup), 0);

	if (n != (ssize_t)sizeof(relay->setup))
		return err_set(err, CORDON_E_INIT, n < 0 ? errno : 0, RELAY_PROGRAM,
			       "nobody says what it is for");
	relay->pieces.left = relay->setup.traffic ? relay->setup.traffic : UINT64_MAX;
	return 0;
}

int main(int argc, char **argv)
{
	struct relay relay = { 0 };
	struct cordon_error err;
	struct arena a;
	int r;

	arena_init(&a, CONFIG_BYTES_MAX);
	r = read_addresses(&relay, &a, argv + 1, argc > 0 ? (size_t)argc - 1 : 0, &err);
	if (r == 0)
		r = set_up(&relay, &a, &err);
	if (r == 0)
		r = take_setup(&relay, &err);
	if (r == 0)
		r = loop_run(relay.loop, &err);
	/* Nothing is left to be freed one by one. */
	_exit(r < 0 ? quit(&err) : 0);
}
