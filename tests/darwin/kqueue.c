/* SPDX-License-Identifier: Apache-2.0 */
/* A kqueue is an epoll here; see sys/event.h. One event a call. Linked with close wrapped,
 * to let go of what an epoll has beside it. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/event.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUEUES_MAX 1024
#define KNOTES_MAX 64
#define SIGNALS_MAX 32

struct knote {
	int fd; /* what epoll watches */
	uintptr_t ident;
	int16_t kind; /* EVFILT_READ stands for writing, too */
	uint32_t events;
	void *udata;
	bool used, wrote; /* writing was told last */
};

static struct queue {
	struct knote notes[KNOTES_MAX];
	sigset_t signals;
	int signal_fd;
	bool open;
} queues[QUEUES_MAX];

int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_close(int fd)
{
	struct queue *q = fd >= 0 && fd < QUEUES_MAX && queues[fd].open ? &queues[fd] : NULL;

	for (struct knote *k = q ? q->notes : NULL; k && k < q->notes + KNOTES_MAX; k++)
		if (k->used && k->kind != EVFILT_READ)
			__real_close(k->fd);
	if (q)
		q->open = false;
	return __real_close(fd);
}

int kqueue(void)
{
	int fd = epoll_create1(0);

	if (fd >= QUEUES_MAX) {
		close(fd);
		errno = EMFILE;
		return -1;
	}
	if (fd >= 0) {
		memset(&queues[fd], 0, sizeof(queues[fd]));
		sigemptyset(&queues[fd].signals);
		queues[fd].signal_fd = -1;
		queues[fd].open = true;
	}
	return fd;
}

static struct knote *find(struct queue *q, uintptr_t ident, int16_t kind, bool make)
{
	struct knote *unused = NULL;

	for (struct knote *k = q->notes; k < q->notes + KNOTES_MAX; k++) {
		if (k->used && k->ident == ident && k->kind == kind)
			return k;
		if (!k->used && !unused)
			unused = k;
	}
	if (make && unused)
		*unused = (struct knote){ .ident = ident, .kind = kind, .fd = -1 };
	errno = ENOENT;
	return make ? unused : NULL;
}

static int watch(int queue, struct knote *k, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = k };
	int r = epoll_ctl(queue, k->used ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, k->fd, &event);

	/* A descriptor that was closed took its knote along. */
	if (r < 0 && errno == ENOENT)
		r = epoll_ctl(queue, EPOLL_CTL_ADD, k->fd, &event);
	if (r == 0) {
		k->used = true;
		k->events = events;
	}
	return r;
}

static int change_fd(int queue, const struct kevent *c)
{
	uint32_t bit = c->filter == EVFILT_READ ? EPOLLIN : EPOLLOUT;
	struct knote *k = find(&queues[queue], c->ident, EVFILT_READ, c->flags & EV_ADD);

	if (!k || (c->flags & EV_DELETE && !(k->events & bit))) {
		errno = ENOENT;
		return -1;
	}
	k->fd = (int)c->ident;
	if (c->flags & EV_ADD) {
		k->udata = c->udata;
		return watch(queue, k, k->events | bit);
	}
	if (k->events != bit)
		return watch(queue, k, k->events & ~bit);
	k->used = false;
	return epoll_ctl(queue, EPOLL_CTL_DEL, k->fd, NULL);
}

static int change_signal(int queue, const struct kevent *c)
{
	struct queue *q = &queues[queue];
	struct knote *k = find(q, 0, EVFILT_SIGNAL, true);

	sigaddset(&q->signals, (int)c->ident);
	q->signal_fd = signalfd(q->signal_fd, &q->signals, SFD_NONBLOCK | SFD_CLOEXEC);
	k->fd = q->signal_fd;
	return k->used ? 0 : watch(queue, k, EPOLLIN);
}

static int change_process(int queue, const struct kevent *c)
{
	struct knote *k = find(&queues[queue], c->ident, EVFILT_PROC, true);
	siginfo_t info = { 0 };
	int r = waitid(P_PID, (id_t)c->ident, &info, WEXITED | WNOHANG | WNOWAIT);

	/* That of another may be watched, too. */
	if ((r < 0 && errno != ECHILD) || info.si_pid) {
		errno = ESRCH;
		return -1;
	}
	k->fd = (int)syscall(SYS_pidfd_open, (pid_t)c->ident, 0);
	return k->fd < 0 ? -1 : watch(queue, k, EPOLLIN);
}

static int change(int queue, const struct kevent *c)
{
	switch (c->filter) {
	case EVFILT_READ:
	case EVFILT_WRITE:
		return change_fd(queue, c);
	case EVFILT_SIGNAL:
		return change_signal(queue, c);
	case EVFILT_PROC:
		return change_process(queue, c);
	}
	errno = EINVAL;
	return -1;
}

static int tell_signal(const struct queue *q, struct kevent *ret)
{
	sigset_t pending;

	sigpending(&pending);
	for (int sig = 1; sig < SIGNALS_MAX; sig++)
		if (sigismember(&q->signals, sig) == 1 && sigismember(&pending, sig) == 1) {
			EV_SET(ret, (uintptr_t)sig, EVFILT_SIGNAL, 0, 0, 1, NULL);
			return 1;
		}
	return 0;
}

static int tell(struct queue *q, struct knote *k, uint32_t events, struct kevent *ret)
{
	bool ends = events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP);
	bool in = k->events & EPOLLIN && (events & EPOLLIN || ends);
	bool out = k->events & EPOLLOUT && (events & EPOLLOUT || ends);

	if (k->kind == EVFILT_SIGNAL)
		return tell_signal(q, ret);
	k->wrote = out && (!in || !k->wrote);
	EV_SET(ret, k->ident, k->wrote ? EVFILT_WRITE : k->kind, ends ? EV_EOF : 0, 0, 0, k->udata);
	return 1;
}

int kevent(int queue, const struct kevent *changes, int n_changes, struct kevent *events,
	   int n_events, const struct timespec *timeout)
{
	int ms = timeout ? (int)(timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000) : -1;
	struct epoll_event event;
	int n;

	for (int i = 0; i < n_changes; i++)
		if (change(queue, &changes[i]) < 0)
			return -1;
	if (!n_events)
		return 0;
	n = epoll_wait(queue, &event, 1, ms);
	return n > 0 ? tell(&queues[queue], event.data.ptr, event.events, events) : n;
}
