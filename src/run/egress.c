/* SPDX-License-Identifier: Apache-2.0 */
/* Listening, deciding, handing over. The bytes of a connection are never read here. */
#include "run/egress.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/fd.h"
#include "net/relay.h"
#include "net/synthetic.h"
#include "report/violation.h"
#include "run/egress_relay.h"
#include "run/egress_sockets.h"
#include "run/nursery.h"
#include "run/publish.h"
#include "run/situation.h"
#include "run/supervise.h"

#define STAGE "egress"
/* One for each port that is connected to, at each address. */
#define LISTENERS 256
#define BACKLOG 1024
/* Connections taken in one go, so that the rest of the loop has its turn. */
#define BATCH 32
/* How long not to accept after that failed for want of descriptors, or because the relay
 * has more requests before it than fit. */
#define PAUSE_MS 100
#define BUSY_MS 2
#define NAMES_BYTES_MAX ((size_t)16 << 20)
#define TEXT 320

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_storage room;
};

struct listener {
	struct egress *egress;
	struct loop_watch watch; /* fd -1: it was closed */
	uint8_t at[16];
	uint16_t port;
};

struct egress {
	struct run_part part;
	struct run *run;
	const struct policy *policy;
	struct arena names_arena;
	struct synthetic names;
	struct proxies proxies;
	struct egress_relay relay;
	struct publish publish;
	struct listener listeners[LISTENERS];
	size_t n_listeners;
	size_t n_first; /* made before the command began; nobody would make them again */
	size_t oldest;	/* of the others */
	bool told;	/* of every connection before it is made */
	/* Listeners are of IPv6 where that is there, and then serve both kinds. */
	struct nursery four, six;
	struct egress_udp udp;
	struct loop_timer pause;
	int waiting; /* a connection that the relay had no room for yet; -1: none */
	struct host waiting_for;
};

/* --- names ----------------------------------------------------------------------- */

bool egress_lists(const struct egress *e, struct str name)
{
	struct cordon_error ignored;
	struct host target;

	if (host_parse_target(name, &target, &ignored) < 0 || target.kind != HOST_NAME ||
	    target.port || policy_denies_host(e->policy, &target))
		return false;
	vec_each(h, &e->policy->hosts) {
		/* Whatever port it is about. */
		target.port = h->host.port;
		if (host_covers(&h->host, &target))
			return true;
	}
	return false;
}

bool egress_address(struct egress *e, struct str name, uint8_t ret_four[4], uint8_t ret_six[16])
{
	if (!synthetic_address(&e->names, name, ret_four))
		return false;
	/* Who asks for a name connects next. */
	egress_relay_wake(&e->relay);
	synthetic_six(ret_four, ret_six);
	return true;
}

bool egress_has_six(const struct egress *e)
{
	return nursery_works(&e->six);
}

const char *egress_name(const struct egress *e, const uint8_t address[16])
{
	return synthetic_name(&e->names, address);
}

/* --- what a destination means ------------------------------------------------------ */

static uint16_t port_of(const union address *a)
{
	return ntohs(a->any.sa_family == AF_INET6 ? a->six.sin6_port : a->four.sin_port);
}

static bool set_name(const char *name, uint16_t port, struct host *ret)
{
	struct cordon_error ignored;

	if (!name || host_parse_target(str_of(name), ret, &ignored) < 0)
		return false;
	ret->port = port;
	return true;
}

/* IPv4 as ::ffff:a.b.c.d */
static void read_address(const union address *a, uint8_t ret[16])
{
	memset(ret, 0, 16);
	if (a->any.sa_family == AF_INET6) {
		memcpy(ret, &a->six.sin6_addr, 16);
	} else {
		memset(ret + 10, 0xff, 2);
		memcpy(ret + 12, &a->four.sin_addr, 4);
	}
}

/* False: it means nothing that could be listed. */
static bool meaning_of(const struct egress *e, const union address *a, struct host *ret)
{
	struct host h = { .kind = HOST_ADDRESS, .prefix_bits = 128, .port = port_of(a) };

	if (!h.port || (a->any.sa_family != AF_INET && a->any.sa_family != AF_INET6))
		return false;
	read_address(a, h.address);
	if (synthetic_is(h.address))
		return set_name(egress_name(e, h.address), h.port, ret);
	*ret = h;
	return true;
}

/* The loopback inside stands for the host's where the policy says so. */
static bool is_allowed(const struct egress *e, struct host *target)
{
	struct host named;

	if (policy_decide_host(e->policy, target).allowed)
		return true;
	if (!host_is_local(target) || !set_name("localhost", target->port, &named) ||
	    !policy_decide_host(e->policy, &named).allowed)
		return false;
	*target = named;
	return true;
}

