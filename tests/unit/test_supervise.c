/* SPDX-License-Identifier: Apache-2.0 */
/* run: exit status, endings, capture, limits, and that nothing is left. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/supervise.h"
#include "skip.h"
#include "supervise_shell.h"

static void assert_no_child_left(void)
{
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_assert_eq(errno, ECHILD);
}

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Pipe that every process of a run inherits; at its end nobody of the run is left. */
struct witness {
	int read_end, write_end;
};

static int start_with_witness(void *data, struct run *run, const struct spawn_request *request,
			      struct spawned *ret, struct cordon_error *err)
{
	struct witness *w = data;
	struct spawn_request changed = *request;
	struct spawn_fd fds[8];

	(void)run;
	memcpy(fds, request->fds, request->n_fds * sizeof(*fds));
	fds[changed.n_fds++] = (struct spawn_fd){ w->write_end, 9 };
	changed.fds = fds;
	return spawn_start(&changed, ret, err);
}

static void watch(struct run_request *q, struct witness *w)
{
	cr_assert_eq(fd_pipe(&w->read_end, &w->write_end), 0);
	q->start = start_with_witness;
	q->start_data = w;
}

static void assert_all_dead(struct witness *w)
{
	char c;

	fd_close(&w->write_end);
	fcntl(w->read_end, F_SETFL, O_NONBLOCK);
	cr_assert_eq(read(w->read_end, &c, 1), 0, "a process of the run still lives");
	fd_close(&w->read_end);
	assert_no_child_left();
}

/* As bubblewrap does that is killed between its fork and the tie to its life: the start
 * fails, and the wrapper's child lives on as an orphan. */
static int start_and_orphan(void *data, struct run *run, const struct spawn_request *request,
			    struct spawned *ret, struct cordon_error *err)
{
	struct spawned wrapper;
	int failed = start_with_witness(data, run, request, &wrapper, err);
	siginfo_t info;

	(void)ret;
	if (failed)
		return failed;
	/* It has ended, and its child was left. */
	waitid(P_PID, (id_t)wrapper.pid, &info, WEXITED | WNOWAIT);
	spawn_discard(&wrapper);
	return err_set(err, CORDON_E_SYSTEM, 0, "test", "not to be");
}

Test(status, a_start_that_fails_leaves_no_orphan)
{
	struct run_request q = shell("sleep 300 & (sleep 300 & sleep 300) & exit");
	struct run_result r;
	struct witness w;

	watch(&q, &w);
	q.start = start_and_orphan;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_setup);
	cr_assert_str_eq(r.error.message, "not to be");
	run_result_free(&r);
	assert_all_dead(&w);
}

Test(status, is_the_commands_own)
{
	cr_assert_eq(status_of("exit 0"), 0);
	cr_assert_eq(status_of("exit 1"), 1);
	cr_assert_eq(status_of("exit 124"), 124);
	cr_assert_eq(status_of("exit 255"), 255);
	cr_assert_eq(status_of("kill -TERM $$"), 143);
	cr_assert_eq(status_of("kill -KILL $$"), 137);
	cr_assert_eq(status_of("kill -SEGV $$"), 139);
}

Test(status, of_what_cannot_be_executed)
{
	struct run_request q = shell("");
	struct run_result r;

	q.program = "/no-such-path";
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_setup);
	cr_assert_eq(r.exit_code, -1);
	cr_assert_eq(run_result_status(&r), 127);
	cr_assert(strstr(r.error.message, "/no-such-path"));
	run_result_free(&r);
	q.program = "/etc/passwd";
	supervise(&q, &r);
	cr_assert_eq(run_result_status(&r), 126);
	run_result_free(&r);
	q = shell("exit 0");
	q.cwd = "/no-such-path";
	supervise(&q, &r);
	cr_assert_eq(run_result_status(&r), 125);
	run_result_free(&r);
	assert_no_child_left();
}

static int refuse(void *data, struct run *run, const struct spawn_request *request,
		  struct spawned *ret, struct cordon_error *err)
{
	(void)data, (void)run, (void)request, (void)ret;
	return err_set(err, CORDON_E_UNAVAILABLE, 0, "probe", "no namespaces");
}

