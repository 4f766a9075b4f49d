/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving and answering calls; what they mean is not known here. */
#include "run/notify.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_compat.h"

#define STAGE "listener"
/* So many calls of one thread, with no more than this between them, are a run of calls. */
#define PACE_CALLS 3
#define PACE_NS 1000000
/* After so many, the next one is waited for without the loop, which gets its turn after so
 * long, or when nothing comes. */
#define ROW_CALLS 16
#define ROW_NS 500000
#define TICK_SIGNAL SIGVTALRM

bool notify_fits(void)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return false;
	errno = 0;
	return sizes.seccomp_notif <= sizeof(union notify_call) &&
	       sizes.seccomp_notif_resp <= sizeof(union notify_answer);
}

int notify_receive(int listener, union notify_call *ret)
{
	/* The kernel refuses a record that is not zeroed. */
	memset(ret, 0, sizeof(*ret));
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ret->call);
}

int notify_send(int listener, const union notify_answer *answer)
{
	int r;

	do
		r = ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer->answer);
	while (r < 0 && errno == EINTR);
	return r < 0 && errno == ENOENT ? 0 : r;
}

bool notify_is_waiting(int listener, uint64_t id)
{
	int r;

	do
		r = ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
	while (r < 0 && errno == EINTR);
	return r == 0;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void hurry(struct notify_pace *p, int listener, bool on)
{
	if (p->hurries != on)
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		      on ? SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP : 0);
	p->hurries = on;
}

void notify_came(struct notify_pace *p, int listener, const struct seccomp_notif *call)
{
	int64_t now = now_ns();
	bool follows = call->pid == p->tid && now - p->at < PACE_NS;

	p->streak = follows ? p->streak + (p->streak < ROW_CALLS) : 0;
	p->tid = call->pid;
	p->at = now;
	if (p->streak < PACE_CALLS)
		hurry(p, listener, false);
}

/* Not before the answer: the next call brings us to the caller, and this one would have
 * brought the caller to us. */
void notify_went(struct notify_pace *p, int listener)
{
	if (p->streak >= PACE_CALLS)
		hurry(p, listener, true);
}

static void give_up(struct notify *n, const char *what)
{
	struct cordon_error why;

	err_set(&why, CORDON_E_SYSTEM, errno, STAGE, "%s", what);
	notify_close(n);
	n->broke(n->data, &why);
}

static bool receive(struct notify *n, union notify_call *in)
{
	if (notify_receive(n->watch.fd, in) == 0)
		return true;
	/* The process was killed before we looked. */
	if (errno != ENOENT && errno != EINTR)
		give_up(n, "cannot receive a call of the sandbox");
	return false;
}

static void answer(struct notify *n, uint64_t id, int errnum)
{
	union notify_answer out;

	memset(&out, 0, sizeof(out));
	out.answer.id = id;
	if (errnum > 0)
		out.answer.error = -errnum;
	else if (errnum != NOTIFY_DONE)
		out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (notify_send(n->watch.fd, &out) < 0)
		give_up(n, "cannot answer a call of the sandbox");
}

/* False: there was no call, or the listener is closed. */
static bool serve_one(struct notify *n)
{
	union notify_call in;
	int verdict;

	if (!receive(n, &in))
		return false;
	verdict = n->judge(n->data, &in.call);
	notify_came(&n->pace, n->watch.fd, &in.call);
	if (verdict != NOTIFY_LEFT)
		answer(n, in.call.id, verdict);
	notify_went(&n->pace, n->watch.fd);
	return n->loop;
}

/* --- calls in a row --------------------------------------------------------------- */

static void ticked(int sig)
{
	(void)sig;
}

static bool allow_tick(bool on)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, TICK_SIGNAL);
	return sigprocmask(on ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL) == 0;
}

/* Without it the loop is asked every time. */
static void make_tick(struct notify *n)
{
	struct sigaction act = { .sa_handler = ticked }; /* no SA_RESTART: it is to interrupt */
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = TICK_SIGNAL };

	allow_tick(false);
	n->has_tick = sigaction(TICK_SIGNAL, &act, NULL) == 0 &&
		      timer_create(CLOCK_MONOTONIC, &how, &n->tick) == 0;
}

/* It repeats: one that comes just before we wait interrupts nothing. */
static bool start_row(struct notify *n)
{
	static const struct itimerspec often = { { .tv_nsec = 2 * ROW_NS },
						 { .tv_nsec = 2 * ROW_NS } };

	if (!n->has_tick || !allow_tick(true))
		return false;
	n->in_row = timer_settime(n->tick, 0, &often, NULL) == 0;
	if (!n->in_row)
		allow_tick(false);
	return n->in_row;
}

void notify_calm(struct notify *n)
{
	static const struct itimerspec never = { 0 };

	if (!n->in_row)
		return;
	allow_tick(false);
	timer_settime(n->tick, 0, &never, NULL);
	n->in_row = false;
}

static void serve_row(struct notify *n)
{
	int64_t until = n->pace.at + ROW_NS;

	if (!start_row(n))
		return;
	while (serve_one(n) && n->in_row && n->pace.streak == ROW_CALLS && n->pace.at < until)
		;
	notify_calm(n);
}

static void call_ready(void *data, uint32_t events)
{
	struct notify *n = data;

	if (!(events & EPOLLIN)) {
		notify_close(n);
		if (n->over)
			n->over(n->over_data);
		return;
	}
	if (serve_one(n) && n->pace.streak == ROW_CALLS)
		serve_row(n);
}

bool notify_waits(const struct notify *n, const struct seccomp_notif *call)
{
	return n->watch.active && notify_is_waiting(n->watch.fd, call->id);
}

static int check_sizes(struct cordon_error *err)
{
	if (notify_fits())
		return 0;
	return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot take this kernel's records");
}

int notify_open(struct notify *n, struct loop *loop, int listener, struct cordon_error *err)
{
	int failed = check_sizes(err);

	n->loop = loop;
	n->watch = (struct loop_watch){
		.fd = listener, .ready = call_ready, .data = n, .direct = true
	};
	n->pace = (struct notify_pace){ 0 };
	make_tick(n);
	if (!failed)
		failed = loop_watch(loop, &n->watch, EPOLLIN, err);
	if (failed)
		notify_close(n);
	return failed;
}

void notify_close(struct notify *n)
{
	if (!n->loop)
		return;
	notify_calm(n);
	if (n->has_tick)
		timer_delete(n->tick);
	n->has_tick = false;
	loop_unwatch(n->loop, &n->watch);
	fd_close(&n->watch.fd);
	n->loop = NULL;
}
