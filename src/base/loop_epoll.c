/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop on epoll. One event is taken at a time: a callback may then free a
 * watch whose event would otherwise be waiting in the same batch, and epoll's own
 * rotation of its ready list keeps the descriptors from starving each other.
 *
 * A direct watch stands beside the epoll. The kernel's hint to wake us on the caller's
 * processor (SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) reaches a poll, but is lost in an epoll:
 * there every event moves us to the other, idle processor, at twice the cost.
 */
#include "base/loop_in.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLHUP == POLLHUP &&
		      EPOLLERR == POLLERR,
	      "events are told in the words of poll");

static void signals_ready(void *data, uint32_t events)
{
	struct loop *loop = data;
	struct signalfd_siginfo info;

	(void)events;
	if (read(loop->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		loop->on_signal(loop->signal_data, (int)info.ssi_signo, info.ssi_code == SI_KERNEL);
}

int loop_open_queue(struct loop *loop, struct cordon_error *err)
{
	loop->queue = epoll_create1(EPOLL_CLOEXEC);
	if (loop->queue < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "loop", "cannot create an epoll");
	loop->signals = (struct loop_watch){ .ready = signals_ready, .data = loop };
	loop->signals.fd = signalfd(-1, &loop->wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signals.fd < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "loop", "cannot create a signalfd");
	return loop_watch(loop, &loop->signals, EPOLLIN, err);
}

void loop_close_queue(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (loop->signals.fd >= 0 && read(loop->signals.fd, &info, sizeof(info)) > 0)
		;
	fd_close(&loop->signals.fd);
	fd_close(&loop->queue);
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
	else if (epoll_ctl(loop->queue, op, w->fd, &event) < 0)
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
		epoll_ctl(loop->queue, EPOLL_CTL_DEL, w->fd, NULL);
	w->active = false;
}

static int take_one(struct loop *loop, int ms)
{
	struct epoll_event event;
	int n = epoll_wait(loop->queue, &event, 1, ms);

	if (n > 0) {
		struct loop_watch *w = event.data.ptr;

		w->ready(w->data, event.events);
	}
	return n;
}

/* The others get their turn however often the direct one is ready. */
static int take_direct(struct loop *loop, uint64_t us)
{
	const struct timespec most = { .tv_sec = (time_t)(us / 1000000),
				       .tv_nsec = (long)(us % 1000000) * 1000 };
	struct loop_watch *w = loop->direct;
	struct pollfd fds[] = { { .fd = w->fd, .events = (short)w->events },
				{ .fd = loop->queue, .events = POLLIN } };
	int n = ppoll(fds, 2, us == LOOP_ALWAYS ? NULL : &most, NULL);

	if (n > 0 && fds[0].revents)
		w->ready(w->data, (uint32_t)fds[0].revents);
	return n > 0 && fds[1].revents && !loop->stopped ? take_one(loop, 0) : n;
}

int loop_take(struct loop *loop, uint64_t us)
{
	return loop->direct ? take_direct(loop, us) : take_one(loop, loop_ms_of(us));
}