Test(status, of_a_backend_that_refuses)
{
	struct run_request q = shell("exit 0");
	struct run_result r;

	q.start = refuse;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_setup);
	cr_assert_eq(run_result_status(&r), 125);
	run_result_free(&r);
}

Test(timeout, ends_the_whole_tree_even_a_daemon_that_ignores_term)
{
	struct run_request q = shell("trap '' TERM; (setsid sh -c "
				     "'trap \"\" TERM HUP; (while :; do sleep 9; done) & ' &) ;"
				     " while :; do sleep 9; done");
	struct witness w;
	struct run_result r;
	uint64_t start = loop_now();

	watch(&q, &w);
	q.limits.timeout_ms = 300;
	q.grace_ms = 100;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_timeout);
	cr_assert_eq(run_result_status(&r), 124);
	cr_assert_eq(r.left, 0);
	cr_assert_geq(loop_now() - start, 400);
	cr_assert_lt(loop_now() - start, 3000);
	assert_all_dead(&w);
	run_result_free(&r);
}

Test(timeout, lets_the_command_clean_up)
{
	struct run_request q = shell("trap 'echo bye; exit 3' TERM; echo up; sleep 60 & wait");
	struct run_result r;

	q.limits.timeout_ms = 200;
	q.grace_ms = 30000;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_timeout);
	cr_assert_eq(r.exit_code, 3);
	cr_assert_str_eq(r.out.text.p, "up\nbye\n");
	cr_assert_lt(r.duration_ms, 5000);
	run_result_free(&r);
}

Test(timeout, ends_a_stopped_command)
{
	struct run_request q = shell("kill -STOP $$");
	struct run_result r;

	q.limits.timeout_ms = 100;
	q.grace_ms = 5000;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_timeout);
	cr_assert_eq(r.signal, SIGTERM);
	cr_assert_lt(r.duration_ms, 3000);
	run_result_free(&r);
}

/* Two lines of processes that each live only until their successor is born. */
static int run_away(void *data, int error_fd)
{
	(void)data;
	close(error_fd);
	signal(SIGTERM, SIG_IGN);
	if (fork() == 0)
		setsid();
	while (fork() <= 0)
		;
	_exit(0);
}

static int start_runaway(void *data, struct run *run, const struct spawn_request *request,
			 struct spawned *ret, struct cordon_error *err)
{
	struct spawn_request changed = *request;
	struct witness *w = data;
	struct spawn_fd fds[] = { { w->write_end, 9 } };

	(void)run;
	changed.child = run_away;
	changed.fds = fds;
	changed.n_fds = 1;
	return spawn_start(&changed, ret, err);
}

Test(timeout, catches_processes_that_fork_away)
{
	struct run_request q = shell("");
	struct run_result r;
	struct witness w;

	watch(&q, &w);
	q.start = start_runaway;
	q.capture = false;
	q.grace_ms = 100;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_exited);
	/* How many there were cannot be told: each look finds others. */
	cr_assert_eq(r.left, 0);
	assert_all_dead(&w);
	run_result_free(&r);
}

/* Doubles until told to stop or until 512 exist. */
static int multiply(void *data, int error_fd)
{
	(void)data;
	close(error_fd);
	signal(SIGTERM, SIG_IGN);
	for (int i = 0; i < 9; i++)
		if (fork() < 0)
			break;
	while (pause())
		;
	return 0;
}

static int start_bomb(void *data, struct run *run, const struct spawn_request *request,
		      struct spawned *ret, struct cordon_error *err)
{
	struct spawn_request changed = *request;
	struct witness *w = data;
	struct spawn_fd fds[] = { { w->write_end, 9 } };

	(void)run;
	changed.child = multiply;
	changed.fds = fds;
	changed.n_fds = 1;
	return spawn_start(&changed, ret, err);
}

Test(limits, too_many_processes)
{
	struct run_request q = shell("");
	struct run_result r;
	struct witness w;

	watch(&q, &w);
	q.start = start_bomb;
	q.capture = false;
	q.grace_ms = 50;
	q.limits.procs = 100;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_procs);
	cr_assert_eq(run_result_status(&r), 137);
	cr_assert_eq(r.left, 0);
	assert_all_dead(&w);
	run_result_free(&r);
}

