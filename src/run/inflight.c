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
/* So much time of a processor is more than one call takes. */
#define CALL_RUNS (NS / 5)
/* With room for what is added to it. */
#define NEVER (INT64_MAX / 2)

int64_t inflight_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* Times of files come from a clock that ticks slowly; this is never later than they are. */
static int64_t now_of_files(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* Two become one with all that is between them: a flood of them drives none out. */
static void halve(struct inflight_span *at, size_t *n)
{
	size_t half = *n / 2;

	for (size_t i = 0; i < half; i++) {
		const struct inflight_span *a = &at[2 * i], *b = a + 1;

		at[i] = (struct inflight_span){ a->from < b->from ? a->from : b->from,
						a->to > b->to ? a->to : b->to };
	}
	*n = half;
}

/* Spans of calls that followed one another at once are one. */
static void add_span(struct inflight *f, enum inflight_kind kind, int64_t from, int64_t to)
{
	struct inflight_span *at = f->over[kind].at, *last;
	size_t *n = &f->over[kind].n;

	last = *n ? &at[*n - 1] : NULL;
	if (last && from <= last->to) {
		last->from = from < last->from ? from : last->from;
		last->to = to > last->to ? to : last->to;
		return;
	}
	if (*n == INFLIGHT_SPANS_MAX)
		halve(at, n);
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

/* Whoever is pushed out may be in its call for ever. */
static void make_room(struct inflight *f)
{
	size_t oldest = 0;

	if (f->n_open < INFLIGHT_OPEN_MAX)
		return;
	for (size_t i = 1; i < f->n_open; i++)
		if (f->open[i].from < f->open[oldest].from)
			oldest = i;
	close_call(f, oldest, NEVER);
}

void inflight_add(struct inflight *f, pid_t tid, int nr, enum inflight_kind kind)
{
	inflight_over(f, tid);
	make_room(f);
	f->open[f->n_open++] = (struct inflight_call){ tid, nr, kind, now_of_files(), 0 };
}

void inflight_over(struct inflight *f, pid_t tid)
{
	const struct inflight_call *c = open_of(f, tid);

	if (c)
		close_call(f, (size_t)(c - f->open), inflight_now());
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

/* Nanoseconds on a processor; 0: not known. */
static int64_t has_run(pid_t tid)
{
	autoclose int fd = -1;
	char text[64];
	ssize_t n;

	snprintf(text, sizeof(text), "/proc/%d/schedstat", (int)tid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtoll(text, NULL, 10);
}

/* By its own time: one that gets no processor stays in its call, however long that is. */
static bool ran_on(struct inflight_call *c)
{
	int64_t now = has_run(c->tid);

	if (!c->had_run)
		c->had_run = now;
	return c->had_run && now > c->had_run + CALL_RUNS;
}

void inflight_settle(struct inflight *f)
{
	int64_t now = inflight_now();

	for (size_t i = f->n_open; i-- > 0;) {
		enum whereabouts w = whereabouts(&f->open[i]);

		if (w == NOT_IN_CALL || (w == NOT_KNOWN && ran_on(&f->open[i])))
			close_call(f, i, now);
	}
}

bool inflight_during(const struct inflight *f, enum inflight_kind kind, int64_t after, int64_t from,
		     int64_t to, int64_t slack)
{
	for (size_t i = 0; i < f->n_open; i++)
		if (f->open[i].kind == kind && f->open[i].from - slack <= to)
			return true;
	for (size_t i = 0; i < f->over[kind].n; i++) {
		const struct inflight_span *at = &f->over[kind].at[i];

		if (at->to > after && at->from - slack <= to && at->to + slack >= from)
			return true;
	}
	return false;
}
