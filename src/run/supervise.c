/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: everything is put in place, the command is started, the loop runs until no
 * process is left, and the result is drawn up. How a run is ended is in ending.c, the
 * signals are in forward.c, the limits in limits.c, the processes in tree.c.
 */
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

#define REST_MOMENT_NS 1000000
/* Only a process stuck in the kernel, or one that we may not signal, lasts this long. */
#define REST_PATIENCE_MS 3000

struct loop *run_loop(struct run *run)
{
	return run->loop;
}

int run_disown(struct run *run, pid_t pid, struct cordon_error *err)
{
	return tree_disown(&run->tree, pid, err);
}

void run_leave_out(struct run *run, pid_t pid)
{
	meter_leave_out(&run->meter, pid);
}

void run_pause_output(struct run *run, bool pause)
{
	struct cordon_error why;

	if (capture_pause(&run->capture, pause, &why) < 0)
		run_break(run, &why);
}

struct violations *run_violations(struct run *run)
{
	return run->request->violations;
}

bool run_is_killed(const struct run *run)
{
	return run->phase == RUN_PHASE_killing;
}

/* A refused hand-over is known before the child says that it was refused. */
static void read_outcome(struct run *run)
{
	struct cordon_error why;
	int outcome = spawn_check(&run->main, &why);

	if (outcome == SPAWN_PENDING || run->failed)
		return;
	/* What was ended before it began had no time to hand over everything, or failed over it. */
	if (run->cause_set)
		return;
	if (outcome == 0 && run_parts_complete(run, &why) < 0) {
		run_break(run, &why);
	} else if (outcome != 0) {
		run->failed = true;
		run->result.error = why;
	}
}

/* Whoever is at the other end waits for ours, too. What cannot be let go is held. */
static void let_go(const struct run *run)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDOUT_FILENO; fd++)
		if (run->request->lets_go & 1u << fd)
			dup2(null, fd);
}

static void command_began(void *data, uint32_t events)
{
	struct run *run = data;
	char byte;

	(void)events;
	loop_unwatch(run->loop, &run->began_watch);
	if (read(run->began_watch.fd, &byte, 1) == 1)
		let_go(run);
}

static void outcome_ready(void *data, uint32_t events)
{
	struct run *run = data;

	(void)events;
	loop_unwatch(run->loop, &run->outcome_watch);
	read_outcome(run);
	if (!run->request->began_fd && !run->failed && !run->broken)
		let_go(run);
}

static void main_ended(void *data, uint32_t events)
{
	struct run *run = data;

	(void)events;
	run_progress(run);
}

static uint64_t to_ms(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000;
}

static void note_main_end(struct run *run, const siginfo_t *info)
{
	run->main_gone = true;
	loop_unwatch(run->loop, &run->main_watch);
	loop_unwatch(run->loop, &run->outcome_watch);
	loop_unwatch(run->loop, &run->began_watch);
	read_outcome(run);
	loop_clear_timer(run->loop, &run->timeout);
	loop_clear_timer(run->loop, &run->insist);
	run->result.duration_ms = loop_now() - run->started;
	if (info->si_code == CLD_EXITED)
		run->result.exit_code = info->si_status;
	else
		run->result.signal = info->si_status;
}

static void process_reaped(void *data, const siginfo_t *info, const struct rusage *usage)
{
	struct run *run = data;

	run->result.usage.user_ms += to_ms(usage->ru_utime);
	run->result.usage.sys_ms += to_ms(usage->ru_stime);
	if ((uint64_t)usage->ru_maxrss > run->result.usage.max_rss_kb)
		run->result.usage.max_rss_kb = (uint64_t)usage->ru_maxrss;
	if (info->si_pid == run->main.pid)
		note_main_end(run, info);
}

static void output_limit_passed(void *data)
{
	run_output_passed(data);
}

static void violation_seen(void *data, const struct violation *v)
{
	struct run *run = data;

	if (violation_counts(v))
		run_stop(run, RUN_CAUSE_policy);
}

static void listen_to_violations(struct run *run)
{
	run->listener = (struct violation_listener){ .first = violation_seen, .data = run };
	if (run->request->violations && run->request->end_at_violation)
		violations_listen(run->request->violations, &run->listener);
}

static int open_streams(struct run *run, struct spawn_fd *fds, size_t *n_fds, int *null_fd,
			struct cordon_error *err)
{
	const struct run_request *q = run->request;
	int failed;

	if (q->stdin_null) {
		*null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (*null_fd < 0)
			return err_set(err, CORDON_E_IO, errno, "run", "/dev/null");
		fds[(*n_fds)++] = (struct spawn_fd){ *null_fd, 0 };
	}
	if (!q->capture)
		return 0;
	run->capture.limit = q->limits.output;
	run->capture.on_limit = output_limit_passed;
	run->capture.sink = q->sink;
	run->capture.data = run;
	failed = capture_open(&run->capture, run->loop,
			      q->capture_max ? q->capture_max : RUN_CAPTURE_DEFAULT, err);
	fds[(*n_fds)++] = (struct spawn_fd){ run->capture.out.child_end, 1 };
	fds[(*n_fds)++] = (struct spawn_fd){ run->capture.err.child_end, 2 };
	return failed;
}

