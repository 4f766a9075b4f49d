/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal: what is carried between a user's terminal and the command's, and that the user's
 * is afterwards as it was. The user is this test, at the other end of a terminal that the
 * run has as its own; the command's terminal is made outside, as for bubblewrap.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/buf.h"
#include "base/fd.h"
#include "plan/plan.h"
#include "run/execute.h"
#include "run/supervise.h"
#include "run/terminal.h"

#define CEILING_MS 30000
#define SHOWN_MAX ((size_t)32 << 20)

extern char **environ;

struct scene {
	int user;	/* the user's end */
	int line;	/* the other end, which the run has too */
	pid_t cordon;	/* the process of the run */
	struct termios before;
	struct buf shown;
};

static int start(void *data, struct run *run, const struct spawn_request *request,
		 struct spawned *ret, struct cordon_error *err)
{
	struct launch *launch = data;
	struct spawn_request own = *request;
	int failed;

	(void)run;
	own.fds = launch->fds;
	own.n_fds = launch->n_fds;
	failed = spawn_start(&own, ret, err);
	while (launch->n_fds)
		close(launch->fds[--launch->n_fds].from);
	return failed;
}

/* In a process whose standard streams are the terminal. Exits with the run's status. */
_Noreturn static void be_cordon(const char *script, uint64_t output)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct op session = { .kind = OP_SESSION };
	struct plan plan = { 0 };
	struct execute_options options = { 0 };
	struct launch launch;
	struct part_input in = { .plan = &plan, .launch = &launch, .options = &options };
	struct run_part *part = NULL;
	struct run_request q = {
		.program = "/bin/sh", .argv = (char *const *)argv, .envp = environ,
		.start = start, .start_data = &launch, .new_session = true,
		.parts = &part, .n_parts = 1, .limits.output = output,
	};
	struct run_result r = { 0 };
	struct cordon_error err;
	struct arena a;

	plan.ops.at = &session;
	plan.ops.n = 1;
	arena_init(&a, 1 << 20);
	launch_init(&launch);
	if (terminal_streams(&plan, &options) != 7 || terminal_make(&a, &in, &part, &err) < 0 ||
	    run_supervise(&q, &r, &err) < 0)
		_exit(99);
	launch_close(&launch);
	arena_free(&a);
	_exit(run_result_status(&r));
}