/* What the command does on its own loopback is its own affair. */
static void note_refusal(const struct egress *e, const struct host *target, pid_t tid)
{
	struct violation v = { .op = VIOLATION_connect, .source = VIOLATION_BY_relay };
	autobuf struct buf text = buf_make(TEXT);

	if (host_is_local(target))
		return;
	host_print(&text, target);
	v.object = buf_str(&text);
	if (tid) {
		v.source = VIOLATION_BY_notify;
		v.pid = tid;
		target_program(tid, v.program, sizeof(v.program));
	}
	violations_add(run_violations(e->run), &v);
}

/* --- connections ------------------------------------------------------------------- */

static void reset(int *fd)
{
	static const struct linger at_once = { .l_onoff = 1 };

	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	fd_close(fd);
}

static void watch_listeners(struct egress *e, bool on)
{
	struct cordon_error ignored;

	for (size_t i = 0; i < e->n_listeners; i++) {
		struct loop_watch *w = &e->listeners[i].watch;

		if (!on)
			loop_unwatch(run_loop(e->run), w);
		else if (w->fd >= 0)
			loop_watch(run_loop(e->run), w, EPOLLIN, &ignored);
	}
}

/* The connections that wait stay in the kernel's queue. */
static void rest(struct egress *e, uint64_t ms)
{
	watch_listeners(e, false);
	loop_set_timer(run_loop(e->run), &e->pause, ms);
}

static void hand_over(struct egress *e, const struct host *target, int fd)
{
	if (e->waiting < 0 && egress_relay_send(&e->relay, target,
					       proxies_for(&e->proxies, target),
					       &fd) == EGRESS_RELAY_BUSY) {
		e->waiting = fd;
		e->waiting_for = *target;
		rest(e, BUSY_MS);
	} else if (fd >= 0) {
		reset(&fd);
	}
}

static void pause_over(void *data)
{
	struct egress *e = data;

	if (e->waiting >= 0)
		hand_over(e, &e->waiting_for, steal_fd(&e->waiting));
	if (e->waiting < 0)
		watch_listeners(e, true);
}

static void admit(struct egress *e, int fd)
{
	union address local;
	socklen_t size = sizeof(local);
	struct host target;

	if (getsockname(fd, &local.any, &size) < 0 || !meaning_of(e, &local, &target)) {
		reset(&fd);
		return;
	}
	if (is_allowed(e, &target)) {
		hand_over(e, &target, fd);
		return;
	}
	note_refusal(e, &target, 0);
	reset(&fd);
}

static void listener_ready(void *data, uint32_t events)
{
	struct listener *l = data;
	struct egress *e = l->egress;

	(void)events;
	for (unsigned i = 0; i < BATCH && l->watch.active; i++) {
		int fd = accept4(l->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			admit(e, fd);
			continue;
		}
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			rest(e, PAUSE_MS);
		return;
	}
}

/* --- listening --------------------------------------------------------------------- */

/* Every address that leads here; and the loopback, for services of the host. */
static const uint8_t everywhere[16], loopback_six[16] = { [15] = 1 };
static const uint8_t loopback_four[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };

static bool is_everywhere(const uint8_t at[16])
{
	return memcmp(at, everywhere, sizeof(everywhere)) == 0;
}

/* One through which the port is reached at that address. */
static struct listener *find_listener(struct egress *e, const uint8_t at[16], uint16_t port)
{
	for (size_t i = 0; i < e->n_listeners; i++) {
		struct listener *l = &e->listeners[i];

		if (l->port == port && l->watch.fd >= 0 &&
		    (is_everywhere(l->at) || memcmp(l->at, at, sizeof(l->at)) == 0))
			return l;
	}
	return NULL;
}

/* A socket of IPv6 has IPv4 as ::ffff:a.b.c.d. */
static socklen_t write_address(const struct egress *e, union address *to, const uint8_t at[16],
			       uint16_t port)
{
	memset(to, 0, sizeof(*to));
	if (egress_has_six(e)) {
		to->six.sin6_family = AF_INET6;
		to->six.sin6_port = htons(port);
		memcpy(&to->six.sin6_addr, at, 16);
		return sizeof(to->six);
	}
	to->four.sin_family = AF_INET;
	to->four.sin_port = htons(port);
	memcpy(&to->four.sin_addr, at + 12, 4);
	return sizeof(to->four);
}