Test(survivors, do_not_hold_the_pipe_and_are_counted)
{
	struct run_request q = shell("echo hello; sleep 600 & exit 4");
	struct run_result r;
	struct witness w;

	watch(&q, &w);
	supervise(&q, &r);
	cr_assert_eq(run_result_status(&r), 4);
	cr_assert_eq(r.survivors, 1);
	cr_assert_str_eq(r.out.text.p, "hello\n");
	assert_all_dead(&w);
	run_result_free(&r);
}

Test(survivors, may_finish_what_they_are_doing)
{
	struct run_request q = shell("(sleep 0.02; echo late) & exit 0");
	struct run_result r;

	supervise(&q, &r);
	cr_assert_str_eq(r.out.text.p, "late\n");
	cr_assert_eq(r.survivors, 0);
	run_result_free(&r);
}

Test(survivors, children_from_before_are_left_alone)
{
	struct run_request q = shell("sleep 600 & exit 0");
	struct run_result r;
	pid_t mine = fork();
	int status;

	if (mine == 0)
		for (;;)
			pause();
	supervise(&q, &r);
	cr_assert_eq(r.survivors, 1);
	cr_assert_eq(kill(mine, 0), 0);
	cr_assert_eq(waitpid(mine, &status, WNOHANG), 0);
	kill(mine, SIGKILL);
	cr_assert_eq(waitpid(mine, &status, 0), mine);
	assert_no_child_left();
	run_result_free(&r);
}

Test(capture, ten_megabytes_on_both_streams)
{
	struct run_request q = shell("i=0; while [ $i -lt 160 ]; do "
				     "head -c 65536 /dev/zero | tr '\\0' o; "
				     "head -c 65536 /dev/zero | tr '\\0' e >&2; "
				     "i=$((i+1)); done");
	struct run_result r;

	supervise(&q, &r);
	cr_assert_eq(run_result_status(&r), 0);
	cr_assert_eq(r.out.text.n, 160 * 65536);
	cr_assert_eq(r.err.text.n, 160 * 65536);
	cr_assert_eq(strspn(r.out.text.p, "o"), r.out.text.n);
	cr_assert_eq(strspn(r.err.text.p, "e"), r.err.text.n);
	cr_assert(!r.out.truncated && !r.err.truncated);
	run_result_free(&r);
}

Test(capture, keeps_a_bounded_part)
{
	struct run_request q = shell("echo 12345678; echo ab >&2");
	struct run_result r;

	q.capture_max = 5;
	supervise(&q, &r);
	cr_assert_eq(run_result_status(&r), 0);
	cr_assert_str_eq(r.out.text.p, "12345");
	cr_assert(r.out.truncated);
	cr_assert_str_eq(r.err.text.p, "ab\n");
	cr_assert_not(r.err.truncated);
	run_result_free(&r);
}

Test(capture, the_output_limit_ends_the_run)
{
	struct run_request q = shell("trap '' PIPE; while :; do echo x; done");
	struct run_result r;

	q.limits.output = 1001;
	q.grace_ms = 100;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_output);
	cr_assert_eq(run_result_status(&r), 137);
	cr_assert_eq(r.out.text.n, 1001);
	cr_assert(r.out.truncated);
	run_result_free(&r);
}

Test(capture, exactly_the_limit_is_within_it)
{
	struct run_request q = shell("printf 1234; printf 56 >&2");
	struct run_result r;

	q.limits.output = 6;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_exited);
	cr_assert_not(r.out.truncated);
	run_result_free(&r);
}

Test(capture, a_command_that_closes_its_streams_early)
{
	struct run_request q = shell("echo a; exec >&- 2>&-; sleep 0.1; exit 6");
	struct run_result r;

	supervise(&q, &r);
	cr_assert_eq(run_result_status(&r), 6);
	cr_assert_str_eq(r.out.text.p, "a\n");
	run_result_free(&r);
}

