/* SPDX-License-Identifier: Apache-2.0 */
/* run/notify: the loop has its turn while calls come in a row, and when they stop. */
#include "run/notify.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/linux/seccomp.h"
#include "base/fd.h"
#include "skip.h"

/* Longer than a row takes to begin, and than one lasts. */
#define CALLS 2000

struct scene {
	struct loop *loop;
	struct notify notify;
	struct loop_watch told;
	unsigned calls, calls_when_told;
	bool calms, can_be_interrupted, refuses, broke;
	struct loop_timer timer;
	int socket;
	pid_t child;
};

static int judge(void *data, const struct seccomp_notif *call)
{
	struct scene *s = data;
	sigset_t mask;

	s->calls += call->data.nr == SYS_unlinkat;
	if (s->calms) {
		notify_calm(&s->notify);
		sigprocmask(SIG_SETMASK, NULL, &mask);
		s->can_be_interrupted |= !sigismember(&mask, SIGVTALRM);
	}
	return s->refuses && call->data.nr == SYS_unlinkat ? EPERM : 0;
}

static void broke(void *data, const struct cordon_error *why)
{
	struct scene *s = data;

	(void)why;
	s->broke = true;
	loop_stop(s->loop);
}

/* What the child says between its calls, and that it goes on only when it was heard. */
static void told(void *data, uint32_t events)
{
	struct scene *s = data;
	char text;

	(void)events;
	if (read(s->socket, &text, 1) != 1 || text == 'e') {
		loop_stop(s->loop);
		return;
	}
	s->calls_when_told = s->calls;
	cr_assert_eq(write(s->socket, "", 1), 1);
}

static void too_late(void *data)
{
	struct scene *s = data;

	loop_stop(s->loop);
}

static void make_calls(void)
{
	for (int i = 0; i < CALLS; i++) {
		if (syscall(SYS_unlinkat, AT_FDCWD, "/nowhere/at/all", 0) == 0)
			_exit(3);
		if (errno != ENOENT && errno != EPERM)
			_exit(4);
	}
}

static void live(int to)
{
	char heard;
	int fd = -1;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		fd = seccomp_install(seccomp_program(SECCOMP_FILTER_notify_writes,
						     SECCOMP_ARCH_NATIVE),
				     SECCOMP_FILTER_FLAG_NEW_LISTENER |
					     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	if (write(to, &fd, sizeof(fd)) != (ssize_t)sizeof(fd) || read(to, &heard, 1) != 1)
		_exit(1);
	make_calls();
	/* In the middle of a row somebody has to hear something else. */
	if (write(to, "m", 1) != 1 || read(to, &heard, 1) != 1)
		_exit(2);
	make_calls();
	if (write(to, "e", 1) != 1)
		_exit(2);
	_exit(0);
}

static int take_listener(struct scene *s)
{
	int theirs = -1, ours, pidfd = (int)syscall(SYS_pidfd_open, s->child, 0);

	cr_assert_eq(read(s->socket, &theirs, sizeof(theirs)), (ssize_t)sizeof(theirs));
	if (theirs < 0) {
		kill(s->child, SIGKILL);
		must_or_skip("no listener can be had here");
	}
	ours = (int)syscall(SYS_pidfd_getfd, pidfd, theirs, 0);
	fd_close(&pidfd);
	cr_assert_geq(ours, 0);
	return ours;
}

static void play(struct scene *s)
{
	struct cordon_error err;
	sigset_t none;
	int pair[2], status;

	sigemptyset(&none);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	s->child = fork();
	if (s->child == 0)
		live(pair[1]);
	close(pair[1]);
	s->socket = pair[0];
	cr_assert_eq(loop_new(&none, NULL, NULL, &s->loop, &err), 0);
	s->notify = (struct notify){ .judge = judge, .broke = broke, .data = s };
	cr_assert_eq(notify_open(&s->notify, s->loop, take_listener(s), &err), 0);
	s->told = (struct loop_watch){ .fd = s->socket, .ready = told, .data = s };
	cr_assert_eq(loop_watch(s->loop, &s->told, POLLIN, &err), 0);
	s->timer = (struct loop_timer){ .fired = too_late, .data = s };
	loop_set_timer(s->loop, &s->timer, 20000);
	cr_assert_eq(write(s->socket, "", 1), 1);
	cr_assert_eq(loop_run(s->loop, &err), 0);
	cr_expect(s->timer.set, "nobody was heard in 20 seconds");
	notify_close(&s->notify);
	loop_clear_timer(s->loop, &s->timer);
	loop_unwatch(s->loop, &s->told);
	loop_free(s->loop);
	close(s->socket);
	cr_assert_eq(waitpid(s->child, &status, 0), s->child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
	cr_expect_eq(s->calls_when_told, CALLS);
	cr_expect_eq(s->calls, 2 * CALLS);
	cr_expect_not(s->broke);
}

Test(notify, others_are_heard_between_calls_in_a_row)
{
	struct scene s = { 0 };

	play(&s);
}

Test(notify, a_refusal_in_a_row_is_a_refusal)
{
	struct scene s = { .refuses = true };

	play(&s);
}

Test(notify, whoever_must_not_be_interrupted_ends_the_row)
{
	struct scene s = { .calms = true };

	play(&s);
	cr_expect_not(s.can_be_interrupted);
}