static int bind_socket(const struct egress *e, int fd, const uint8_t at[16], uint16_t port)
{
	static const int yes = 1, no = 0;
	union address a;
	socklen_t size = write_address(e, &a, at, port);

	/* What the host chose as a default for sockets does not matter. */
	if (egress_has_six(e) &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	/* Of IPv6 only an address that is assigned could be bound otherwise, not one that a
	 * route leads here. */
	if (egress_has_six(e))
		setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &yes, sizeof(yes));
	return bind(fd, &a.any, size);
}

/* The one that was made first makes room; what waits there is still taken. */
static struct listener *place_for_listener(struct egress *e)
{
	struct listener *l;

	if (e->n_listeners < LISTENERS)
		return &e->listeners[e->n_listeners++];
	if (e->n_first == LISTENERS)
		return NULL;
	if (e->oldest < e->n_first || e->oldest == LISTENERS)
		e->oldest = e->n_first;
	l = &e->listeners[e->oldest++];
	if (l->watch.active)
		listener_ready(l, 0);
	loop_unwatch(run_loop(e->run), &l->watch);
	fd_close(&l->watch.fd);
	return l;
}

/* Fails where a server of the command has the port, and that is then what is reached. */
static bool listen_on(struct egress *e, const uint8_t at[16], uint16_t port)
{
	struct cordon_error ignored;
	struct listener *l;
	autoclose int fd = -1;

	if (find_listener(e, at, port))
		return false;
	fd = nursery_socket(egress_has_six(e) ? &e->six : &e->four);
	if (fd < 0 || bind_socket(e, fd, at, port) < 0 || listen(fd, BACKLOG) < 0)
		return false;
	l = place_for_listener(e);
	if (!l)
		return false;
	*l = (struct listener){
		.egress = e,
		.watch = { .fd = fd, .ready = listener_ready, .data = l },
		.port = port,
	};
	memcpy(l->at, at, sizeof(l->at));
	/* It rests with the others: what is accepted while one waits for the relay is lost. */
	if (!e->pause.set && loop_watch(run_loop(e->run), &l->watch, EPOLLIN, &ignored) < 0) {
		l->watch.fd = -1;
		return false;
	}
	steal_fd(&fd);
	return true;
}

static void listen_locally(struct egress *e, const struct host *h)
{
	bool named = h->kind == HOST_NAME;

	if (named || host_is_v4(h))
		listen_on(e, loopback_four, h->port);
	if (egress_has_six(e) && (named || !host_is_v4(h)))
		listen_on(e, loopback_six, h->port);
}

/* What most connections go to. These ports can be no server of the command's. */
static const uint16_t usual[] = { 22, 80, 443 };
#define USUAL (sizeof(usual) / sizeof(usual[0]))

static bool is_usual(uint16_t port)
{
	for (size_t i = 0; i < USUAL; i++)
		if (usual[i] == port)
			return true;
	return false;
}

/* Where nobody tells of a connection before it is made, the usual ports work and those
 * that the list names, and the command cannot have the latter for a server of its own. */
static void listen_untold(struct egress *e)
{
	for (size_t i = 0; i < USUAL; i++)
		listen_on(e, everywhere, usual[i]);
	vec_each(h, &e->policy->hosts)
		if (h->host.port && !host_is_local(&h->host))
			listen_on(e, everywhere, h->host.port);
}

static void listen_first(struct egress *e)
{
	if (!e->policy->hosts.n)
		return;
	if (!e->told)
		listen_untold(e);
	vec_each(h, &e->policy->hosts)
		if (h->host.port && host_is_local(&h->host))
			listen_locally(e, &h->host);
	e->n_first = e->n_listeners;
}

/* Only at the address that is meant, so that a server of the command can have the port on
 * the loopback; usual ports everywhere, so that many names need one socket. */
void egress_expect_address(struct egress *e, pid_t tid, const void *address, size_t n)
{
	union address a = { 0 };
	uint8_t at[16];
	struct host target;

	memcpy(&a, address, n < sizeof(a) ? n : sizeof(a));
	if (!meaning_of(e, &a, &target) || host_is_local(&target))
		return;
	read_address(&a, at);
	if (is_allowed(e, &target))
		listen_on(e, is_usual(target.port) ? everywhere : at, target.port);
	else if (target.kind == HOST_NAME && !find_listener(e, at, target.port))
		note_refusal(e, &target, tid);
}

void egress_expect(struct egress *e, const struct request *call)
{
	union address a = { 0 };
	size_t n = call->flags < sizeof(a) ? call->flags : sizeof(a);
	pid_t tid = call->target.tid;

	if (e && target_read(tid, request_argument(call, call->row->path), &a, n) == 0)
		egress_expect_address(e, tid, &a, n);
}

/* --- the part ----------------------------------------------------------------------- */

