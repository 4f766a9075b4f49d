/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop: the single-threaded event loop: descriptors, timers and signals.
 *
 * Watches and timers live in the caller's memory and must stay in place while they
 * are active; the loop allocates nothing for them and never closes a descriptor it
 * was given. A callback may add, change and remove anything, itself included. A
 * process (struct spawned) is watched like any other descriptor: it is readable when the
 * process ends.
 *
 * Signals given to loop_new are blocked from then on and arrive as callbacks;
 * loop_free takes in what is still pending and restores the mask.
 */
#ifndef CORDON_BASE_LOOP_H
#define CORDON_BASE_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;

struct loop_watch {
	int fd;
	void (*ready)(void *data, uint32_t events); /* POLLIN, POLLHUP ... */
	void *data;
	bool direct; /* woken with the fewest steps; one such watch at a time */
	bool active; /* zero before the first loop_watch */
	uint32_t events; /* what it is watched for, while it is active */
};

struct loop_timer {
	void (*fired)(void *data); /* the timer is no longer set when this is called */
	void *data;
	uint64_t due; /* microseconds since the start of CLOCK_MONOTONIC */
	struct loop_timer *next;
	bool set; /* zero before the first loop_set_timer */
};

/* by_terminal: it came from the terminal's driver and not from another process, as far as
 * that can be known. */
typedef void loop_signal_fn(void *data, int sig, bool by_terminal);

int loop_new(const sigset_t *signals, loop_signal_fn *on_signal, void *data,
	     struct loop **ret, struct cordon_error *err);
void loop_free(struct loop *loop); /* accepts NULL */
/* The mask as it was before loop_new: what a child should start with. */
const sigset_t *loop_original_mask(const struct loop *loop);

int loop_watch(struct loop *loop, struct loop_watch *w, uint32_t events,
	       struct cordon_error *err);
void loop_unwatch(struct loop *loop, struct loop_watch *w); /* accepts an inactive one */

/* Fires once, `ms` from now; a timer that is already set is moved. */
void loop_set_timer(struct loop *loop, struct loop_timer *t, uint64_t ms);
/* The same in microseconds; kept to those only while a direct watch is active. */
void loop_set_timer_us(struct loop *loop, struct loop_timer *t, uint64_t us);
void loop_clear_timer(struct loop *loop, struct loop_timer *t);
uint64_t loop_now(void); /* CLOCK_MONOTONIC in milliseconds */

/* Runs until a callback calls loop_stop; a stop from before counts too. */
int loop_run(struct loop *loop, struct cordon_error *err);
void loop_stop(struct loop *loop);

#endif
