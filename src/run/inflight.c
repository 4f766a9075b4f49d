/* SPDX-License-Identifier: Apache-2.0 */
/* Calls under way: one open call for each thread, spans of time for those that are over. */
#include "run/inflight.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

#define NS ((int64_t)1000000000)
/* Times of files come from a clock that ticks slowly. */
#define SLACK (NS / 50)
/* How long a thread that runs may be in the kernel with one call, on a busy machine. */
#define PATIENCE (2 * NS)

int64_t inflight_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* Spans of calls that followed one another are one, so a flood of them drives none out. */
static void add_span(struct inflight *f, enum inflight_kind kind, int64_t from, int64_t to)
{
	struct inflight_span *at = f->over[kind].at, *last;
	size_t *n = &f->over[kind].n;

	last = *n ? &at[*n - 1] : NULL;
	if (last && from <= last->to + SLACK) {
		last->from = from < last->from ? from : last->from;
		last->to = to > last->to ? to : last->to;
		return;
	}
	if (*n == INFLIGHT_SPANS_MAX)
		memmove(at, at + 1, --*n * sizeof(*at));
	at[(*n)++] = (struct inflight_span){ from, to };
}

static void close_call(struct inflight *f, size_t i, int64_t end)
{
	add_span(f, f->open[i].kind, f->open[i].from, end);
	f->open[i] = f->open[--f->n_open];
}

static struct inflight_call *open_of(struct inflight *f, pid_t tid)
{
	for (size_t i = 0; i < f->n_open; i++)
		if (f->open[i].tid == tid)
			return &f->open[i];
	return NULL;
}

static void make_room(struct inflight *f, int64_t now)
{
	size_t oldest = 0;

	if (f->n_open < INFLIGHT_OPEN_MAX)
		return;
	for (size_t i = 1; i < f->n_open; i++)
		if (f->open[i].from < f->open[oldest].from)
			oldest = i;
	close_call(f, oldest, now + PATIENCE);
}

void inflight_add(struct inflight *f, pid_t tid, int nr, enum inflight_kind kind)
{
	int64_t now = inflight_now();
	struct inflight_call *c = open_of(f, tid);

	if (c) {
		add_span(f, c->kind, c->from, now);
	} else {
		make_room(f, now);
		c = &f->open[f->n_open++];
	}
	*c = (struct inflight_call){ tid, nr, kind, now };
}

enum whereabouts { IN_CALL, NOT_IN_CALL, NOT_KNOWN };

static enum whereabouts whereabouts(const struct inflight_call *c)
{
	autoclose int fd = -1;
	char text[128];
	ssize_t n;

	snprintf(text, sizeof(text), "/proc/%d/syscall", (int)c->tid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		/* Not being allowed to read it says nothing. */
		snprintf(text, sizeof(text), "/proc/%d", (int)c->tid);
		return access(text, F_OK) < 0 ? NOT_IN_CALL : NOT_KNOWN;
	}
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0 || text[0] < '0' || text[0] > '9')
		return NOT_KNOWN;
	text[n] = '\0';
	return strtol(text, NULL, 10) == c->nr ? IN_CALL : NOT_IN_CALL;
}

void inflight_settle(struct inflight *f)
{
	int64_t now = inflight_now();

	for (size_t i = f->n_open; i-- > 0;) {
		enum whereabouts w = whereabouts(&f->open[i]);

		if (w == NOT_IN_CALL || (w == NOT_KNOWN && now > f->open[i].from + PATIENCE))
			close_call(f, i, now);
	}
}

bool inflight_during(const struct inflight *f, enum inflight_kind kind, int64_t after, int64_t from,
		     int64_t to)
{
	for (size_t i = 0; i < f->n_open; i++)
		if (f->open[i].kind == kind && f->open[i].from - SLACK <= to)
			return true;
	for (size_t i = 0; i < f->over[kind].n; i++) {
		const struct inflight_span *at = &f->over[kind].at[i];

		if (at->to > after && at->from - SLACK <= to && at->to + SLACK >= from)
			return true;
	}
	return false;
}
