/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop on kqueue. One event is taken at a time, as on epoll and for the same reason;
 * reading and writing are two filters of one descriptor, told apart by the callback's
 * events. There is no direct watch: it is one like any other.
 *
 * Signals: the filter counts what was sent, also what is blocked. What is blocked stays
 * pending as well, unless its default is to be ignored, so it is taken from there once its
 * callback is due; what was taken before is not told again.
 */
#include "base/loop_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/event.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

/* The highest signal that a set has room for on every system of this kind. */
#define SIGNALS_MAX 32

static int change(struct loop *loop, uintptr_t ident, short filter, unsigned short flags,
		  void *data)
{
	struct kevent event;

	EV_SET(&event, ident, filter, flags, 0, 0, data);
	return kevent(loop->queue, &event, 1, NULL, 0, NULL);
}

int loop_open_queue(struct loop *loop, struct cordon_error *err)
{
	loop->queue = kqueue();
	if (loop->queue < 0 || fcntl(loop->queue, F_SETFD, FD_CLOEXEC) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "loop", "cannot create a kqueue");
	for (int sig = 1; sig < SIGNALS_MAX; sig++)
		if (sigismember(&loop->wanted, sig) == 1 &&
		    change(loop, (uintptr_t)sig, EVFILT_SIGNAL, EV_ADD, NULL) < 0)
			return err_set(err, CORDON_E_SYSTEM, errno, "loop",
				       "cannot wait for signal %d", sig);
	return 0;
}

/* Takes one that is pending; false when it is not. */
static bool take_pending(int sig)
{
	sigset_t pending, one;
	int got;

	sigemptyset(&one);
	sigaddset(&one, sig);
	return sigpending(&pending) == 0 && sigismember(&pending, sig) == 1 &&
	       sigwait(&one, &got) == 0;
}

void loop_close_queue(struct loop *loop)
{
	for (int sig = 1; sig < SIGNALS_MAX; sig++)
		if (sigismember(&loop->wanted, sig) == 1)
			take_pending(sig);
	fd_close(&loop->queue);
}

static int set_filter(struct loop *loop, struct loop_watch *w, short filter, bool wanted)
{
	int r = change(loop, (uintptr_t)w->fd, filter, wanted ? EV_ADD : EV_DELETE, w);

	return !wanted && r < 0 && errno == ENOENT ? 0 : r;
}

int loop_watch(struct loop *loop, struct loop_watch *w, uint32_t events,
	       struct cordon_error *err)
{
	uint32_t before = w->active ? w->events : 0, changed = before ^ events;

	if ((changed & POLLIN && set_filter(loop, w, EVFILT_READ, events & POLLIN) < 0) ||
	    (changed & POLLOUT && set_filter(loop, w, EVFILT_WRITE, events & POLLOUT) < 0))
		return err_set(err, CORDON_E_SYSTEM, errno, "loop",
			       "cannot watch descriptor %d", w->fd);
	w->active = true;
	w->events = events;
	return 0;
}

void loop_unwatch(struct loop *loop, struct loop_watch *w)
{
	if (w->active && w->events & POLLIN)
		set_filter(loop, w, EVFILT_READ, false);
	if (w->active && w->events & POLLOUT)
		set_filter(loop, w, EVFILT_WRITE, false);
	w->active = false;
}

/* Nothing says who sent it. Of these the terminal's driver sends to its foreground, and
 * hardly anybody else does. */
static bool perhaps_by_terminal(int sig)
{
	bool kind = sig == SIGINT || sig == SIGQUIT || sig == SIGTSTP || sig == SIGWINCH;
	autoclose int tty = kind ? open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;

	return tty >= 0 && tcgetpgrp(tty) == getpgrp();
}

/* They are told, but never pending. */
static bool ignored_by_default(int sig)
{
	return sig == SIGCHLD || sig == SIGWINCH || sig == SIGCONT || sig == SIGURG;
}

static void tell_signal(struct loop *loop, int sig)
{
	if (take_pending(sig) || ignored_by_default(sig))
		loop->on_signal(loop->signal_data, sig, perhaps_by_terminal(sig));
}

/* What came before the filter was there. */
static bool take_early(struct loop *loop)
{
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	for (int sig = 1; sig < SIGNALS_MAX; sig++)
		if (sigismember(&loop->wanted, sig) == 1 && sigismember(&pending, sig) == 1) {
			tell_signal(loop, sig);
			return true;
		}
	return false;
}

static void tell(struct loop *loop, const struct kevent *event)
{
	struct loop_watch *w = event->udata;
	uint32_t events = event->filter == EVFILT_READ ? POLLIN : POLLOUT;

	if (event->filter == EVFILT_SIGNAL)
		tell_signal(loop, (int)event->ident);
	else
		w->ready(w->data, events | (event->flags & EV_EOF ? POLLHUP : 0u));
}

int loop_take(struct loop *loop, uint64_t us)
{
	struct timespec wait = { .tv_sec = (time_t)(us / 1000000),
				 .tv_nsec = (long)(us % 1000000) * 1000 };
	struct kevent event;
	int n;

	if (take_early(loop))
		return 1;
	n = kevent(loop->queue, NULL, 0, &event, 1, us == LOOP_ALWAYS ? NULL : &wait);
	if (n > 0)
		tell(loop, &event);
	return n;
}
