/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight: when calls that make names were under way.
 *
 * A call that goes on makes its name between then and its end, which nobody tells. It is
 * over when its thread makes another one that is seen, sits in a different call, or is gone; a
 * thread that is merely running, or waits for a processor, may still be in it until it has run for
 * longer than any call does. So the question is answered in doubt with yes.
 */
#ifndef CORDON_RUN_INFLIGHT_H
#define CORDON_RUN_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a call can make. INFLIGHT_NODE: anything but a directory, also a file. */
enum inflight_kind { INFLIGHT_FILE, INFLIGHT_DIR, INFLIGHT_NODE, INFLIGHT_MOVE, INFLIGHT_KINDS };

#define INFLIGHT_OPEN_MAX 256
#define INFLIGHT_SPANS_MAX 256 /* even */

struct inflight_span {
	int64_t from, to; /* nanoseconds, as times of files */
};

struct inflight {
	struct inflight_call {
		pid_t tid;
		int nr;
		enum inflight_kind kind;
		int64_t from;
		int64_t had_run; /* when it was first looked at; 0: not yet */
	} open[INFLIGHT_OPEN_MAX];
	size_t n_open;
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
/* Asks the kernel which are over. */
void inflight_settle(struct inflight *f);
/* Was such a call under way at some time from `from` to `to`, which are times of files, and
 * not over yet at `after`, which is one of inflight_now? The clock of those files may differ
 * from this machine's by `slack`. */
bool inflight_during(const struct inflight *f, enum inflight_kind kind, int64_t after,
		     int64_t from, int64_t to, int64_t slack);

#endif