Test(passthrough, a_closed_pipe_kills_the_command_as_usual)
{
	struct run_request q = shell("while :; do echo x; done");
	struct run_result r;
	int ends[2], saved = dup(1);

	q.capture = false;
	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	close(ends[0]);
	dup2(ends[1], 1);
	close(ends[1]);
	supervise(&q, &r);
	dup2(saved, 1);
	close(saved);
	cr_assert_eq(run_result_status(&r), 128 + SIGPIPE);
	cr_assert_not(r.captured);
	run_result_free(&r);
}

Test(limits, processor_time_of_the_tree)
{
	/* Two busy children, each far below the limit of one process. */
	struct run_request q = shell("(while :; do :; done) & while :; do :; done");
	struct run_result r;

	q.limits.cpu_ms = 300;
	q.limits.timeout_ms = 20000;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_cpu);
	cr_assert_eq(run_result_status(&r), 137);
	cr_assert_geq(r.usage.user_ms + r.usage.sys_ms, 200);
	run_result_free(&r);
}

Test(limits, memory_of_the_tree)
{
	struct run_request q = shell("x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 20");
	struct run_result r;

	q.limits.memory = 30u << 20;
	q.limits.timeout_ms = 15000;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_memory);
	run_result_free(&r);
}

Test(limits, hold_while_the_tree_is_asked_to_end)
{
	struct run_request q = shell("trap '' TERM; sleep 0.3; "
				     "x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 60");
	struct run_result r;

	q.limits.memory = 30u << 20;
	q.limits.timeout_ms = 100;
	q.grace_ms = 40000;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_timeout);
	cr_assert_lt(r.duration_ms, 30000);
	run_result_free(&r);
}

Test(limits, files_and_file_size_and_core)
{
	struct run_request q = shell("ulimit -n; ulimit -f; ulimit -c");
	struct run_result r;

	q.limits.files = 33;
	q.limits.file_size = 1024 * 512;
	supervise(&q, &r);
	cr_assert_str_eq(r.out.text.p, "33\n1024\n0\n");
	run_result_free(&r);
	q = shell("head -c 2000 /dev/zero > \"${TMPDIR:-/tmp}/cordon-fsize\"; s=$?; "
		  "rm \"${TMPDIR:-/tmp}/cordon-fsize\"; exit $s");
	q.limits.file_size = 1000;
	supervise(&q, &r);
	cr_assert_eq(run_result_status(&r), 128 + SIGXFSZ);
	run_result_free(&r);
	q = shell("exec head -c 2000 /dev/zero > \"${TMPDIR:-/tmp}/cordon-fsize\"");
	q.limits.file_size = 1000;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_file_size);
	cr_assert_eq(run_result_status(&r), 137);
	run_result_free(&r);
	cr_assert_eq(status_of("rm \"${TMPDIR:-/tmp}/cordon-fsize\""), 0);
}

/* A callback of somebody who watches along, as the broker will. */
static void veto(void *data)
{
	run_stop(data, RUN_CAUSE_policy);
	run_stop(data, RUN_CAUSE_timeout);
}

static struct loop_timer veto_timer;

static int start_with_veto(void *data, struct run *run, const struct spawn_request *request,
			   struct spawned *ret, struct cordon_error *err)
{
	(void)data;
	veto_timer = (struct loop_timer){ .fired = veto, .data = run };
	loop_set_timer(run_loop(run), &veto_timer, 20);
	return spawn_start(request, ret, err);
}

Test(stop, the_first_cause_counts)
{
	struct run_request q = shell("sleep 600");
	struct run_result r;

	q.start = start_with_veto;
	supervise(&q, &r);
	cr_assert_eq(r.cause, RUN_CAUSE_policy);
	cr_assert_eq(run_result_status(&r), 125);
	run_result_free(&r);
}

static int start_then_drop(void *data, struct run *run, const struct spawn_request *request,
			   struct spawned *ret, struct cordon_error *err)
{
	int failed = spawn_start(request, ret, err);

	(void)run;
	if (!failed)
		failed = spawn_wait(ret, err);
	if (!failed && write(*(int *)data, &ret->pid, sizeof(ret->pid)) < 0)
		return err_set(err, CORDON_E_IO, errno, "test", "pipe");
	if (!failed && setresuid(65534, 65534, 65534) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "test", "setresuid");
	return failed;
}

