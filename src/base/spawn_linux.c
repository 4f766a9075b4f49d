/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by clone3, held by pidfds. */
#include "base/spawn_in.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* After the C library's, which has some of the same names. */
#include <linux/sched.h>

const bool spawn_child_waits = false;

/* Old kernels and old container filters know no clone3; the latter say EPERM, which
 * without namespace flags can mean nothing else. */
static bool clone3_missing(uint64_t flags, int errnum)
{
	return errnum == ENOSYS || (errnum == EPERM && !flags);
}

static long clone_with(uint64_t flags, int cgroup_fd, int *ret_pidfd)
{
	struct clone_args args = {
		.flags = flags | CLONE_PIDFD | (cgroup_fd ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uint64_t)(uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)cgroup_fd,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

/* Like fork: 0 in the child. s->pidfd is -1 when it has to be opened. Whatever is wrong
 * with the control group, it is not what the run stands or falls by. */
static pid_t clone_process(const struct spawn_request *r, struct spawned *s)
{
	uint64_t flags = r->clone_flags;
	long pid = r->cgroup_fd ? clone_with(flags, r->cgroup_fd, &s->pidfd) : -1;

	s->in_cgroup = pid > 0;
	if (pid < 0)
		pid = clone_with(flags, 0, &s->pidfd);
	if (pid < 0 && clone3_missing(flags, errno)) {
		s->pidfd = -1;
		pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	}
	return (pid_t)pid;
}

/* Then there is nothing to gain from a copy of the memory, which takes longer than all
 * that the child does. Not where it changes into a directory, which may take as long as the
 * file system likes: the parent stands still meanwhile. */
static bool only_executes(const struct spawn_request *r)
{
	return !r->child && !r->parent && !r->clone_flags && !r->cwd && !r->cwd_fd &&
	       !r->cgroup_fd;
}

/* --- detached ------------------------------------------------------------------------ */

/* Of each of the two processes that borrow the caller's memory; touched as far as used. */
#define BORROWED_STACK ((size_t)128 << 10)

struct detaching {
	const struct spawn_request *request;
	const struct spawn_pipes *pipes;
	const sigset_t *mask;
	char *stacks; /* two */
	int pid, pidfd, errnum;
};

CHILD_SAFE BORROWS_STACK static int detached_main(void *data)
{
	const struct detaching *d = data;

	spawn_child_main(d->request, d->pipes, d->mask);
}

/* Between the caller and what is started: ends at once, so that the other one belongs to
 * nobody here. It shares the caller's descriptors, so the pidfd is the caller's. */
CHILD_SAFE BORROWS_STACK static int middle_main(void *data)
{
	struct detaching *d = data;

	d->pid = clone(detached_main, d->stacks + BORROWED_STACK,
		       CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, data, &d->pidfd);
	d->errnum = errno;
	/* Past the C library, where a sanitizer would take this for the host's end. */
	return (int)syscall(SYS_exit_group, 0);
}

/* Without a signal at its end the one in the middle is waited for with __WALL only; who
 * does that for everything has taken it from us, which is as good. */
static void clone_detached(struct detaching *d)
{
	int middle = clone(middle_main, d->stacks + 2 * BORROWED_STACK,
			   CLONE_VM | CLONE_VFORK | CLONE_FILES, d);

	if (middle < 0)
		d->errnum = errno;
	else
		while (waitpid(middle, NULL, __WALL) < 0 && errno == EINTR)
			;
}

static pid_t fork_detached(const struct spawn_request *r, const struct spawn_pipes *pipes,
			   const sigset_t *mask, struct spawned *s)
{
	struct detaching d = { r, pipes, mask, NULL, -1, -1, 0 };

	if (!only_executes(r))
		BUG("what is started detached does nothing but execute");
	d.stacks = mmap(NULL, 2 * BORROWED_STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (d.stacks == MAP_FAILED)
		return -1;
	clone_detached(&d);
	munmap(d.stacks, 2 * BORROWED_STACK);
	s->pidfd = d.pidfd;
	errno = d.errnum;
	return d.pid;
}

/* ------------------------------------------------------------------------------------- */

pid_t spawn_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		 const sigset_t *mask, struct spawned *s)
{
	pid_t pid;

	if (r->detached)
		return fork_detached(r, pipes, mask, s);
	pid = spawn_ahead_fork(r, pipes, mask, s);
	if (pid > 0)
		return pid;
	pid = only_executes(r) ? vfork() : clone_process(r, s);
	if (pid == 0)
		spawn_child_main(r, pipes, mask);
	return pid;
}

int spawn_watch(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int spawn_signal(const struct spawned *s, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, s->pidfd, sig, NULL, 0);
}

void spawn_reap_orphan(int pidfd)
{
	siginfo_t info;

	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) < 0 && errno == EINTR)
		;
}

/* A process that has ended meanwhile is still one. */
bool spawn_is_pidfd(int fd)
{
	return syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 ||
	       (errno != EBADF && errno != EINVAL);
}

CHILD_SAFE void spawn_child_hide(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

CHILD_SAFE int spawn_child_bind(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

CHILD_SAFE int spawn_child_close(unsigned first, unsigned last)
{
	return (int)syscall(SYS_close_range, first, last, 0);
}