/* What was started for a run that is not to be: a wrapper that is killed may leave us a
 * child which it had no time to tie to its own life. Nothing waits for these in the loop. */
static void end_rest(struct run *run)
{
	const struct timespec moment = { .tv_nsec = REST_MOMENT_NS };
	uint64_t end = loop_now() + REST_PATIENCE_MS;

	while (tree_reap(&run->tree) && loop_now() < end) {
		tree_kill(&run->tree, &run->refused);
		if (tree_reap(&run->tree))
			nanosleep(&moment, NULL);
	}
}

static int start_main(struct run *run, const struct spawn_request *spawn,
		      struct cordon_error *err)
{
	const struct run_request *q = run->request;
	int failed = q->start ? q->start(q->start_data, run, spawn, &run->main, err)
			      : spawn_start(spawn, &run->main, err);

	if (failed)
		return failed;
	capture_started(&run->capture);
	run->tree.main = run->main.pid;
	run->main_watch = (struct loop_watch){
		.fd = run->main.pidfd, .ready = main_ended, .data = run
	};
	run->outcome_watch = (struct loop_watch){
		.fd = run->main.error_fd, .ready = outcome_ready, .data = run
	};
	failed = loop_watch(run->loop, &run->main_watch, POLLIN, err);
	/* A backend may have waited for the outcome itself. */
	if (!failed && run->main.error_fd >= 0)
		failed = loop_watch(run->loop, &run->outcome_watch, POLLIN, err);
	run->began_watch = (struct loop_watch){
		.fd = q->began_fd, .ready = command_began, .data = run
	};
	if (!failed && q->began_fd && q->lets_go)
		failed = loop_watch(run->loop, &run->began_watch, POLLIN, err);
	if (!failed)
		failed = run_begin_parts(run, err);
	if (failed)
		spawn_discard(&run->main);
	return failed;
}

static int start_command(struct run *run, const sigset_t *ignored, struct cordon_error *err)
{
	const struct run_request *q = run->request;
	struct spawn_rlimit rlimits[RUN_RLIMITS_MAX];
	struct spawn_fd fds[3];
	autoclose int null_fd = -1;
	struct spawn_request spawn = {
		.program = q->program, .argv = q->argv, .envp = q->envp,
		.cwd = q->cwd, .cwd_fd = q->cwd_fd,
		.new_session = q->new_session, .die_with_parent = true,
		.ignored = ignored, .mask = q->mask ? q->mask : loop_original_mask(run->loop),
		.fds = fds, .rlimits = rlimits,
	};
	int failed = open_streams(run, fds, &spawn.n_fds, &null_fd, err);

	if (failed)
		return failed;
	spawn.n_rlimits = run_rlimits(&q->limits, rlimits);
	run_open_cgroup(run);
	spawn.cgroup_fd = run->cgroup.dir;
	run->started = loop_now();
	failed = start_main(run, &spawn, err);
	if (!run->main.in_cgroup)
		cgroup_close(&run->cgroup);
	return failed;
}

/* Whatever fails in here, the command was not executed. */
static int set_up(struct run *run, const sigset_t *ignored, struct cordon_error *err)
{
	sigset_t signals;
	int failed = spawn_sane_stdio(err);

	if (failed)
		return failed;
	run_signal_set(&signals);
	failed = loop_new(&signals, run_on_signal, run, &run->loop, err);
	if (failed)
		return failed;
	run->tree.wrappers = run->request->wrappers;
	run->tree.reaped = process_reaped;
	run->tree.data = run;
	failed = tree_open(&run->tree, err);
	if (failed)
		return failed;
	if (run->request->limits.memory)
		meter_open(&run->meter, &run->tree, run->request->places);
	run->meter.tree = &run->tree;
	if (run->request->limits.cpu_ms)
		meter_open_clock(&run->meter);
	failed = start_command(run, ignored, err);
	if (failed) {
		end_rest(run);
		return failed;
	}
	run_start_limits(run);
	listen_to_violations(run);
	return 0;
}

/* The loop ends when no process is left to wait for, or none that we may kill. With the
 * command in neither group its end was never learnt: waiting itself failed. */
static int run_to_end(struct run *run, struct cordon_error *err)
{
	int failed = loop_run(run->loop, err);

	if (run->broken) {
		*err = run->result.error;
		return -err->code;
	}
	if (failed || run->main_gone || run->result.left)
		return failed;
	return err_set(err, CORDON_E_SYSTEM, 0, "run", "cannot wait for the command");
}

