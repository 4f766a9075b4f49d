/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight: when calls that make names were under way.
 *
 * A call that goes on makes its name between then and its end, which nobody tells. It is
 * over when its thread makes another one that is seen, sits in a different call, or is gone; a
 * thread that is merely running, or waits for a processor, may still be in it. So the question is
 * answered in doubt with yes.
 *
 * Times of files tell what was made before a call from what it made, and that from what was
 * made after it, no better than their clock ticks. So that is moved on (file_clock.h) when a
 * call goes on, unless another did just before, and when one is found to be over.
 */
#ifndef CORDON_RUN_INFLIGHT_H
#define CORDON_RUN_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/file_clock.h"

/* What a call can make. INFLIGHT_NODE: anything but a directory, also a file. INFLIGHT_OPEN:
 * nothing, but it can open a file that is there for writing, as INFLIGHT_FILE does. */
enum inflight_kind {
	INFLIGHT_FILE,
	INFLIGHT_DIR,
	INFLIGHT_NODE,
	INFLIGHT_MOVE,
	INFLIGHT_OPEN,
	INFLIGHT_KINDS
};

#define INFLIGHT_OPEN_MAX 256
#define INFLIGHT_SPANS_MAX 256 /* even */
#define INFLIGHT_MAKERS 1024   /* a power of two */

struct inflight_span {
	int64_t from, to; /* nanoseconds, as times of files */
};

struct inflight {
	struct inflight_call {
		pid_t tid;
		int nr;
		enum inflight_kind kind;
		int64_t from;
	} open[INFLIGHT_OPEN_MAX];
	size_t n_open;
	/* Threads that such calls were let go on for, and when they were last known to be in one;
	 * by their number, or the next free place. */
	struct inflight_maker {
		pid_t tid; /* 0: free */
		int64_t last;
	} makers[INFLIGHT_MAKERS];
	size_t n_makers;
	bool crowded;	 /* there was no room for one */
	int64_t went_on; /* when the last one did, of inflight_now */
	bool ended; /* one did, and the clock was not moved on since */
	struct file_clock clock;
	/* Of calls that are over. */
	struct {
		struct inflight_span at[INFLIGHT_SPANS_MAX];
		size_t n;
	} over[INFLIGHT_KINDS];
};

int64_t inflight_now(void);
/* A call of this number is about to go on. */
void inflight_add(struct inflight *f, pid_t tid, int nr, enum inflight_kind kind);
/* The thread makes another call, whatever it is. */
void inflight_over(struct inflight *f, pid_t tid);
/* Nanoseconds since a call went on, whatever became of it. */
int64_t inflight_since(const struct inflight *f);
/* Asks the kernel which are over. */
void inflight_settle(struct inflight *f);
/* Can a thread of this number have made such a call, over after the last inflight_forget? */
bool inflight_was_by(const struct inflight *f, pid_t tid);
/* Nothing is asked any more with an `after` before that. */
void inflight_forget(struct inflight *f, int64_t until);
/* The machine's clock was set back: calls that are known can have been under way at any time. */
void inflight_doubt(struct inflight *f);
/* Nothing is asked any more. */
void inflight_end(struct inflight *f);
/* Was such a call under way at some time from `from` to `to`, which are times of files, and
 * not over yet at `after`, which is one of inflight_now? The clock of those files may differ
 * from this machine's by `slack`. */
bool inflight_during(const struct inflight *f, enum inflight_kind kind, int64_t after,
		     int64_t from, int64_t to, int64_t slack);

#endif
