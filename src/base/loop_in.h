/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two halves of the loop. loop.c has what is the same everywhere: timers, and the order
 * of things. One of loop_epoll.c and loop_kqueue.c asks the kernel.
 */
#ifndef CORDON_BASE_LOOP_IN_H
#define CORDON_BASE_LOOP_IN_H

#include "base/loop.h"

#define LOOP_ALWAYS UINT64_MAX

struct loop {
	int queue; /* the epoll, or the kqueue */
	struct loop_watch *direct;
	bool stopped;
	struct loop_timer *timers; /* sorted by due */
	struct loop_watch signals; /* where they come by a descriptor */
	sigset_t wanted; /* the signals */
	loop_signal_fn *on_signal;
	void *signal_data;
	sigset_t original_mask;
};

/* Opens the queue and takes the signals, which are blocked already. */
int loop_open_queue(struct loop *loop, struct cordon_error *err);
/* Takes in the signals that are still waiting, and closes. Accepts what failed half way. */
void loop_close_queue(struct loop *loop);
/* Waits at most so many microseconds (LOOP_ALWAYS: without end) and calls back for what is
 * ready. -1 with errno. */
int loop_take(struct loop *loop, uint64_t us);
/* The same in the unit of poll, rounded up. */
int loop_ms_of(uint64_t us);

#endif
