/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop on epoll. One event is taken at a time: a callback may then free a
 * watch whose event would otherwise be waiting in the same batch, and epoll's own
 * rotation of its ready list keeps the descriptors from starving each other.
 *
 * A direct watch stands beside the epoll. The kernel's hint to wake us on the caller's
 * processor (SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) reaches a poll, but is lost in an epoll:
 * there every event moves us to the other, idle processor, at twice the cost.
 */
#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLHUP == POLLHUP,
	      "a direct watch is told its events by poll");

struct loop {
	int epoll_fd;
	struct loop_watch *direct;
	bool stopped;
	struct loop_timer *timers; /* sorted by due */
	struct loop_watch signals;
	loop_signal_fn *on_signal;
	void *signal_data;
	sigset_t original_mask;
};

uint64_t loop_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void signals_ready(void *data, uint32_t events)
{
	struct loop *loop = data;
	struct signalfd_siginfo info;

	(void)events;
	if (read(loop->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		loop->on_signal(loop->signal_data, &info);
}

static int start_signals(struct loop *loop, const sigset_t *signals, struct cordon_error *err)
{
	if (sigprocmask(SIG_BLOCK, signals, &loop->original_mask) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "loop", "cannot block signals");
	loop->signals = (struct loop_watch){ .ready = signals_ready, .data = loop };
	loop->signals.fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signals.fd < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "loop", "cannot create a signalfd");
	return loop_watch(loop, &loop->signals, EPOLLIN, err);
}

int loop_new(const sigset_t *signals, loop_signal_fn *on_signal, void *data,
	     struct loop **ret, struct cordon_error *err)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	int failed;

	if (!loop)
		return err_nomem(err, "loop");
	loop->on_signal = on_signal;
	loop->signal_data = data;
	loop->signals.fd = -1;
	sigprocmask(SIG_SETMASK, NULL, &loop->original_mask);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	failed = loop->epoll_fd < 0
			 ? err_set(err, CORDON_E_SYSTEM, errno, "loop", "cannot create an epoll")
			 : start_signals(loop, signals, err);
	if (failed) {
		loop_free(loop);
		return failed;
	}
	*ret = loop;
	return 0;
}

void loop_free(struct loop *loop)
{
	struct signalfd_siginfo info;

	if (!loop)
		return;
	/* A signal that came too late for its callback must not kill us now. */
	while (loop->signals.fd >= 0 && read(loop->signals.fd, &info, sizeof(info)) > 0)
		;
	fd_close(&loop->signals.fd);
	fd_close(&loop->epoll_fd);
	sigprocmask(SIG_SETMASK, &loop->original_mask, NULL);
	free(loop);
}

const sigset_t *loop_original_mask(const struct loop *loop)
{
	return &loop->original_mask;
}

int loop_watch(struct loop *loop, struct loop_watch *w, uint32_t events,
	       struct cordon_error *err)
{
	struct epoll_event event = { .events = events, .data.ptr = w };
	int op = w->active ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (w->active && w->events == events)
		return 0;
	if (w->direct && loop->direct && loop->direct != w)
		BUG("a second direct watch");
	if (w->direct)
		loop->direct = w;
	else if (epoll_ctl(loop->epoll_fd, op, w->fd, &event) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "loop",
			       "cannot watch descriptor %d", w->fd);
	w->active = true;
	w->events = events;
	return 0;
}

void loop_unwatch(struct loop *loop, struct loop_watch *w)
{
	/* One that never was active may have no loop. */
	if (w->active && loop->direct == w)
		loop->direct = NULL;
	else if (w->active)
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	w->active = false;
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
	struct loop_timer **at = &loop->timers;
	uint64_t now = loop_now();

	loop_clear_timer(loop, t);
	t->due = ms > UINT64_MAX - now ? UINT64_MAX : now + ms;
	while (*at && (*at)->due <= t->due)
		at = &(*at)->next;
	t->next = *at;
	t->set = true;
	*at = t;
}

static int wait_ms(const struct loop *loop)
{
	uint64_t now = loop_now();

	if (!loop->timers)
		return -1;
	if (loop->timers->due <= now)
		return 0;
	return loop->timers->due - now > INT_MAX ? INT_MAX : (int)(loop->timers->due - now);
}

static void fire_due(struct loop *loop)
{
	uint64_t now = loop_now();

	while (!loop->stopped && loop->timers && loop->timers->due <= now) {
		struct loop_timer *t = loop->timers;

		loop_clear_timer(loop, t);
		t->fired(t->data);
	}
}

static int take_one(struct loop *loop, int ms)
{
	struct epoll_event event;
	int n = epoll_wait(loop->epoll_fd, &event, 1, ms);

	if (n > 0) {
		struct loop_watch *w = event.data.ptr;

		w->ready(w->data, event.events);
	}
	return n;
}

/* The others get their turn however often the direct one is ready. */
static int take_direct(struct loop *loop, int ms)
{
	struct loop_watch *w = loop->direct;
	struct pollfd fds[] = { { .fd = w->fd, .events = (short)w->events },
				{ .fd = loop->epoll_fd, .events = POLLIN } };
	int n = poll(fds, 2, ms);

	if (n > 0 && fds[0].revents)
		w->ready(w->data, (uint32_t)fds[0].revents);
	return n > 0 && fds[1].revents && !loop->stopped ? take_one(loop, 0) : n;
}

int loop_run(struct loop *loop, struct cordon_error *err)
{
	while (!loop->stopped) {
		int ms = wait_ms(loop);
		int n = loop->direct ? take_direct(loop, ms) : take_one(loop, ms);

		if (n < 0 && errno != EINTR)
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
