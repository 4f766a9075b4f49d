/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to the program that libcordon is in. */
#include "cli/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/spawn.h"
#include "fmt/json.h"
#include "run/supervise.h"

#define stage "supervise"
#define READ_MOST 65536
#define IN_MAX ((size_t)8 << 20)
#define OUT_MAX ((size_t)96 << 20)
/* When so much waits to be sent the command waits too, until it is this little. */
#define PAUSE_AT ((size_t)512 << 10)
#define RESUME_AT ((size_t)64 << 10)
/* What was sent is cut off when there is this much of it. */
#define CUT_AT ((size_t)1 << 20)

static bool is_socket(int fd)
{
	int type;
	socklen_t n = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM;
}

int caller_open(struct caller *h, struct cordon_error *err)
{
	*h = (struct caller){ .fd = -1, .life = -1 };
	buf_init(&h->in, IN_MAX);
	buf_init(&h->out, OUT_MAX);
	if (!is_socket(CALLER_SOCKET)) {
		err_set(err, CORDON_E_USAGE, 0, "usage",
			"--supervise is for libcordon, which hands over a socket");
		return err_hint(err, "a command is run with 'cordon run'; see cordon(3)");
	}
	h->fd = CALLER_SOCKET;
	if (fcntl(h->fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(h->fd, F_SETFL, O_NONBLOCK) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot use the socket");
	if (spawn_is_pidfd(CALLER_LIFE) && fcntl(CALLER_LIFE, F_SETFD, FD_CLOEXEC) == 0)
		h->life = CALLER_LIFE;
	return 0;
}

void caller_close(struct caller *h)
{
	fd_close(&h->fd);
	fd_close(&h->life);
	buf_free(&h->in);
	buf_free(&h->out);
}

/* --- sending ------------------------------------------------------------------------- */

static size_t unsent(const struct caller *h)
{
	return h->out.n - h->sent;
}

static void cut_sent(struct caller *h)
{
	if (h->sent < h->out.n && h->sent < CUT_AT)
		return;
	memmove(h->out.p, h->out.p + h->sent, unsent(h));
	h->out.n -= h->sent;
	h->sent = 0;
}

/* As much as goes without waiting. */
static void send_some(struct caller *h)
{
	while (!h->gone && unsent(h)) {
		ssize_t n = send(h->fd, h->out.p + h->sent, unsent(h),
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			h->gone = true;
		if (n <= 0)
			break;
		h->sent += (size_t)n;
	}
	if (h->out.n)
		cut_sent(h);
}

/* Watches for room while there is something to send; lets the command wait for it. */
static void adapt(struct caller *h)
{
	uint32_t events = (unsent(h) ? POLLIN | POLLOUT : POLLIN);
	bool pause = unsent(h) >= (h->paused ? RESUME_AT : PAUSE_AT);
	struct cordon_error why;

	if (!h->run || h->gone)
		return;
	if (h->watch.events != events &&
	    loop_watch(run_loop(h->run), &h->watch, events, &why) < 0)
		run_break(h->run, &why);
	if (pause == h->paused)
		return;
	h->paused = pause;
	run_pause_output(h->run, pause);
}

int caller_send(struct caller *h, enum frame_kind kind, struct str body)
{
	if (h->gone)
		return -EPIPE;
	if (!frame_add(&h->out, kind, body))
		return -ENOBUFS;
	send_some(h);
	adapt(h);
	return 0;
}

/* Readable, writable or dead; for when no run is under way. */
static void wait_for(struct caller *h, short events)
{
	struct pollfd fds[] = { { .fd = h->fd, .events = events },
				{ .fd = h->life, .events = POLLIN } };

	if (poll(fds, 2, -1) < 0)
		return;
	if (fds[1].revents)
		h->gone = true;
}

void caller_flush(struct caller *h)
{
	send_some(h);
	while (!h->gone && unsent(h)) {
		wait_for(h, POLLOUT);
		send_some(h);
	}
}

/* --- receiving ----------------------------------------------------------------------- */

/* One read; false when there is nothing now. */
static bool receive(struct caller *h)
{
	long n = buf_read(&h->in, h->fd, READ_MOST);

	if (n == -EINTR || n == -EAGAIN)
		return false;
	if (n <= 0)
		h->gone = true;
	return n > 0;
}

static void drop(struct buf *b, size_t n)
{
	b->n -= n;
	memmove(b->p, b->p + n, b->n + 1);
}

int caller_read_request(struct caller *h, struct arena *a, char ***ret, struct cordon_error *err)
{
	struct frame frame;
	size_t used = 0;
	int found;

	while ((found = frame_find(buf_str(&h->in), &frame, &used, err)) == 0) {
		if (h->gone)
			return err_set(err, CORDON_E_IO, 0, stage, "the program that asks is gone");
		if (!receive(h))
			wait_for(h, POLLIN);
	}
	if (found < 0)
		return found;
	if (frame.kind != FRAME_request)
		return err_set(err, CORDON_E_SYNTAX, 0, stage, "a request was expected");
	found = frame_words(a, frame.body, ret, err);
	drop(&h->in, used);
	return found;
}

/* After the request there is nothing but a cancel to be said. */
static void take_frames(struct caller *h)
{
	struct cordon_error ignored;
	struct frame frame;
	size_t used;
	int found;

	while ((found = frame_find(buf_str(&h->in), &frame, &used, &ignored)) > 0) {
		h->cancelled = true;
		h->gone |= frame.kind != FRAME_cancel;
		drop(&h->in, used);
	}
	h->gone |= found < 0;
}

static void end_run(struct caller *h)
{
	if (h->gone) {
		loop_unwatch(run_loop(h->run), &h->watch);
		loop_unwatch(run_loop(h->run), &h->life_watch);
	}
	run_stop(h->run, RUN_CAUSE_signal);
	/* Nobody reads it, and a command that waits for a reader does not end well. */
	if (h->gone && h->paused) {
		h->paused = false;
		run_pause_output(h->run, false);
	}
}

static void socket_ready(void *data, uint32_t events)
{
	struct caller *h = data;

	if (events & (POLLIN | POLLHUP | POLLERR) && receive(h))
		take_frames(h);
	send_some(h);
	adapt(h);
	if (h->gone || h->cancelled)
		end_run(h);
}

static void caller_died(void *data, uint32_t events)
{
	struct caller *h = data;

	(void)events;
	h->gone = true;
	end_run(h);
}

/* --- the run ------------------------------------------------------------------------- */

static int watch_caller(struct caller *h, struct loop *loop, struct cordon_error *err)
{
	int failed;

	h->watch = (struct loop_watch){ .fd = h->fd, .ready = socket_ready, .data = h };
	h->life_watch = (struct loop_watch){ .fd = h->life, .ready = caller_died, .data = h };
	failed = loop_watch(loop, &h->watch, (unsent(h) ? POLLIN | POLLOUT : POLLIN), err);
	if (!failed && h->life >= 0)
		failed = loop_watch(loop, &h->life_watch, POLLIN, err);
	return failed;
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct caller *h = part->data;
	int failed;

	if (h->gone)
		return err_set(err, CORDON_E_IO, 0, stage, "the program that asks is gone");
	h->run = run;
	h->paused = false;
	failed = watch_caller(h, run_loop(run), err);
	/* It may have come with the request, or while another attempt was made. */
	if (!failed && h->in.n)
		take_frames(h);
	if (!failed && h->cancelled)
		run_stop(run, RUN_CAUSE_signal);
	return failed;
}

static void end(struct run_part *part, struct run_result *result)
{
	struct caller *h = part->data;

	(void)result;
	if (!h->run)
		return;
	loop_unwatch(run_loop(h->run), &h->watch);
	loop_unwatch(run_loop(h->run), &h->life_watch);
	h->run = NULL;
}

static void chunk(void *data, bool is_error, struct str text)
{
	enum frame_kind kind = is_error ? FRAME_err : FRAME_out;
	struct caller *h = data;
	size_t most;

	if (!frame_limit(kind, &most))
		return;
	for (; text.n; text = str_skip(text, most))
		caller_send(h, kind, str_take(text, most));
}

static void violated(void *data, const struct violation *v)
{
	struct caller *h = data;
	autobuf struct buf text = buf_make((size_t)1 << 20);
	json_t *json = violation_to_json(v, h->advisor);

	if (json)
		json_print(&text, json, false);
	json_decref(json);
	if (json && !text.failed)
		caller_send(h, FRAME_violation, buf_str(&text));
}

void caller_joins(struct caller *h, struct violations *violations,
		const struct violation_advisor *advisor, struct execute_options *options)
{
	h->advisor = advisor;
	h->listener = (struct violation_listener){ .first = violated, .data = h };
	violations_listen(violations, &h->listener);
	h->sink = (struct capture_sink){ .chunk = chunk, .data = h };
	h->part = (struct run_part){ .name = "caller", .begin = begin, .end = end, .data = h };
	options->sink = &h->sink;
	options->part = &h->part;
}
