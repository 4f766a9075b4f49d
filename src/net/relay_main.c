/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-relay: the way out of a sandbox whose policy lists hosts.
 *
 * It runs in the host's network, one for each run, started by the supervisor and locked
 * in before it reads its first message. It knows no policy: what it is asked to reach is
 * allowed, by name. What it decides is whether an address that a name led to may be
 * dialled, and it dials the very address it looked at (relay_connection.c). Nothing is taken
 * from the bytes that it moves.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "net/relay_in.h"

#define CONFIG_BYTES_MAX ((size_t)8 << 20)
/* Two sockets each, three of what is published; and the servers, the rest. */
#define FDS_EACH 3
#define FDS_BESIDE 64

/* --- requests -------------------------------------------------------------------- */

/* The connection's descriptor comes first; -1: there is none. */
static void take_fds(struct msghdr *message, int fds[RELAY_FDS_MAX])
{
	struct cmsghdr *h = CMSG_FIRSTHDR(message);

	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
	    h->cmsg_len <= CMSG_LEN(sizeof(int) * RELAY_FDS_MAX))
		memcpy(fds, CMSG_DATA(h), h->cmsg_len - CMSG_LEN(0));
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
		relay_finish_all(relay);
		return;
	}
	take_fds(&message, fds);
	/* No descriptor was left to take it into. */
	if (fds[0] < 0 || n != (ssize_t)sizeof(q) || message.msg_flags & MSG_CTRUNC) {
		relay_refuse(relay, &q, fds);
		return;
	}
	relay_begin(relay, &q, fds);
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
