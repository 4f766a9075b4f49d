/* SPDX-License-Identifier: Apache-2.0 */
/* run: signals to cordon, what follows them, and job control at a terminal. */
#include <criterion/criterion.h>
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

#include "heed_signals.h"
#include "supervise_shell.h"

TestSuite(signals, .init = heed_signals);
TestSuite(terminal, .init = heed_signals);

Test(signals, are_forwarded)
{
	static const struct {
		int sig;
		const char *name;
		bool new_session;
	} rows[] = {
		{ SIGTERM, "TERM", false }, { SIGINT, "INT", false },
		{ SIGHUP, "HUP", false },   { SIGQUIT, "QUIT", false },
		{ SIGUSR1, "USR1", true },  { SIGUSR2, "USR2", true },
		{ SIGWINCH, "WINCH", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char script[200];
		struct run_request q;
		pid_t pid;
		int out;

		snprintf(script, sizeof(script),
			 "exec 2>/dev/null; "
			 "trap 'echo got; exit 9' %s; echo up; while :; do sleep 0.01; done",
			 rows[i].name);
		q = shell(script);
		q.new_session = rows[i].new_session;
		pid = supervise_apart(q, &out);
		expect_line(out, "up");
		kill(pid, rows[i].sig);
		expect_line(out, "got");
		cr_assert_eq(status_of_process(pid), 9);
		close(out);
	}
}

Test(signals, a_second_request_ends_the_tree)
{
	struct run_request q = shell("exec 2>/dev/null; trap 'echo got' TERM; echo up; "
				     "while :; do sleep 0.01; done");
	pid_t pid;
	int out;
	char c;

	/* The first alone would take longer than a test may. */
	q.grace_ms = 600000;
	pid = supervise_apart(q, &out);
	expect_line(out, "up");
	kill(pid, SIGTERM);
	expect_line(out, "got");
	kill(pid, SIGTERM);
	cr_assert_eq(status_of_process(pid), 137);
	while (read(out, &c, 1) == 1)
		;
	close(out);
}

/* To the command that takes no notice, and to what it started in a session of its own. */
Test(signals, one_request_is_followed_by_the_end_after_the_grace)
{
	static const int requests[] = { SIGTERM, SIGHUP, SIGINT };

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		struct run_request q = shell("trap '' HUP INT TERM; setsid sleep 600 & "
					     "echo up; while :; do sleep 0.01; done");
		uint64_t asked;
		pid_t pid;
		int out;
		char c;

		q.grace_ms = 300;
		pid = supervise_apart(q, &out);
		expect_line(out, "up");
		asked = loop_now();
		kill(pid, requests[i]);
		cr_assert_eq(status_of_process(pid), 137, "signal %d", requests[i]);
		cr_assert_geq(loop_now() - asked, 300);
		/* Nobody holds it any more. */
		while (read(out, &c, 1) == 1)
			;
		close(out);
	}
}

/* What asks for nothing is not followed by anything. */
Test(signals, others_end_nothing_after_the_grace)
{
	struct run_request q = shell("trap 'echo got' USR1; echo up; n=0; "
				     "while [ $n -lt 30 ]; do sleep 0.01; n=$((n + 1)); done; "
				     "exit 9");
	pid_t pid;
	int out;

	q.grace_ms = 1;
	pid = supervise_apart(q, &out);
	expect_line(out, "up");
	kill(pid, SIGUSR1);
	expect_line(out, "got");
	cr_assert_eq(status_of_process(pid), 9);
	close(out);
}

Test(signals, what_the_caller_ignores_stays_ignored)
{
	struct run_request q = shell("kill -HUP $$; echo up; read x");
	pid_t pid;
	int out, in[2];

	signal(SIGHUP, SIG_IGN);
	cr_assert_eq(fd_pipe(&in[0], &in[1]), 0);
	dup2(in[0], 0);
	q.stdin_null = false;
	pid = supervise_apart(q, &out);
	close(in[0]);
	expect_line(out, "up");
	kill(pid, SIGHUP);
	cr_assert_eq(write(in[1], "x\n", 2), 2);
	close(in[1]);
	cr_assert_eq(status_of_process(pid), 0);
	close(out);
}

