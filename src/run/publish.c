/* SPDX-License-Identifier: Apache-2.0 */
/* Listening on the host's loopback. */
#include "run/publish.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/supervise.h"

#define STAGE "publish"
#define BACKLOG 1024
#define BATCH 32
/* How long not to accept when the relay was busy, or no descriptor was free. */
#define PAUSE_MS 20

/* --- outside ------------------------------------------------------------------------ */

static int cannot_listen(const struct statement *s, const char *where, uint16_t port,
			 struct cordon_error *err)
{
	int why = errno;

	origin_error(err, CORDON_E_UNAVAILABLE, STAGE, &s->origin,
		     "cannot listen on port %u of the host's loopback (%s): %s", port, where,
		     strerror(why));
	if (why == EADDRINUSE)
		return err_hint(err, "something else listens there: choose another port of the "
				     "host, as in --publish %u:%" PRIu64,
				port < 60000 ? port + 1u : port - 1u, s->number & 0xffff);
	if (why == EACCES)
		return err_hint(err, "ports below 1024 are for root: choose another one");
	return -CORDON_E_UNAVAILABLE;
}

static int bind_loopback(int fd, int family, uint16_t port)
{
	static const int yes = 1;
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
				    .sin6_port = htons(port),
				    .sin6_addr = IN6ADDR_LOOPBACK_INIT };

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (family == AF_INET)
		return bind(fd, (const struct sockaddr *)&four, sizeof(four));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	return bind(fd, (const struct sockaddr *)&six, sizeof(six));
}

static void listener_ready(void *data, uint32_t events);

/* A host without IPv6 has no address of that family to listen on. */
static int listen_on(struct publish *p, int family, const struct statement *s,
		     struct cordon_error *err)
{
	uint16_t outside = (uint16_t)(s->number >> 16);
	autoclose int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct publish_listener *l = &p->listeners[p->n_listeners];

	if (fd < 0 || bind_loopback(fd, family, outside) < 0 || listen(fd, BACKLOG) < 0) {
		if (family == AF_INET6 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
			return 0;
		return cannot_listen(s, family == AF_INET ? "127.0.0.1" : "::1", outside, err);
	}
	*l = (struct publish_listener){
		.publish = p,
		.watch = { .fd = steal_fd(&fd), .ready = listener_ready, .data = l },
		.port = (uint16_t)s->number,
	};
	p->n_listeners++;
	return 0;
}

void publish_init(struct publish *p)
{
	p->waiting = -1;
}

int publish_open(struct publish *p, const struct policy *policy, struct cordon_error *err)
{
	const struct item_list *ports = &policy->effective_lists[KEY_PUBLISH];

	if (ports->items.n > PUBLISH_PORTS_MAX)
		return err_set(err, CORDON_E_LIMIT, 0, STAGE, "more than %d ports are published",
			       PUBLISH_PORTS_MAX);
	vec_each(s, &ports->items) {
		int r = listen_on(p, AF_INET, s, err);

		if (r == 0)
			r = listen_on(p, AF_INET6, s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- connections -------------------------------------------------------------------- */

static void watch_listeners(struct publish *p, bool on)
{
	struct cordon_error ignored;

	for (size_t i = 0; i < p->n_listeners; i++) {
		struct loop_watch *w = &p->listeners[i].watch;

		if (on)
			loop_watch(run_loop(p->run), w, EPOLLIN, &ignored);
		else
			loop_unwatch(run_loop(p->run), w);
	}
}

static void rest(struct publish *p)
{
	watch_listeners(p, false);
	loop_set_timer(run_loop(p->run), &p->pause, PAUSE_MS);
}

/* The one that waits comes before all others. False: not now. */
static bool hand_over(struct publish *p, uint16_t port, int fd)
{
	autoclose int four = nursery_socket(p->four), six = nursery_socket(p->six);
	enum egress_relay_sent sent = EGRESS_RELAY_BUSY;

	if (four >= 0 && (six >= 0 || !nursery_works(p->six)))
		sent = egress_relay_publish(p->relay, port, fd, four, six);
	if (sent == EGRESS_RELAY_BUSY) {
		p->waiting = fd;
		p->waiting_for = port;
		rest(p);
		return false;
	}
	fd_close(&fd);
	return true;
}

static void pause_over(void *data)
{
	struct publish *p = data;

	if (p->waiting < 0 || hand_over(p, p->waiting_for, steal_fd(&p->waiting)))
		watch_listeners(p, true);
}

/* False: not now. */
static bool take_connection(struct publish_listener *l)
{
	struct publish *p = l->publish;
	int fd = accept4(l->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		return hand_over(p, l->port, fd);
	if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		rest(p);
	return false;
}

static void listener_ready(void *data, uint32_t events)
{
	struct publish_listener *l = data;

	(void)events;
	for (unsigned i = 0; i < BATCH && l->watch.active && take_connection(l); i++)
		;
}

/* --- begin and end ------------------------------------------------------------------- */

int publish_begin(struct publish *p, struct run *run, struct egress_relay *relay,
		  const struct nursery *four, const struct nursery *six,
		  struct cordon_error *err)
{
	p->run = run;
	p->relay = relay;
	p->four = four;
	p->six = six;
	p->pause = (struct loop_timer){ .fired = pause_over, .data = p };
	for (size_t i = 0; i < p->n_listeners; i++) {
		int r = loop_watch(run_loop(run), &p->listeners[i].watch, EPOLLIN, err);

		if (r < 0)
			return r;
	}
	return 0;
}

void publish_end(struct publish *p)
{
	if (p->run) {
		loop_clear_timer(run_loop(p->run), &p->pause);
		watch_listeners(p, false);
	}
	fd_close(&p->waiting);
	for (; p->n_listeners > 0; p->n_listeners--)
		fd_close(&p->listeners[p->n_listeners - 1].watch.fd);
}