/* A command that changed its user cannot be signalled: this must be said, not waited
 * for. */
Test(left, what_may_not_be_killed_is_reported)
{
	struct run_request q = shell("exec sleep 600");
	pid_t pid, unkilled;
	int ends[2];

	if (getuid() != 0)
		honest_skip("needs root to start something it may not kill");
	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	q.start = start_then_drop;
	q.start_data = &ends[1];
	q.limits.timeout_ms = q.grace_ms = 50;
	pid = fork();
	if (pid == 0) {
		struct cordon_error err;
		struct run_result r;

		_exit(run_supervise(&q, &r, &err) || r.left != 1 ||
		      r.cause != RUN_CAUSE_timeout);
	}
	cr_assert_eq(read(ends[0], &unkilled, sizeof(unkilled)), sizeof(unkilled));
	cr_expect_eq(status_of_process(pid), 0);
	cr_assert_eq(kill(unkilled, SIGKILL), 0, "it was not there to be reported");
	close(ends[0]);
	close(ends[1]);
}

static void ignore_alarm(int sig)
{
	(void)sig;
}

Test(robust, under_a_storm_of_interruptions)
{
	struct itimerval storm = { { 0, 300 }, { 0, 300 } }, calm = { 0 };
	struct run_request q = shell("i=0; while [ $i -lt 50 ]; do echo line; "
				     "i=$((i+1)); done; exit 11");
	struct run_result r;

	signal(SIGALRM, ignore_alarm);
	setitimer(ITIMER_REAL, &storm, NULL);
	for (int i = 0; i < 20; i++) {
		supervise(&q, &r);
		cr_assert_eq(run_result_status(&r), 11);
		cr_assert_eq(r.out.text.n, 250);
		run_result_free(&r);
	}
	setitimer(ITIMER_REAL, &calm, NULL);
}

Test(robust, two_hundred_runs_leak_nothing)
{
	int before, subreaper = 0;
	/* Zeroed: sigemptyset and the kernel write only the part they know. */
	sigset_t mask_before = { 0 }, mask_after = { 0 };

	status_of("exit 0");
	before = open_fds();
	sigprocmask(SIG_SETMASK, NULL, &mask_before);
	for (int i = 0; i < 200; i++)
		cr_assert_eq(status_of(i % 2 ? "echo x; exit 1" : "exit 1"), 1);
	cr_assert_eq(open_fds(), before);
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	for (int sig = 1; sig < NSIG; sig++)
		cr_assert_eq(sigismember(&mask_before, sig), sigismember(&mask_after, sig));
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	cr_assert_eq(subreaper, 0);
	assert_no_child_left();
}

Test(robust, failures_leak_no_descriptor)
{
	struct run_request q = shell("");
	struct run_result r;
	int before = open_fds();

	q.program = "/no-such-path";
	for (int i = 0; i < 20; i++) {
		supervise(&q, &r);
		run_result_free(&r);
	}
	q.start = refuse;
	supervise(&q, &r);
	run_result_free(&r);
	cr_assert_eq(open_fds(), before);
	assert_no_child_left();
}

Test(robust, a_deleted_working_directory)
{
	char dir[] = "/tmp/cordon-gone-XXXXXX";

	cr_assert(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	cr_assert_eq(rmdir(dir), 0);
	cr_assert_eq(status_of("exit 8"), 8);
	cr_assert_eq(chdir("/"), 0);
}

Test(robust, closed_standard_streams)
{
	struct run_request q = shell("cat; exec 2>/dev/null; echo x; exit 12");
	pid_t pid = fork();

	if (pid == 0) {
		struct run_result r;
		struct cordon_error err;

		close(0);
		close(1);
		close(2);
		q.stdin_null = false;
		if (run_supervise(&q, &r, &err) || strcmp(r.out.text.p, "x\n"))
			_exit(99);
		_exit(run_result_status(&r));
	}
	cr_assert_eq(status_of_process(pid), 12);
}
