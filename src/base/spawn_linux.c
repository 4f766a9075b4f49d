/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by clone3, held by pidfds. */
#include "base/spawn_in.h"

#include <errno.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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

pid_t spawn_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		 const sigset_t *mask, struct spawned *s)
{
	pid_t pid = only_executes(r) ? vfork() : clone_process(r, s);

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

CHILD_SAFE int spawn_child_bind(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

CHILD_SAFE int spawn_child_close(unsigned first, unsigned last)
{
	return (int)syscall(SYS_close_range, first, last, 0);
}
