/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the supervisor and talking to it. */
#include "lib/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/spawn.h"
#include "lib/watch.h"

#define stage "supervisor"
#define PROGRAM_MEMORY_MAX ((size_t)64 << 10)
#define IN_MAX ((size_t)65 << 20)
#define READ_MOST ((size_t)64 << 10)
#define SEND_PATIENCE_MS 10000

extern char **environ;

/* The numbers are those of cli/caller.h. */
enum { TO_SOCKET = 3, TO_LIFE = 4, FDS_MAX = 5 };

struct ends {
	int ours, theirs, life, nothing, nowhere;
};

static void close_ends(struct ends *e)
{
	fd_close(&e->ours);
	fd_close(&e->theirs);
	fd_close(&e->life);
	fd_close(&e->nothing);
	fd_close(&e->nowhere);
}

static int open_ends(struct ends *e, struct cordon_error *err)
{
	int pair[2], failed = fd_pair(pair);

	if (failed)
		return err_set(err, CORDON_E_SYSTEM, -failed, stage, "cannot create a socket");
	e->ours = pair[0];
	e->theirs = pair[1];
	if (fcntl(e->ours, F_SETFL, O_NONBLOCK) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot use the socket");
	e->nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	e->nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (e->nothing < 0 || e->nowhere < 0)
		return err_set(err, CORDON_E_IO, errno, stage, "/dev/null");
	e->life = watch_own_life();
	return 0;
}

static int start(const struct cordon_policy *policy, const struct ends *e, int stdin_fd,
		 struct link *ret, struct cordon_error *err)
{
	char *argv[] = { (char *)"cordon", (char *)"--supervise", NULL };
	struct spawn_fd fds[FDS_MAX] = { { stdin_fd > 0 ? stdin_fd : e->nothing, 0 },
					 { e->nowhere, 1 },
					 { e->nowhere, 2 },
					 { e->theirs, TO_SOCKET },
					 { e->life, TO_LIFE } };
	autoarena struct arena a = { .max = PROGRAM_MEMORY_MAX };
	struct spawn_request request = {
		.argv = argv,
		.envp = policy->environment ? policy->environment : environ,
		.detached = true,
		.new_session = true,
		.fds = fds,
		.n_fds = e->life < 0 ? FDS_MAX - 1 : FDS_MAX,
	};
	struct spawned spawned;
	sigset_t all, none;
	int failed = lib_program(&a, policy, &request.program, err);

	if (failed)
		return failed;
	sigfillset(&all);
	sigemptyset(&none);
	request.defaulted = &all;
	request.mask = &none;
	failed = spawn_start(&request, &spawned, err);
	if (!failed)
		ret->process = spawned.pidfd;
	return failed;
}

/* False when it would have had to wait too long. What ended already may have said why:
 * that is for whoever reads. */
static bool send_all(const struct link *link, struct str text)
{
	struct pollfd fds[] = { { .fd = link->socket, .events = POLLOUT },
				{ .fd = link->process, .events = POLLIN } };
	size_t sent = 0;

	while (sent < text.n) {
		ssize_t n = send(link->socket, text.p + sent, text.n - sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			sent += (size_t)n;
		else if (errno == EAGAIN && poll(fds, 2, SEND_PATIENCE_MS) == 0)
			return false;
		else if ((errno != EINTR && errno != EAGAIN) || fds[1].revents)
			break;
	}
	return true;
}

static int send_frame(const struct link *link, enum frame_kind kind, struct str body,
		      struct cordon_error *err)
{
	autobuf struct buf text = buf_make(body.n + FRAME_HEADER);

	if (!frame_add(&text, kind, body))
		return err_nomem(err, stage);
	if (send_all(link, buf_str(&text)))
		return 0;
	return err_set(err, CORDON_E_SYSTEM, 0, stage, "the supervisor does not take the request");
}

int link_open(const struct cordon_policy *policy, const struct buf *words, int stdin_fd,
	      struct link *ret, struct cordon_error *err)
{
	__attribute__((cleanup(close_ends))) struct ends ends = { -1, -1, -1, -1, -1 };
	struct link link = { .socket = -1, .process = -1, .both = -1 };
	size_t most = 0;
	int failed;

	frame_limit(FRAME_request, &most);
	if (words->failed)
		return err_nomem(err, stage);
	if (words->n > most) {
		err_set(err, CORDON_E_LIMIT, 0, stage, "the request is too long");
		return err_hint(err, "arguments and settings are at most 4 MiB; use a file");
	}
	buf_init(&link.in, IN_MAX);
	failed = open_ends(&ends, err);
	if (!failed)
		failed = start(policy, &ends, stdin_fd, &link, err);
	link.socket = steal_fd(&ends.ours);
	fd_close(&ends.theirs);
	if (!failed && (link.both = watch_both(link.socket, link.process)) < 0)
		failed = err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot watch the supervisor");
	if (!failed)
		failed = send_frame(&link, FRAME_request, buf_str(words), err);
	if (failed)
		link_close(&link);
	else
		*ret = link;
	return failed;
}

void link_close(struct link *link)
{
	if (!link->in.p)
		return;
	watch_reap(link->process);
	fd_close(&link->socket);
	fd_close(&link->process);
	fd_close(&link->both);
	buf_free(&link->in);
}

static bool is_over(const struct link *link)
{
	struct pollfd end = { .fd = link->process, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

static void drop_taken(struct link *link)
{
	if (!link->taken)
		return;
	link->in.n -= link->taken;
	memmove(link->in.p, link->in.p + link->taken, link->in.n + 1);
	link->taken = 0;
}

/* The process is yet to end; its socket would only be readable without end. */
static void end_socket(struct link *link)
{
	watch_forget(link->both, link->socket);
	fd_close(&link->socket);
}

static int ended(struct cordon_error *err)
{
	err_set(err, CORDON_E_SYSTEM, 0, stage, "the supervisor ended without an answer");
	return err_hint(err, "was it killed? Nothing of the command is left running");
}

/* Asked in this order: what was sent before the end is there when the end is seen. */
int link_receive(struct link *link, struct cordon_error *err)
{
	bool over = is_over(link);
	long n;

	drop_taken(link);
	if (link->socket < 0)
		return over ? ended(err) : 0;
	n = buf_read(&link->in, link->socket, READ_MOST);
	if (n > 0 || n == -EINTR)
		return 1;
	if (n == -ENOMEM || n == -ENOBUFS)
		return err_nomem(err, stage);
	if (n == -EAGAIN && !over)
		return 0;
	end_socket(link);
	return over ? ended(err) : 0;
}

static int greet(struct link *link, struct str body, struct cordon_error *err)
{
	struct str protocol, version;
	uint64_t number;

	str_cut(body, ' ', &protocol, &version);
	if (!num_parse_u64(protocol, UINT32_MAX, &number) || number != FRAME_PROTOCOL) {
		err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
			"the program is cordon %.*s, the library %s", STR_ARG(version),
			CORDON_VERSION);
		return err_hint(err, "install both from one release");
	}
	link->greeted = true;
	return 0;
}

static int find_any(struct link *link, struct frame *ret, struct cordon_error *err)
{
	size_t used;
	int found;

	drop_taken(link);
	found = frame_find(buf_str(&link->in), ret, &used, err);
	if (found > 0)
		link->taken = used;
	return found;
}

int link_find(struct link *link, struct frame *ret, struct cordon_error *err)
{
	int found = find_any(link, ret, err);

	if (found <= 0)
		return found;
	/* Once, and before everything else. */
	if (link->greeted != (ret->kind != FRAME_hello))
		return err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
			       "what was started is not cordon");
	if (link->greeted)
		return 1;
	found = greet(link, ret->body, err);
	return found < 0 ? found : find_any(link, ret, err);
}

void link_wait(const struct link *link, int timeout_ms)
{
	struct pollfd both = { .fd = link->both, .events = POLLIN };

	poll(&both, 1, timeout_ms);
}

int link_cancel(struct link *link, struct cordon_error *err)
{
	return link->socket < 0 ? 0 : send_frame(link, FRAME_cancel, (struct str){ 0 }, err);
}
