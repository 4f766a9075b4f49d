/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop, as far as it is the same on every system: the mask, timers, the order. */
#include "base/loop_in.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

/* Every way to wait can take this. */
#define WAIT_MAX_US ((uint64_t)INT_MAX * 1000)

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t loop_now(void)
{
	return now_us() / 1000;
}

int loop_new(const sigset_t *signals, loop_signal_fn *on_signal, void *data,
	     struct loop **ret, struct cordon_error *err)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	int failed;

	if (!loop)
		return err_nomem(err, "loop");
	loop->wanted = *signals;
	loop->on_signal = on_signal;
	loop->signal_data = data;
	loop->queue = loop->signals.fd = -1;
	sigprocmask(SIG_SETMASK, NULL, &loop->original_mask);
	failed = sigprocmask(SIG_BLOCK, signals, NULL) < 0
			 ? err_set(err, CORDON_E_SYSTEM, errno, "loop", "cannot block signals")
			 : loop_open_queue(loop, err);
	if (failed) {
		loop_free(loop);
		return failed;
	}
	*ret = loop;
	return 0;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	/* A signal that came too late for its callback must not kill us now. */
	loop_close_queue(loop);
	sigprocmask(SIG_SETMASK, &loop->original_mask, NULL);
	free(loop);
}

const sigset_t *loop_original_mask(const struct loop *loop)
{
	return &loop->original_mask;
}

void loop_clear_timer(struct loop *loop, struct loop_timer *t)
{
	struct loop_timer **at = &loop->timers;

	if (!t->set)
		return;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	t->next = NULL;
	t->set = false;
}

void loop_set_timer(struct loop *loop, struct loop_timer *t, uint64_t ms)
{
	loop_set_timer_us(loop, t, ms > UINT64_MAX / 1000 ? UINT64_MAX : ms * 1000);
}

void loop_set_timer_us(struct loop *loop, struct loop_timer *t, uint64_t us)
{
	struct loop_timer **at = &loop->timers;
	uint64_t now = now_us();

	loop_clear_timer(loop, t);
	t->due = us > UINT64_MAX - now ? UINT64_MAX : now + us;
	while (*at && (*at)->due <= t->due)
		at = &(*at)->next;
	t->next = *at;
	t->set = true;
	*at = t;
}

int loop_ms_of(uint64_t us)
{
	return us == LOOP_ALWAYS ? -1 : (int)((us + 999) / 1000);
}

static uint64_t wait_us(const struct loop *loop)
{
	uint64_t now = now_us();

	if (!loop->timers)
		return LOOP_ALWAYS;
	if (loop->timers->due <= now)
		return 0;
	return loop->timers->due - now > WAIT_MAX_US ? WAIT_MAX_US : loop->timers->due - now;
}

static void fire_due(struct loop *loop)
{
	uint64_t now = now_us();

	while (!loop->stopped && loop->timers && loop->timers->due <= now) {
		struct loop_timer *t = loop->timers;

		loop_clear_timer(loop, t);
		t->fired(t->data);
	}
}

int loop_run(struct loop *loop, struct cordon_error *err)
{
	while (!loop->stopped) {
		if (loop_take(loop, wait_us(loop)) < 0 && errno != EINTR)
			return err_set(err, CORDON_E_SYSTEM, errno, "loop",
				       "cannot wait for events");
		fire_due(loop);
	}
	loop->stopped = false;
	return 0;
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
}
