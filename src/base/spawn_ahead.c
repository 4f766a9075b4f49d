/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces made while the caller is still busy with something else.
 *
 * A process that shares the caller's memory and descriptors makes them on another processor
 * and waits. When the caller knows what to start, that process makes the child, which is in
 * the namespaces from its beginning and has a copy of the memory as it is then, and ends. The
 * child becomes the caller's, who is therefore a subreaper; without that, or when anything
 * here fails, the child is made as if nobody had gone ahead.
 *
 * It has the caller's errno, so it makes its calls with raw_call and calls nothing else; only
 * the child, whose memory is its own, does.
 */
#include "base/spawn_in.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* After the C library's, which has some of the same names. */
#include <linux/sched.h>

#include "base/raw_call.h"

/* Nobody goes ahead for valgrind (NO_SPAWN_AHEAD), which knows no process that shares memory,
 * nor under AddressSanitizer, which cannot tell the stack that the child goes on with. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define NO_SPAWN_AHEAD
#endif
#if defined(RAW_CALL) && !defined(NO_SPAWN_AHEAD)

/* The child goes on with a copy of it; touched as far as used. The lowest page is never. */
#define STACK_BYTES ((size_t)512 << 10)

enum order { ORDER_WAIT, ORDER_CLONE, ORDER_LEAVE };

struct spawn_ahead {
	uint64_t flags; /* CLONE_NEW*: what it makes */
	pid_t pid, caller;
	char *stack;
	cpu_set_t processors; /* of the caller, and of the child */
	cpu_set_t elsewhere;  /* where it is not in its caller's way, nor behind it */
	cpu_set_t all;	      /* without a choice */
	cpu_set_t granted;    /* what that comes to */
	int order;	      /* the futex */
	bool made;	      /* it is in the namespaces */
	/* With ORDER_CLONE. */
	const struct spawn_request *request;
	const struct spawn_pipes *pipes;
	const sigset_t *mask;
	struct clone_args args;
	pid_t child; /* 0: there is none */
};

CHILD_SAFE static _Noreturn void leave(void)
{
	for (;;)
		raw_call(SYS_exit, 0, 0, 0, 0);
}

/* A scheduler that would rather fill one processor starts it where its caller is: before it,
 * so that the caller waits, or after it, so that nothing is done ahead. Either puts it elsewhere,
 * whoever comes first; what it makes is free to go anywhere again. */
CHILD_SAFE static bool stay_on(const cpu_set_t *processors)
{
	return raw_call(SYS_sched_setaffinity, 0, sizeof(*processors), (long)processors, 0) == 0;
}

/* Its caller may have ended before it could be told of that. */
CHILD_SAFE static bool get_ready(struct spawn_ahead *a)
{
	bool made = stay_on(&a->elsewhere) &&
		    raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0) == 0 &&
		    raw_call(SYS_getppid, 0, 0, 0, 0) == a->caller &&
		    raw_call(SYS_unshare, (long)a->flags, 0, 0, 0) == 0;

	__atomic_store_n(&a->made, made, __ATOMIC_RELEASE);
	return made;
}

CHILD_SAFE static int await_order(struct spawn_ahead *a)
{
	int order;

	while ((order = __atomic_load_n(&a->order, __ATOMIC_ACQUIRE)) == ORDER_WAIT)
		raw_call(SYS_futex, (long)&a->order, FUTEX_WAIT, ORDER_WAIT, 0);
	return order;
}

CHILD_SAFE static bool are_same(const cpu_set_t *a, const cpu_set_t *b)
{
	for (size_t i = 0; i < sizeof(a->__bits) / sizeof(a->__bits[0]); i++)
		if (a->__bits[i] != b->__bits[i])
			return false;
	return true;
}

/* As its caller: who was not given a choice of processors gets those that are added later, too. */
CHILD_SAFE static bool roam(struct spawn_ahead *a)
{
	return stay_on(&a->all) &&
	       raw_call(SYS_sched_getaffinity, 0, sizeof(a->granted), (long)&a->granted, 0) > 0 &&
	       (are_same(&a->granted, &a->processors) || stay_on(&a->processors));
}

CHILD_SAFE BORROWS_STACK static int ahead_main(void *data)
{
	struct spawn_ahead *a = data;

	if (!get_ready(a) || await_order(a) != ORDER_CLONE || !roam(a))
		leave();
	if (raw_call(SYS_clone3, (long)&a->args, sizeof(a->args), 0, 0) == 0)
		spawn_child_main(a->request, a->pipes, a->mask);
	leave();
}