/* The loop itself failed: nothing may be left running unsupervised. */
static void abandon(struct run *run)
{
	if (run->main_gone)
		return;
	tree_kill(&run->tree, &run->refused);
	spawn_discard(&run->main);
	end_rest(run);
}

static void take_streams(struct run *run)
{
	run->result.captured = run->request->capture;
	run->result.out.text = run->capture.out.text;
	run->result.err.text = run->capture.err.text;
	run->result.out.truncated = run->capture.out.truncated;
	run->result.err.truncated = run->capture.err.truncated;
	buf_init(&run->capture.out.text, 0);
	buf_init(&run->capture.err.text, 0);
}

/* bubblewrap tells by its own status that a signal ended the command, as a shell does. */
static enum run_cause cause_of_status(const struct run_request *q, int status)
{
	enum run_cause cause = q->wrappers > 1 ? run_cause_of_signal(&q->limits, status - 128)
					       : RUN_CAUSE_exited;

	return cause == RUN_CAUSE_signal ? RUN_CAUSE_exited : cause;
}

static void name_cause(struct run *run)
{
	struct run_result *r = &run->result;

	if (run->failed) {
		r->cause = RUN_CAUSE_setup;
		r->exit_code = -1;
		r->signal = 0;
	} else if (run->ended_by) {
		/* The KILL is ours; nobody but us could hear the other. */
		r->cause = RUN_CAUSE_signal;
		r->exit_code = -1;
		r->signal = run->ended_by;
	} else if (run->cause_set && r->cause != RUN_CAUSE_signal)
		return;
	else if (cgroup_ended_by_memory(&run->cgroup))
		r->cause = RUN_CAUSE_memory;
	else if (r->signal)
		r->cause = run_cause_of_signal(&run->request->limits, r->signal);
	else
		r->cause = cause_of_status(run->request, r->exit_code);
}

static void at_least(uint64_t *value, uint64_t seen)
{
	if (*value < seen)
		*value = seen;
}

static void name_usage(struct run *run)
{
	uint64_t user, sys;

	if (cgroup_times(&run->cgroup, &user, &sys)) {
		at_least(&run->result.usage.user_ms, user);
		at_least(&run->result.usage.sys_ms, sys);
	}
	run->result.full = run->result.exit_code > 0 && meter_place_is_full(&run->meter);
	at_least(&run->result.usage.user_ms, run->seen.user_ms);
	at_least(&run->result.usage.sys_ms, run->seen.sys_ms);
	at_least(&run->result.usage.max_rss_kb, run->seen.max_rss_kb);
}

static void close_run(struct run *run)
{
	if (run->request->violations)
		violations_unlisten(run->request->violations, &run->listener);
	capture_close(&run->capture);
	cgroup_close(&run->cgroup);
	fd_close(&run->handover_watch.fd);
	meter_close(&run->meter);
	fd_close(&run->main.pidfd);
	fd_close(&run->main.error_fd);
	tree_close(&run->tree);
	loop_free(run->loop);
}

static int supervise(const struct run_request *request, const sigset_t *ignored,
		     struct run_result *ret, struct cordon_error *err)
{
	struct run run = {
		.request = request,
		.main = { .pidfd = -1, .error_fd = -1 },
		.handover_watch = { .fd = request->handover_fd > 0 ? request->handover_fd : -1 },
	};
	int failed = 0;

	run.result.exit_code = -1;
	run.failed = set_up(&run, ignored, &run.result.error) != 0;
	if (!run.failed) {
		failed = run_to_end(&run, err);
		if (failed)
			abandon(&run);
	}
	run_end_parts(&run);
	/* Also by what a part still had to do. */
	if (!failed && run.broken) {
		*err = run.result.error;
		failed = -err->code;
	}
	if (!failed) {
		name_cause(&run);
		name_usage(&run);
		if (request->capture)
			take_streams(&run);
		*ret = run.result;
	}
	close_run(&run);
	return failed;
}

int run_supervise(const struct run_request *request, struct run_result *ret,
		  struct cordon_error *err)
{
	struct sigaction before, plain = { .sa_handler = SIG_DFL };
	sigset_t ignored;
	int failed;

	/* A caller that ignores SIGCHLD would have its children reaped by the kernel,
	 * and their status with them. The command still gets what the caller had. */
	if (sigaction(SIGCHLD, &plain, &before) < 0) {
		int unused = request->handover_fd > 0 ? request->handover_fd : -1;

		err_set(err, CORDON_E_SYSTEM, errno, "run",
			"cannot take the signals of the command");
		fd_close(&unused);
		return -err->code;
	}
	sigemptyset(&ignored);
	if (before.sa_handler == SIG_IGN)
		sigaddset(&ignored, SIGCHLD);
	failed = supervise(request, &ignored, ret, err);
	sigaction(SIGCHLD, &before, NULL);
	return failed;
}