Test(signals, an_ignored_sigchld_loses_no_status)
{
	signal(SIGCHLD, SIG_IGN);
	cr_assert_eq(status_of("exit 5"), 5);
	cr_assert_eq(signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

/* The backend's process would die of the signal and take the command with it. */
Test(signals, pass_by_the_wrappers_of_a_backend)
{
	struct run_request q = shell("sh -c 'exec 2>/dev/null; trap \"echo got; exit 9\" TERM; "
				     "echo up; while :; do sleep 0.01; done'; exit $?");
	pid_t pid;
	int out;

	q.wrappers = 1;
	pid = supervise_apart(q, &out);
	expect_line(out, "up");
	kill(pid, SIGTERM);
	expect_line(out, "got");
	cr_assert_eq(status_of_process(pid), 9);
	close(out);
}

/* bubblewrap while it prepares: there is no command yet that could be waited for, as long as
 * the grace lasts. */
Test(signals, end_a_wrapper_without_a_command_at_once)
{
	struct run_request q = shell("echo up; exec sleep 600");
	pid_t pid;
	int out;

	q.wrappers = 2;
	q.grace_ms = 600000;
	pid = supervise_apart(q, &out);
	expect_line(out, "up");
	kill(pid, SIGTERM);
	cr_assert_eq(status_of_process(pid), 128 + SIGTERM);
	close(out);
	pid = supervise_apart(q, &out);
	expect_line(out, "up");
	kill(pid, SIGQUIT);
	cr_assert_eq(status_of_process(pid), 128 + SIGQUIT);
	close(out);
	q.limits.timeout_ms = 100;
	pid = supervise_apart(q, &out);
	cr_assert_eq(status_of_process(pid), 124);
	close(out);
}

/* A session with a terminal and a shell that does job control: it says "stopped" on
 * `report` when the supervisor stops, continues it at once, and exits as it does. */
struct session {
	pid_t shell;
	int master, report;
};

static void run_in_foreground(const struct run_request *q)
{
	struct cordon_error err;
	struct run_result r;

	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(0, getpid());
	signal(SIGTTOU, SIG_DFL);
	_exit(run_supervise(q, &r, &err) ? 99 : run_result_status(&r));
}

static void job_control(const struct run_request *q, const char *terminal, int report)
{
	int tty, status;
	pid_t job;

	setsid();
	tty = open(terminal, O_RDWR);
	ioctl(tty, TIOCSCTTY, 0);
	for (int fd = 0; fd <= 2; fd++)
		dup2(tty, fd);
	job = fork();
	if (job == 0)
		run_in_foreground(q);
	dprintf(report, "%d\n", (int)job);
	while (waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status)) {
		dprintf(report, "stopped\n");
		kill(-job, SIGCONT);
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static void open_session(struct session *s, const struct run_request *q)
{
	int ends[2];
	struct termios mode;

	s->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert(s->master >= 0 && !grantpt(s->master) && !unlockpt(s->master));
	tcgetattr(s->master, &mode);
	mode.c_lflag &= ~(tcflag_t)ECHO;
	mode.c_oflag = 0;
	tcsetattr(s->master, TCSANOW, &mode);
	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	s->shell = fork();
	if (s->shell == 0)
		job_control(q, ptsname(s->master), ends[1]);
	close(ends[1]);
	s->report = ends[0];
}

static void read_line(int fd, char *line, size_t size)
{
	size_t n = 0;

	while (n < size - 1 && read(fd, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
}

Test(terminal, ctrl_c_arrives_once)
{
	/* USR1 comes through the supervisor, after any INT it might have added. */
	struct run_request q = shell("exec 2>/dev/null; n=0; trap 'n=$((n+1)); echo int' INT; "
				     "trap 'echo $n; exit 5' USR1; echo up; "
				     "while :; do sleep 0.01; done");
	struct session s;
	char job[16];

	q.capture = q.stdin_null = false;
	open_session(&s, &q);
	read_line(s.report, job, sizeof(job));
	expect_line(s.master, "up");
	cr_assert_eq(write(s.master, "\x03", 1), 1);
	expect_line(s.master, "int");
	kill((pid_t)strtol(job, NULL, 10), SIGUSR1);
	expect_line(s.master, "1");
	cr_assert_eq(status_of_process(s.shell), 5);
	close(s.master);
	close(s.report);
}

/* As in a plain terminal: a shell that waits for its child does not end before it. */
Test(terminal, ctrl_c_reaches_what_the_command_waits_for)
{
	struct run_request q = shell("setsid sh -c 'sh -c \"trap \\\"echo child; exit 7\\\" INT; "
				     "echo up; while :; do read x; done\"; exit $?'; exit 6");
	struct session s;
	char job[16];

	q.capture = q.stdin_null = false;
	q.wrappers = 1;
	q.new_session = true;
	open_session(&s, &q);
	read_line(s.report, job, sizeof(job));
	expect_line(s.master, "up");
	cr_assert_eq(write(s.master, "\x03", 1), 1);
	expect_line(s.master, "child");
	cr_assert_eq(status_of_process(s.shell), 6);
	close(s.master);
	close(s.report);
}

static void suspend_and_continue(bool new_session)
{
	struct run_request q = shell("trap 'echo on' CONT; echo up; "
				     "while :; do read x && exit 6; done");
	struct session s;
	char line[16];

	q.capture = q.stdin_null = false;
	q.new_session = new_session;
	open_session(&s, &q);
	read_line(s.report, line, sizeof(line));
	expect_line(s.master, "up");
	cr_assert_eq(write(s.master, "\x1a", 1), 1);
	read_line(s.report, line, sizeof(line));
	cr_assert_str_eq(line, "stopped");
	cr_assert_eq(write(s.master, "x\n", 2), 2);
	cr_assert_eq(status_of_process(s.shell), 6);
	close(s.master);
	close(s.report);
}

Test(terminal, ctrl_z_stops_both_and_both_go_on)
{
	suspend_and_continue(false);
}

Test(terminal, ctrl_z_reaches_a_session_of_its_own)
{
	suspend_and_continue(true);
}
