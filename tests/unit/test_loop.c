/* SPDX-License-Identifier: Apache-2.0 */
/* base/loop: order of timers, watches that remove each other, signals and the mask. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/loop.h"

struct seen {
	struct loop *loop;
	char order[16];
	size_t n;
	size_t stop_at;
	int signals[8];
	struct loop_watch watches[2];
	struct loop_timer *cancel;
};

static void note(struct seen *s, char c)
{
	s->order[s->n++] = c;
	if (s->n == s->stop_at)
		loop_stop(s->loop);
}

static void got_signal(void *data, int sig, bool by_terminal)
{
	struct seen *s = data;

	(void)by_terminal;
	s->signals[s->n] = sig;
	note(s, 's');
}

static struct loop *new_loop(struct seen *s, int sig)
{
	struct cordon_error err;
	sigset_t set;

	sigemptyset(&set);
	if (sig)
		sigaddset(&set, sig);
	cr_assert_eq(loop_new(&set, got_signal, s, &s->loop, &err), 0);
	return s->loop;
}

static void fired_a(void *data)
{
	note(data, 'a');
}
static void fired_b(void *data)
{
	note(data, 'b');
}
static void fired_c(void *data)
{
	struct seen *s = data;

	if (s->cancel)
		loop_clear_timer(s->loop, s->cancel);
	note(s, 'c');
}

Test(loop, timers_fire_by_time_and_can_be_moved_and_cleared)
{
	struct seen s = { .stop_at = 3 };
	struct loop *loop = new_loop(&s, 0);
	struct loop_timer a = { .fired = fired_a, .data = &s };
	struct loop_timer b = { .fired = fired_b, .data = &s };
	struct loop_timer c = { .fired = fired_c, .data = &s };
	struct loop_timer never = { .fired = fired_a, .data = &s };
	struct cordon_error err;
	uint64_t start = loop_now();

	loop_set_timer(loop, &a, 30);
	loop_set_timer(loop, &b, 1);
	loop_set_timer(loop, &c, 10);
	loop_set_timer(loop, &never, 20);
	loop_set_timer(loop, &b, 20);
	s.cancel = &never;
	cr_assert_eq(loop_run(loop, &err), 0);
	cr_assert_str_eq(s.order, "cba");
	cr_assert_geq(loop_now() - start, 30);
	cr_assert_not(never.set);
	loop_free(loop);
}

/* Whichever comes first removes both: the second must not be called. */
static void remove_both(void *data, uint32_t events)
{
	struct seen *s = data;

	cr_assert(events & POLLIN);
	for (int i = 0; i < 2; i++)
		loop_unwatch(s->loop, &s->watches[i]);
	note(s, 'w');
}

Test(loop, a_watch_removed_by_another_callback_is_not_called)
{
	struct seen s = { .stop_at = 2 };
	struct loop *loop = new_loop(&s, 0);
	struct loop_timer a = { .fired = fired_a, .data = &s };
	struct cordon_error err;
	int ends[2][2];

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fd_pipe(&ends[i][0], &ends[i][1]), 0);
		cr_assert_eq(write(ends[i][1], "x", 1), 1);
		s.watches[i] = (struct loop_watch){
			.fd = ends[i][0], .ready = remove_both, .data = &s
		};
		cr_assert_eq(loop_watch(loop, &s.watches[i], POLLIN, &err), 0);
	}
	loop_set_timer(loop, &a, 5);
	cr_assert_eq(loop_run(loop, &err), 0);
	cr_assert_str_eq(s.order, "wa");
	loop_free(loop);
	for (int i = 0; i < 4; i++)
		close(ends[i / 2][i % 2]);
}

static void ready_d(void *data, uint32_t events)
{
	cr_assert_eq(events, POLLIN);
	note(data, 'd');
}
static void ready_e(void *data, uint32_t events)
{
	cr_assert_eq(events, POLLIN);
	note(data, 'e');
}

Test(loop, a_direct_watch_starves_neither_watch_nor_timer)
{
	struct seen s = { .stop_at = 7 };
	struct loop *loop = new_loop(&s, 0);
	struct loop_timer a = { .fired = fired_a, .data = &s };
	struct loop_watch direct = { .ready = ready_d, .data = &s, .direct = true };
	struct loop_watch other = { .ready = ready_e, .data = &s };
	struct cordon_error err;
	int end;

	cr_assert_eq(fd_pipe(&direct.fd, &end), 0);
	cr_assert_eq(write(end, "x", 1), 1);
	other.fd = dup(direct.fd);
	cr_assert_eq(loop_watch(loop, &direct, POLLIN, &err), 0);
	cr_assert_eq(loop_watch(loop, &other, POLLIN, &err), 0);
	loop_set_timer(loop, &a, 0);
	cr_assert_eq(loop_run(loop, &err), 0);
	/* A kqueue has no order that it promises. */
	cr_assert(strchr(s.order, 'a') && strchr(s.order, 'd') && strchr(s.order, 'e'), "%s",
		  s.order);
#ifndef CORDON_TEST_KQUEUE
	cr_assert_str_eq(s.order, "deadede");
#endif

	loop_unwatch(loop, &direct);
	cr_assert_not(direct.active);
	s = (struct seen){ .loop = loop, .stop_at = 2 };
	cr_assert_eq(loop_run(loop, &err), 0);
	cr_assert_str_eq(s.order, "ee");
	loop_free(loop);
	close(direct.fd);
	close(other.fd);
	close(end);
}

Test(loop, signals_arrive_and_the_mask_comes_back)
{
	struct seen s = { .stop_at = 1 };
	struct cordon_error err;
	sigset_t before, during, after;
	struct loop *loop;

	sigprocmask(SIG_SETMASK, NULL, &before);
	loop = new_loop(&s, SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &during);
	cr_assert(sigismember(&during, SIGUSR1));
	kill(getpid(), SIGUSR1);
	cr_assert_eq(loop_run(loop, &err), 0);
	cr_assert_eq(s.signals[0], SIGUSR1);
	/* Still pending when the loop goes: must not kill us. */
	kill(getpid(), SIGUSR1);
	loop_free(loop);
	sigprocmask(SIG_SETMASK, NULL, &after);
	cr_assert_eq(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
}

static void ignore_alarm(int sig)
{
	(void)sig;
}

Test(loop, interruptions_do_not_shorten_a_timer)
{
	struct seen s = { .stop_at = 1 };
	struct loop *loop = new_loop(&s, 0);
	struct loop_timer a = { .fired = fired_a, .data = &s };
	struct itimerval storm = { { 0, 500 }, { 0, 500 } }, calm = { 0 };
	struct cordon_error err;
	uint64_t start = loop_now();

	signal(SIGALRM, ignore_alarm);
	setitimer(ITIMER_REAL, &storm, NULL);
	loop_set_timer(loop, &a, 50);
	cr_assert_eq(loop_run(loop, &err), 0);
	setitimer(ITIMER_REAL, &calm, NULL);
	cr_assert_geq(loop_now() - start, 50);
	loop_free(loop);
}

Test(loop, a_bad_descriptor_is_an_error)
{
	struct seen s = { 0 };
	struct loop *loop = new_loop(&s, 0);
	struct loop_watch w = { .fd = 9999, .ready = remove_both, .data = &s };
	struct cordon_error err = { 0 };

	cr_assert_eq(loop_watch(loop, &w, POLLIN, &err), -CORDON_E_SYSTEM);
	cr_assert_not(w.active);
	loop_unwatch(loop, &w);
	/* What was never watched, of a loop that was never made. */
	loop_unwatch(NULL, &w);
	loop_free(loop);
	loop_free(NULL);
}