/* Another processor than the caller's, if there is one. */
static bool choose_processors(struct spawn_ahead *a)
{
	int here = sched_getcpu();

	if (sched_getaffinity(0, sizeof(a->processors), &a->processors) < 0)
		return false;
	memset(&a->all, 0xff, sizeof(a->all));
	a->elsewhere = a->processors;
	if (here >= 0 && here < CPU_SETSIZE && CPU_COUNT(&a->processors) > 1)
		CPU_CLR(here, &a->elsewhere);
	return true;
}

static bool begin(struct spawn_ahead *a)
{
	sigset_t all, before;

	if (!choose_processors(a))
		return false;
	a->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (a->stack == MAP_FAILED)
		return false;
	mprotect(a->stack, (size_t)getpagesize(), PROT_NONE);
	/* No handler of the caller's may run in it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	/* Without a signal at its end no one who waits for children meets it by chance. */
	a->pid = clone(ahead_main, a->stack + STACK_BYTES, CLONE_VM | CLONE_FILES, a);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (a->pid < 0)
		munmap(a->stack, STACK_BYTES);
	else
		sched_setaffinity(a->pid, sizeof(a->elsewhere), &a->elsewhere);
	return a->pid > 0;
}

struct spawn_ahead *spawn_ahead_start(uint64_t clone_flags)
{
	struct spawn_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->flags = clone_flags;
	a->caller = getpid();
	if (begin(a))
		return a;
	free(a);
	return NULL;
}

static void give_order(struct spawn_ahead *a, enum order order)
{
	__atomic_store_n(&a->order, order, __ATOMIC_RELEASE);
	if (syscall(SYS_futex, &a->order, FUTEX_WAKE, 1, NULL, NULL, 0) < 0)
		kill(a->pid, SIGKILL);
}

/* Until the order has been carried out, or cannot be. It has our memory, so nothing but its
 * end will do. */
static void await_end(struct spawn_ahead *a)
{
	while (waitpid(a->pid, NULL, __WALL) < 0 && errno != ECHILD)
		;
	a->pid = 0;
	munmap(a->stack, STACK_BYTES);
}

/* What the one ahead starts becomes ours when it ends. */
static bool adopts(void)
{
	int adopts = 0;

	return prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts;
}

void spawn_ahead_dismiss(struct spawn_ahead *a)
{
	if (!a || !a->pid)
		return;
	give_order(a, ORDER_LEAVE);
	await_end(a);
}

pid_t spawn_ahead_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		       const sigset_t *mask, struct spawned *s)
{
	struct spawn_ahead *a = r->ahead;
	struct cordon_error ignored;
	bool introduced;

	if (!a || !a->pid)
		return -1;
	if (r->cgroup_fd || (r->clone_flags & a->flags) != a->flags || !adopts()) {
		spawn_ahead_dismiss(a);
		return -1;
	}
	a->request = r;
	a->pipes = pipes;
	a->mask = mask;
	a->child = 0;
	/* The kernel notes the number: somebody could end the one ahead before it does. */
	a->args = (struct clone_args){
		.flags = (r->clone_flags & ~a->flags) | CLONE_PIDFD | CLONE_PARENT_SETTID,
		.pidfd = (uint64_t)(uintptr_t)&s->pidfd,
		.parent_tid = (uint64_t)(uintptr_t)&a->child,
		.exit_signal = SIGCHLD,
	};
	give_order(a, ORDER_CLONE);
	/* What the parent does to the namespaces of the one it does to the other's. If it cannot
	 * it is asked again, and then its word counts. */
	introduced = __atomic_load_n(&a->made, __ATOMIC_ACQUIRE) && r->parent &&
		     r->parent(r->parent_data, a->pid, &ignored) == 0;
	await_end(a);
	if (!a->child)
		return -1;
	s->introduced = introduced;
	return a->child;
}

void spawn_ahead_end(struct spawn_ahead *a)
{
	spawn_ahead_dismiss(a);
	free(a);
}

#else

struct spawn_ahead *spawn_ahead_start(uint64_t clone_flags)
{
	(void)clone_flags;
	return NULL;
}

pid_t spawn_ahead_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		       const sigset_t *mask, struct spawned *s)
{
	(void)r, (void)pipes, (void)mask, (void)s;
	return -1;
}

void spawn_ahead_dismiss(struct spawn_ahead *a)
{
	(void)a;
}

void spawn_ahead_end(struct spawn_ahead *a)
{
	(void)a;
}

#endif
