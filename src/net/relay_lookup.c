/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the host's name servers: one question at a time, each over a socket of its own,
 * so that an answer must come from the server asked, to a port chosen by the kernel, with
 * the number of the question. Names are taken as they are; no search list is applied.
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
	if (found.code == DNS_NO_ERROR || found.code == DNS_NO_NAME)
		tell(l, &found);
	else
		next_server(l);
}

static bool send_question(struct relay_lookup *l)
{
	const struct relay_config *c = l->config;
	struct cordon_error ignored;
	int fd = relay_socket(c->servers[l->tries % c->n_servers], 53, SOCK_DGRAM);

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
	l->query_n = 0;
	if (getrandom(&id, sizeof(id), 0) == (ssize_t)sizeof(id))
		l->query_n = dns_write_query(id, name, type, l->query);
	if (l->query_n)
		ask(l);
	else
		tell(l, &none);
}