static bool udp_refused(void *data, const uint8_t address[16], uint16_t port)
{
	const struct egress *e = data;
	struct violation v = { .op = VIOLATION_send,
			       .source = VIOLATION_BY_kernel,
			       .errnum = ECONNREFUSED };
	struct host target = { .kind = HOST_ADDRESS, .prefix_bits = 128, .port = port };
	autobuf struct buf text = buf_make(TEXT);

	memcpy(target.address, address, sizeof(target.address));
	if (host_is_local(&target))
		return false;
	/* One that no name has got is told as it is. */
	if (synthetic_is(address))
		set_name(egress_name(e, address), port, &target);
	/* Whoever may reach the host does so by TCP then. */
	v.advisory = is_allowed(e, &target);
	host_print(&text, &target);
	v.object = buf_str(&text);
	violations_add(run_violations(e->run), &v);
	return true;
}

static int took(struct run_part *part, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct egress *e = part->data;
	struct egress_sockets to = { run_loop(e->run), &e->four, &e->six, &e->udp };
	autoclose int box = fd;

	(void)kind;
	egress_sockets_take(&to, box);
	if (!nursery_works(&e->four))
		return err_set(err, CORDON_E_INIT, 0, STAGE,
			       "the sandbox handed over no sockets to listen with");
	listen_first(e);
	return publish_begin(&e->publish, e->run, &e->relay, &e->four, &e->six, err);
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct egress *e = part->data;
	int r;

	e->run = run;
	r = egress_relay_begin(&e->relay, run, err);
	return r < 0 ? r : publish_open(&e->publish, e->policy, err);
}

static void close_listeners(struct egress *e)
{
	watch_listeners(e, false);
	fd_close(&e->waiting);
	for (size_t i = 0; i < e->n_listeners; i++)
		fd_close(&e->listeners[i].watch.fd);
	nursery_close(&e->four);
	nursery_close(&e->six);
}

/* Nobody is there to dial: connections are refused from here on. */
static void relay_gone(void *data)
{
	struct egress *e = data;

	loop_clear_timer(run_loop(e->run), &e->pause);
	close_listeners(e);
	publish_end(&e->publish);
}

static void end(struct run_part *part, struct run_result *result)
{
	struct egress *e = part->data;

	loop_clear_timer(run_loop(e->run), &e->pause);
	close_listeners(e);
	publish_end(&e->publish);
	egress_udp_end(&e->udp);
	egress_relay_end(&e->relay, result);
	arena_free(&e->names_arena);
}

/* Services of this machine are reached without. */
static bool needs_proxies(const struct policy *policy)
{
	vec_each(h, &policy->hosts)
		if (!host_is_local(&h->host))
			return true;
	return false;
}

static int prepare_relay(struct egress *e, struct arena *a, const struct part_input *in,
		       struct cordon_error *err)
{
	int r = needs_proxies(e->policy)
			? proxies_read(in->situation->environ, &e->proxies, err)
			: 0;

	if (r == 0)
		r = egress_relay_prepare(&e->relay, a, in->caps->relay_path, e->policy,
					 &e->proxies, err);
	/* From here on only the relay knows them. */
	for (enum proxy_use use = 0; use < PROXY_USES; use++)
		explicit_bzero(e->proxies.at[use].authorization,
			       sizeof(e->proxies.at[use].authorization));
	return r;
}

int egress_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		struct cordon_error *err)
{
	struct egress *e;
	int r;

	if (!(in->launch->hands_over & HANDOVER_BIT(SOCKETS)))
		return 0;
	e = arena_new(a, struct egress);
	if (!e)
		return err_nomem(err, STAGE);
	e->policy = in->plan->policy;
	e->told = in->launch->hands_over & HANDOVER_BIT(LISTENER);
	e->waiting = -1;
	e->four = e->six = NURSERY_NONE;
	publish_init(&e->publish);
	egress_udp_init(&e->udp);
	e->udp.refused = udp_refused;
	e->udp.data = e;
	arena_init(&e->names_arena, NAMES_BYTES_MAX);
	e->names.arena = &e->names_arena;
	e->pause = (struct loop_timer){ .fired = pause_over, .data = e };
	e->part = (struct run_part){ .name = "egress",
				     .takes = HANDOVER_BIT(SOCKETS),
				     .begin = begin,
				     .took = took,
				     .end = end,
				     .data = e };
	e->relay.gone = relay_gone;
	e->relay.data = e;
	r = prepare_relay(e, a, in, err);
	if (r < 0)
		return r;
	*in->egress = e;
	*ret = &e->part;
	return 0;
}
