/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the host's name servers: one question at a time, each over a socket of its own,
 * so that an answer must come from the server asked, to a port chosen by the kernel, with
 * the number of the question. What did not fit into a datagram is asked for again over
 * TCP. Names are taken as they are; no search list is applied.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "net/relay_in.h"
#include "net/relay_socket.h"

#define PORT 53
#define WAIT_MS 2500
/* How often the list of servers is gone through. */
#define PASSES 2

static void ask(struct relay_lookup *l);

static void close_socket(struct relay_lookup *l)
{
	loop_unwatch(l->loop, &l->watch);
	loop_clear_timer(l->loop, &l->timer);
	if (l->watch.fd > 0)
		close(l->watch.fd);
	l->watch.fd = 0;
}

void relay_lookup_stop(struct relay_lookup *l)
{
	close_socket(l);
}

static void tell(struct relay_lookup *l, const struct dns_addresses *found)
{
	close_socket(l);
	l->done(l->data, found);
}

static void next_server(void *data)
{
	struct relay_lookup *l = data;

	close_socket(l);
	l->tries++;
	ask(l);
}

/* Of the same server, where it did not understand the first. */
static bool ask_simply(struct relay_lookup *l, enum dns_code code)
{
	if (l->simple || (code != DNS_FORMAT_ERROR && code != DNS_NOT_KNOWN))
		return false;
	l->simple = true;
	l->query_n = dns_simplify_query(l->query, l->query_n);
	close_socket(l);
	ask(l);
	return true;
}

static void judge(struct relay_lookup *l, const struct dns_addresses *found)
{
	if (found->code == DNS_NO_ERROR || found->code == DNS_NO_NAME)
		tell(l, found);
	else if (!ask_simply(l, found->code))
		next_server(l);
}

/* --- over TCP ------------------------------------------------------------------------ */

/* Two bytes of length go before each message. */
#define LENGTH 2

/* It stays in the socket until there is enough of it. */
static void stream_answered(void *data, uint32_t events)
{
	struct relay_lookup *l = data;
	static uint8_t bytes[LENGTH + DNS_PACKET_MAX];
	ssize_t n = recv(l->watch.fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	size_t whole = LENGTH;
	struct dns_addresses found;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* It has ended, or is broken. */
	if (n <= 0 || (size_t)n <= l->seen) {
		next_server(l);
		return;
	}
	l->seen = (size_t)n;
	if (n >= LENGTH)
		whole += (size_t)bytes[0] << 8 | bytes[1];
	/* Of what is longer the first addresses will do. */
	if (whole > sizeof(bytes))
		whole = sizeof(bytes);
	if (l->seen < whole)
		relay_wait_for(l->watch.fd, whole);
	else if (dns_read_addresses(bytes + LENGTH, whole - LENGTH, l->query, l->query_n, &found))
		judge(l, &found);
	else
		next_server(l);
}

static void stream_ready(void *data, uint32_t events)
{
	struct relay_lookup *l = data;
	uint8_t bytes[LENGTH + DNS_QUERY_MAX] = { (uint8_t)(l->query_n >> 8),
						  (uint8_t)l->query_n };
	struct cordon_error ignored;
	size_t n = LENGTH + l->query_n;

	(void)events;
	memcpy(bytes + LENGTH, l->query, l->query_n);
	l->watch.ready = stream_answered;
	/* The first bytes of a connection fit; of one that failed this tells. */
	if (send(l->watch.fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n ||
	    loop_watch(l->loop, &l->watch, EPOLLIN, &ignored) < 0)
		next_server(l);
}

static int socket_to_server(const struct relay_lookup *l, int type)
{
	const struct relay_server *s = &l->config->servers[l->tries % l->config->n_servers];

	return relay_socket_by(s->device, s->address, PORT, type);
}

static void ask_by_stream(struct relay_lookup *l)
{
	struct cordon_error ignored;

	close_socket(l);
	l->seen = 0;
	l->watch = (struct loop_watch){ .fd = socket_to_server(l, SOCK_STREAM),
					.ready = stream_ready,
					.data = l };
	if (l->watch.fd > 0 && loop_watch(l->loop, &l->watch, EPOLLOUT, &ignored) == 0)
		loop_set_timer(l->loop, &l->timer, WAIT_MS);
	else
		next_server(l);
}

/* --- over UDP ------------------------------------------------------------------------ */

static void answered(void *data, uint32_t events)
{
	struct relay_lookup *l = data;
	uint8_t packet[DNS_PACKET_MAX];
	struct dns_addresses found;
	ssize_t n = recv(l->watch.fd, packet, sizeof(packet), MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Nobody listens there. */
	if (n < 0) {
		next_server(l);
		return;
	}
	/* Something else came: the answer may still. */
	if (!dns_read_addresses(packet, (size_t)n, l->query, l->query_n, &found))
		return;
	/* Some of its addresses are as good as all. */
	if (found.cut && !found.n)
		ask_by_stream(l);
	else
		judge(l, &found);
}

static bool send_question(struct relay_lookup *l)
{
	struct cordon_error ignored;
	int fd = socket_to_server(l, SOCK_DGRAM);

	if (fd < 0)
		return false;
	l->watch = (struct loop_watch){ .fd = fd, .ready = answered, .data = l };
	if (send(fd, l->query, l->query_n, MSG_NOSIGNAL) == (ssize_t)l->query_n &&
	    loop_watch(l->loop, &l->watch, EPOLLIN, &ignored) == 0)
		return true;
	close_socket(l);
	return false;
}

static void ask(struct relay_lookup *l)
{
	static const struct dns_addresses none = { .code = DNS_SERVER_FAILED };

	for (; l->tries < PASSES * l->config->n_servers; l->tries++)
		if (send_question(l)) {
			loop_set_timer(l->loop, &l->timer, WAIT_MS);
			return;
		}
	tell(l, &none);
}

void relay_lookup_start(struct relay_lookup *l, const char *name, enum dns_type type)
{
	static const struct dns_addresses none = { .code = DNS_NO_NAME };
	uint16_t id;

	l->timer = (struct loop_timer){ .fired = next_server, .data = l };
	l->tries = 0;
	l->simple = false;
	l->query_n = 0;
	if (getrandom(&id, sizeof(id), 0) == (ssize_t)sizeof(id))
		l->query_n = dns_write_query(id, name, type, l->query);
	if (l->query_n)
		ask(l);
	else
		tell(l, &none);
}
