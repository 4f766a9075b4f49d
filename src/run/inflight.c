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
#include "run/procfs.h"

#define NS ((int64_t)1000000000)
/* Calls that follow one another so closely are hardly told apart: their times need not be. */
#define CLOSELY (NS / 2000)
/* With room for what is added to it. */
#define NEVER (INT64_MAX / 2)

int64_t inflight_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
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

/* Where it is, or would be: there always is a free place. */
static size_t place_of(const struct inflight_maker *makers, pid_t tid)
{
	size_t i = (size_t)tid & (INFLIGHT_MAKERS - 1);

	while (makers[i].tid && makers[i].tid != tid)
		i = (i + 1) & (INFLIGHT_MAKERS - 1);
	return i;
}

static void note_maker(struct inflight *f, pid_t tid, int64_t when)
{
	struct inflight_maker *m = &f->makers[place_of(f->makers, tid)];

	if (!m->tid && f->n_makers == INFLIGHT_MAKERS / 2) {
		f->crowded = true;
		return;
	}
	f->n_makers += !m->tid;
	m->tid = tid;
	m->last = when > m->last ? when : m->last;
}

static void close_call(struct inflight *f, size_t i, int64_t end)
{
	add_span(f, f->open[i].kind, f->open[i].from, end);
	note_maker(f, f->open[i].tid, end);
	f->open[i] = f->open[--f->n_open];
	f->ended = true;
}

static const struct inflight_call *open_of(const struct inflight *f, pid_t tid)
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
	int64_t now = inflight_now();
	bool closely = now >= f->went_on && now - f->went_on < CLOSELY;
	int64_t from = closely ? file_clock_now(&f->clock) : file_clock_step(&f->clock);

	inflight_over(f, tid);
	make_room(f);
	f->open[f->n_open++] = (struct inflight_call){ tid, nr, kind, from };
	note_maker(f, tid, now);
	f->went_on = now;
}

void inflight_over(struct inflight *f, pid_t tid)
{
	const struct inflight_call *c = open_of(f, tid);

	if (c)
		close_call(f, (size_t)(c - f->open), inflight_now());
}

int64_t inflight_since(const struct inflight *f)
{
	return inflight_now() - f->went_on;
}

/* Whether or not anybody has waited for its end. That /proc does not show it says nothing: it may
 * hide who is closed to us. */
static bool is_gone(pid_t tid)
{
	struct procfs_stat st;

	if (!procfs_stat(tid, &st))
		return !procfs_hides(tid);
	/* The first thread can have ended alone. */
	return !st.alive || st.thread != tid;
}

/* Seen in another call, or gone. Of one that is running the kernel does not say where it runs, and
 * the time that it took proves nothing: an attacker makes a call last (a rename that has to forget
 * a million names first). So it stays in its call until it is seen elsewhere. */
static bool has_left(const struct inflight_call *c)
{
	autoclose int fd = -1;
	char text[128];
	ssize_t n;

	snprintf(text, sizeof(text), "/proc/%d/syscall", (int)c->tid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	/* Not being allowed to read it says nothing; what has ended is in no call (-1). */
	if (n <= 0 || text[0] == '-')
		return is_gone(c->tid);
	if (text[0] < '0' || text[0] > '9')
		return false;
	text[n] = '\0';
	return strtol(text, NULL, 10) != c->nr;
}

void inflight_settle(struct inflight *f)
{
	for (size_t i = f->n_open; i-- > 0;) {
		if (has_left(&f->open[i]))
			close_call(f, i, inflight_now());
	}
	/* What is made from here on is younger than the end of those that are over. */
	if (f->ended)
		file_clock_step(&f->clock);
	f->ended = false;
}

void inflight_doubt(struct inflight *f)
{
	for (size_t i = 0; i < f->n_open; i++)
		f->open[i].from = 0;
	for (size_t kind = 0; kind < INFLIGHT_KINDS; kind++)
		for (size_t i = 0; i < f->over[kind].n; i++)
			f->over[kind].at[i] = (struct inflight_span){ 0, NEVER };
}

void inflight_end(struct inflight *f)
{
	file_clock_close(&f->clock);
}

static void forget_makers(struct inflight *f, int64_t until)
{
	struct inflight_maker kept[INFLIGHT_MAKERS] = { 0 };

	if (f->crowded && !f->n_open && f->went_on <= until)
		f->crowded = false;
	if (!f->n_makers)
		return;
	f->n_makers = 0;
	for (size_t i = 0; i < INFLIGHT_MAKERS; i++) {
		const struct inflight_maker *m = &f->makers[i];

		if (!m->tid || (m->last <= until && !open_of(f, m->tid)))
			continue;
		kept[place_of(kept, m->tid)] = *m;
		f->n_makers++;
	}
	memcpy(f->makers, kept, sizeof(kept));
}

bool inflight_was_by(const struct inflight *f, pid_t tid)
{
	return f->crowded || open_of(f, tid) ||
	       f->makers[place_of(f->makers, tid)].tid == tid;
}

void inflight_forget(struct inflight *f, int64_t until)
{
	forget_makers(f, until);
	for (size_t kind = 0; kind < INFLIGHT_KINDS; kind++) {
		struct inflight_span *at = f->over[kind].at;
		size_t n = 0;

		for (size_t i = 0; i < f->over[kind].n; i++)
			if (at[i].to > until)
				at[n++] = at[i];
		f->over[kind].n = n;
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
