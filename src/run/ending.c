/* SPDX-License-Identifier: Apache-2.0 */
/* From the first reason to end to an empty process tree. */
#include <poll.h>

#include "run/state.h"

#include "run/terminal.h"

/* Time for what a finished command leaves behind to finish by itself: the tee of a
 * `> >(tee log)`, a daemon's own launcher. */
#define SETTLE_MS 100
/* Survivors get less grace than a command that was interrupted. */
#define SURVIVOR_GRACE_MS 500
#define KILL_AGAIN_MS 10
/* The kernel ends a namespace by itself, many processes one after the other. */
#define KILL_ENCLOSED_MS 300
/* Only a process stuck in the kernel lasts this long, where many have to give back much
 * memory on a busy machine. */
#define KILL_PATIENCE_MS 15000
/* For one that we may not signal there is nothing to wait for but its own end. */
#define REFUSED_PATIENCE_MS 3000

uint64_t run_grace(const struct run *run)
{
	uint64_t ms = run->request->grace_ms;

	return ms ? ms : RUN_GRACE_DEFAULT_MS;
}

static uint64_t short_grace(const struct run *run)
{
	return run_grace(run) < SURVIVOR_GRACE_MS ? run_grace(run) : SURVIVOR_GRACE_MS;
}

static void finish(struct run *run)
{
	loop_clear_timer(run->loop, &run->timeout);
	if (run->request->capture)
		capture_finish(&run->capture);
	loop_stop(run->loop);
}

void run_give_up(struct run *run, int sig)
{
	if (sig) {
		run->result.cause = RUN_CAUSE_signal;
		run->result.signal = sig;
		run->result.exit_code = -1;
		run->cause_set = true;
	} else if (!run->cause_set && !run->asked) {
		run->result.cause = RUN_CAUSE_timeout;
		run->cause_set = true;
	}
	finish(run);
}

static void reader_too_slow(void *data)
{
	run_give_up(data, 0);
}

/* As the command itself would have waited: until its time is up, or a signal comes. Nobody
 * waits long for what was ended. The user's keys are no longer the command's. */
static void wait_for_readers(struct run *run)
{
	uint64_t limit = run->request->limits.timeout_ms, spent = loop_now() - run->started;

	if (run->delivers)
		return;
	run->delivers = true;
	terminal_leave(run->terminal);
	run->timeout.fired = reader_too_slow;
	run->timeout.data = run;
	if (run->cause_set || run->asked)
		loop_set_timer(run->loop, &run->timeout, short_grace(run));
	else if (limit)
		loop_set_timer(run->loop, &run->timeout, limit > spent ? limit - spent : 0);
}

static void over(struct run *run)
{
	loop_clear_timer(run->loop, &run->phase_timer);
	loop_clear_timer(run->loop, &run->sample);
	if (!run->broken && run_parts_have_more(run))
		wait_for_readers(run);
	else
		finish(run);
}

void run_delivered(struct run *run)
{
	if (run->delivers)
		over(run);
}

/* A namespace that is ended takes the account of its processes along. */
static void note_usage(struct run *run)
{
	struct meter_reading now;

	meter_read(&run->meter, 0, &now);
	run->seen = run->result.usage;
	run->seen.user_ms += now.user_ms;
	run->seen.sys_ms += now.sys_ms;
	run->seen.max_rss_kb = meter_peak(&run->meter) / 1024;
}

/* The whole control group or namespace at once, so that nothing can fork away. */
static bool kill_enclosed(struct run *run)
{
	bool encloses = run->request->encloses && !run->main_gone;

	if (run->phase == RUN_PHASE_killing || (!encloses && run->cgroup.dir <= 0))
		return false;
	note_usage(run);
	return cgroup_kill(&run->cgroup) || (encloses && kill(run->main.pid, SIGKILL) == 0);
}

static void kill_all(struct run *run)
{
	bool enclosed = kill_enclosed(run);
	uint64_t spent;

	if (run->phase != RUN_PHASE_killing)
		run->killing_since = loop_now();
	run->phase = RUN_PHASE_killing;
	if (!enclosed)
		tree_kill(&run->tree, &run->refused);
	/* Ever less often: what did not die at once is waiting for the kernel. */
	spent = loop_now() - run->killing_since;
	loop_set_timer(run->loop, &run->phase_timer,
		       (enclosed ? KILL_ENCLOSED_MS : KILL_AGAIN_MS) + spent / 2);
}

static void ask_all(struct run *run, uint64_t patience_ms)
{
	run->phase = RUN_PHASE_asked;
	/* Nobody there, as while bubblewrap still prepares: there is nothing to wait for. */
	if (!tree_signal(&run->tree, SIGTERM))
		patience_ms = 0;
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
		ask_all(run, short_grace(run));
		return;
	case RUN_PHASE_asked:
		kill_all(run);
		run_progress(run);
		return;
	case RUN_PHASE_killing:
		if (loop_now() - run->killing_since <
		    (run->refused ? REFUSED_PATIENCE_MS : KILL_PATIENCE_MS)) {
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

/* Asking would let it go on for as long as the grace lasts. */
static bool ends_at_once(enum run_cause cause)
{
	return cause == RUN_CAUSE_memory || cause == RUN_CAUSE_cpu || cause == RUN_CAUSE_procs ||
	       cause == RUN_CAUSE_output || cause == RUN_CAUSE_traffic ||
	       cause == RUN_CAUSE_policy;
}

static void set_cause(struct run *run, enum run_cause cause)
{
	if (!run->main_gone && !run->cause_set) {
		run->result.cause = cause;
		run->cause_set = true;
	}
	run->phase_timer.fired = phase_over;
	run->phase_timer.data = run;
}

void run_insist(struct run *run)
{
	set_cause(run, RUN_CAUSE_signal);
	if (run->phase >= RUN_PHASE_asked)
		return;
	/* What the signal was not for has not been asked yet. */
	ask_all(run, short_grace(run));
}

bool run_is_beginning(const struct run *run)
{
	struct pollfd outcome = { .fd = run->main.error_fd, .events = POLLIN };

	/* An init gives up its end of the pipe only when it gets to run again. */
	return !run->main_gone && outcome.fd >= 0 && poll(&outcome, 1, 0) == 0 &&
	       !tree_command_executes(&run->tree);
}

void run_stop(struct run *run, enum run_cause cause)
{
	bool at_once = ends_at_once(cause) || run_is_beginning(run);

	set_cause(run, cause);
	if (at_once && run->phase < RUN_PHASE_killing)
		kill_all(run);
	else if (run->phase < RUN_PHASE_asked)
		ask_all(run, run_grace(run));
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