static void begin(struct scene *s, const char *script, uint64_t output)
{
	struct winsize size = { .ws_row = 33, .ws_col = 77 };

	s->user = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert_geq(s->user, 0);
	cr_assert_eq(grantpt(s->user) | unlockpt(s->user), 0);
	s->line = open(ptsname(s->user), O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert_geq(s->line, 0);
	cr_assert_eq(ioctl(s->user, TIOCSWINSZ, &size), 0);
	memset(&s->before, 0, sizeof(s->before));
	cr_assert_eq(tcgetattr(s->line, &s->before), 0);
	buf_init(&s->shown, SHOWN_MAX);
	s->cordon = fork();
	if (s->cordon == 0) {
		setsid();
		ioctl(s->line, TIOCSCTTY, 0);
		for (int fd = 0; fd < 3; fd++)
			dup2(s->line, fd);
		close(s->line);
		close(s->user);
		be_cordon(script, output);
	}
}

/* Reads until the text was shown. */
static void see(struct scene *s, const char *text)
{
	while (!memmem(s->shown.p, s->shown.n, text, strlen(text))) {
		struct pollfd p = { .fd = s->user, .events = POLLIN };

		cr_assert_eq(poll(&p, 1, CEILING_MS), 1, "not seen: %s in: %s", text, s->shown.p);
		cr_assert_gt(buf_read(&s->shown, s->user, 65536), 0);
	}
}

static void type(struct scene *s, const char *text)
{
	cr_assert_eq(fd_write_all(s->user, text, strlen(text)), 0);
}

/* The end of the run; what was shown last is taken in. */
static int finish(struct scene *s)
{
	struct termios after = { 0 };
	int status = -1;
	pid_t pid = 0;

	while (pid == 0) {
		struct pollfd p = { .fd = s->user, .events = POLLIN };

		pid = waitpid(s->cordon, &status, WNOHANG);
		while (poll(&p, 1, pid ? 0 : 10) == 1 && buf_read(&s->shown, s->user, 65536) > 0)
			;
	}
	cr_assert_eq(pid, s->cordon);
	cr_assert_eq(tcgetattr(s->line, &after), 0);
	cr_assert_eq(memcmp(&after, &s->before, sizeof(after)), 0, "the terminal was changed");
	close(s->user);
	close(s->line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static size_t count(const struct scene *s, const char *text)
{
	size_t n = 0;

	for (const char *at = s->shown.p; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

Test(terminal, what_is_shown_and_typed_gets_there)
{
	struct scene s;

	begin(&s, "test -t 0 && test -t 1 && test -t 2 && echo up; read x; echo got $x; exit 7", 0);
	see(&s, "up\r\n");
	type(&s, "word\r");
	see(&s, "got word\r\n");
	cr_assert_eq(finish(&s), 7);
	/* Echoed once, by the command's terminal. */
	cr_assert_eq(count(&s, "word"), 2, "%s", s.shown.p);
	cr_assert_eq(count(&s, "\r\r\n"), 0);
	buf_free(&s.shown);
}

Test(terminal, it_has_the_users_size)
{
	struct scene s;

	begin(&s, "stty size", 0);
	see(&s, "33 77\r\n");
	cr_assert_eq(finish(&s), 0);
	buf_free(&s.shown);
}

Test(terminal, the_users_is_raw_meanwhile)
{
	struct termios now;
	struct scene s;

	begin(&s, "stty raw -echo; echo up; read x", 0);
	see(&s, "up");
	cr_assert_eq(tcgetattr(s.line, &now), 0);
	cr_assert_not(now.c_lflag & (ICANON | ECHO | ISIG));
	type(&s, "\n");
	cr_assert_eq(finish(&s), 0);
	buf_free(&s.shown);
}

Test(terminal, is_restored_after_a_violent_end)
{
	struct scene s;

	begin(&s, "stty raw -echo; kill -KILL $$", 0);
	cr_assert_eq(finish(&s), 137);
	buf_free(&s.shown);
}

/* More than every buffer on the way, to its last byte. */
Test(terminal, a_lot_of_output_arrives_whole)
{
	struct scene s;

	begin(&s, "stty -opost; seq 300000; echo end", 0);
	see(&s, "\nend\n");
	cr_assert_eq(finish(&s), 0);
	cr_assert_eq(s.shown.n, 1988895 + 4);
	cr_assert(strstr(s.shown.p, "\n150000\n150001\n"));
	buf_free(&s.shown);
}

Test(terminal, output_over_its_limit_ends_the_run)
{
	struct scene s;

	begin(&s, "yes", 100000);
	cr_assert_eq(finish(&s), 137);
	cr_assert_gt(s.shown.n, 50000);
	buf_free(&s.shown);
	begin(&s, "seq 100", 100000);
	cr_assert_eq(finish(&s), 0);
	buf_free(&s.shown);
}

/* The command has no controlling terminal here: cordon turns the keys into signals. */
Test(terminal, keys_become_signals)
{
	struct scene s;

	begin(&s, "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.1; done", 0);
	see(&s, "up");
	type(&s, "\003");
	see(&s, "caught");
	cr_assert_eq(finish(&s), 5);
	buf_free(&s.shown);
}

/* A user who goes away: the run ends by itself and waits for nobody. */
Test(terminal, a_terminal_that_is_gone_holds_nobody_up)
{
	struct scene s;
	int status;

	begin(&s, "trap '' HUP; echo up; seq 200000; exit 6", 0);
	see(&s, "up");
	close(s.line);
	close(s.user);
	cr_assert_eq(waitpid(s.cordon, &status, 0), s.cordon);
	cr_assert(WIFEXITED(status) || WIFSIGNALED(status));
	buf_free(&s.shown);
}
