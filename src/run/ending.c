/* SPDX-License-Identifier: Apache-2.0 */
/* From the first reason to end to an empty process tree. */
#include "run/state.h"

/* Time for what a finished command leaves behind to finish by itself: the tee of a
 * `> >(tee log)`, a daemon's own launcher. */
#define SETTLE_MS 100
/* Survivors get less grace than a command that was interrupted. */
#define SURVIVOR_GRACE_MS 500
#define KILL_AGAIN_MS 10
/* Only a process stuck in the kernel, or one we may not signal, lasts this long. */
#define KILL_PATIENCE_MS 3000

static uint64_t grace(const struct run *run)
{
	uint64_t ms = run->request->grace_ms;

	return ms ? ms : RUN_GRACE_DEFAULT_MS;
}

static void over(struct run *run)
{
	loop_clear_timer(run->loop, &run->phase_timer);
	if (run->request->capture)
		capture_finish(&run->capture);
	loop_stop(run->loop);
}

static void kill_all(struct run *run)
{
	uint64_t spent;

	if (run->phase != RUN_PHASE_killing)
		run->killing_since = loop_now();
	run->phase = RUN_PHASE_killing;
	tree_kill(&run->tree);
	/* Ever less often: what did not die at once is waiting for the kernel. */
	spent = loop_now() - run->killing_since;
	loop_set_timer(run->loop, &run->phase_timer, KILL_AGAIN_MS + spent / 2);
}

static void ask_all(struct run *run, uint64_t patience_ms)
{
	run->phase = RUN_PHASE_asked;
	tree_signal(&run->tree, SIGTERM);
	/* A stopped process cannot act on it. */
	tree_signal(&run->tree, SIGCONT);
	loop_set_timer(run->loop, &run->phase_timer, patience_ms);
}

static void phase_over(void *data)
{
	struct run *run = data;

	switch (run->phase) {
	case RUN_PHASE_running:
		return;
	case RUN_PHASE_settling:
		run->result.survivors = tree_count(&run->tree);
		ask_all(run, grace(run) < SURVIVOR_GRACE_MS ? grace(run) : SURVIVOR_GRACE_MS);
		return;
	case RUN_PHASE_asked:
		kill_all(run);
		run_progress(run);
		return;
	case RUN_PHASE_killing:
		if (loop_now() - run->killing_since < KILL_PATIENCE_MS) {
			kill_all(run);
			run_progress(run);
			return;
		}
		run->result.left = tree_count(&run->tree);
		over(run);
		return;
	}
}

void run_progress(struct run *run)
{
	run->phase_timer.fired = phase_over;
	run->phase_timer.data = run;
	if (!tree_reap(&run->tree)) {
		over(run);
		return;
	}
	if (!run->main_gone || run->phase != RUN_PHASE_running)
		return;
	run->phase = RUN_PHASE_settling;
	loop_set_timer(run->loop, &run->phase_timer, SETTLE_MS);
}

void run_stop(struct run *run, enum run_cause cause)
{
	if (!run->main_gone && !run->cause_set) {
		run->result.cause = cause;
		run->cause_set = true;
	}
	run->phase_timer.fired = phase_over;
	run->phase_timer.data = run;
	if (run->phase < RUN_PHASE_asked)
		ask_all(run, grace(run));
}

void run_break(struct run *run, const struct cordon_error *why)
{
	if (run->broken)
		return;
	run->broken = true;
	run->result.error = *why;
	if (run->phase == RUN_PHASE_killing)
		return;
	/* From the loop, for this may be called while processes are taken in. */
	run->phase = RUN_PHASE_asked;
	run->phase_timer.fired = phase_over;
	run->phase_timer.data = run;
	loop_set_timer(run->loop, &run->phase_timer, 0);
}
