/* SPDX-License-Identifier: Apache-2.0 */
/* Draining the command's output into bounded buffers. */
#include "run/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/fd.h"

#define CHUNK 65536
#define FINISH_READS_MAX 64

static void keep(struct capture_stream *s, struct str text)
{
	struct capture *c = s->owner;
	uint64_t allowed = c->limit && c->limit < c->total + text.n
				   ? (c->limit > c->total ? c->limit - c->total : 0)
				   : text.n;
	bool was_within = !c->limit || c->total <= c->limit;
	struct str kept = str_take(text, (size_t)allowed);

	c->total += text.n;
	if (c->sink && kept.n)
		c->sink->chunk(c->sink->data, s == &c->err, kept);
	kept = str_take(kept, s->text.max - s->text.n);
	buf_add(&s->text, kept);
	if (kept.n < text.n || s->text.failed)
		s->truncated = true;
	if (was_within && c->limit && c->total > c->limit && c->on_limit)
		c->on_limit(c->data);
}

static void end_stream(struct capture_stream *s)
{
	loop_unwatch(s->owner->loop, &s->watch);
	fd_close(&s->watch.fd);
}

/* One read; false when there is nothing more now or ever. */
static bool read_some(struct capture_stream *s)
{
	char chunk[CHUNK];
	ssize_t n;

	if (s->watch.fd < 0)
		return false;
	n = read(s->watch.fd, chunk, sizeof(chunk));
	if (n > 0) {
		keep(s, (struct str){ chunk, (size_t)n });
		return true;
	}
	if (n < 0 && errno == EINTR)
		return true;
	if (n == 0 || errno != EAGAIN)
		end_stream(s);
	return false;
}

static void stream_ready(void *data, uint32_t events)
{
	struct capture_stream *s = data;
	struct capture *c = s->owner;

	(void)events;
	read_some(s);
	if (capture_ended(c) && c->on_end)
		c->on_end(c->data);
}

static int open_stream(struct capture *c, struct capture_stream *s, size_t max,
		       struct cordon_error *err)
{
	int failed = fd_pipe(&s->watch.fd, &s->child_end);

	if (failed)
		return err_set(err, CORDON_E_SYSTEM, -failed, "run", "cannot create a pipe");
	/* Only our end: the flag belongs to the open file, and a command that finds
	 * its stdout non-blocking breaks. */
	fcntl(s->watch.fd, F_SETFL, O_NONBLOCK);
	s->owner = c;
	s->watch.ready = stream_ready;
	s->watch.data = s;
	buf_init(&s->text, max);
	return loop_watch(c->loop, &s->watch, POLLIN, err);
}

int capture_open(struct capture *c, struct loop *loop, size_t max,
		 struct cordon_error *err)
{
	int failed;

	c->loop = loop;
	c->out.watch.fd = c->err.watch.fd = -1;
	c->out.child_end = c->err.child_end = -1;
	failed = open_stream(c, &c->out, max, err);
	return failed ? failed : open_stream(c, &c->err, max, err);
}

void capture_started(struct capture *c)
{
	if (!c->loop)
		return;
	fd_close(&c->out.child_end);
	fd_close(&c->err.child_end);
}

bool capture_ended(const struct capture *c)
{
	return c->out.watch.fd < 0 && c->err.watch.fd < 0;
}

static int pause_stream(struct capture_stream *s, bool pause, struct cordon_error *err)
{
	if (s->watch.fd < 0)
		return 0;
	if (!pause)
		return loop_watch(s->owner->loop, &s->watch, POLLIN, err);
	loop_unwatch(s->owner->loop, &s->watch);
	return 0;
}

int capture_pause(struct capture *c, bool pause, struct cordon_error *err)
{
	int failed;

	if (!c->loop)
		return 0;
	failed = pause_stream(&c->out, pause, err);
	return failed ? failed : pause_stream(&c->err, pause, err);
}

void capture_finish(struct capture *c)
{
	/* Bounded: a stranger who was handed our pipe may never stop writing. */
	for (int i = 0; i < FINISH_READS_MAX; i++) {
		bool out = read_some(&c->out), err = read_some(&c->err);

		if (!out && !err)
			break;
	}
	end_stream(&c->out);
	end_stream(&c->err);
}

void capture_close(struct capture *c)
{
	if (!c->loop)
		return;
	capture_started(c);
	end_stream(&c->out);
	end_stream(&c->err);
	buf_free(&c->out.text);
	buf_free(&c->err.text);
}
