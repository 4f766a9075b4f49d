/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes by fork, each watched by a kqueue of its own, which is readable when the
 * process has ended. A process that has ended cannot be watched any more, so it waits until
 * it is. Nobody else reaps our children: until we do, a pid is theirs. (In a host of libcordon
 * somebody may; what is started detached is nobody's child, and never sent a signal.)
 *
 * Nothing ends the child with its parent: spawn_child_bind has nothing to offer.
 */
#include "base/spawn_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

/* Above this there is nothing that cordon opened. */
#define DESCRIPTORS_MAX 65536

const bool spawn_child_waits = true;

/* Between the caller and what is started: says who that is and ends at once, so that the
 * other one is launchd's. */
CHILD_SAFE static void be_in_the_middle(const struct spawn_request *r,
					const struct spawn_pipes *pipes, const sigset_t *mask,
					int tell)
{
	pid_t pid = fork();

	if (pid == 0)
		spawn_child_main(r, pipes, mask);
	_exit(write(tell, &pid, sizeof(pid)) != (ssize_t)sizeof(pid));
}

/* A child cannot be made without a signal at its end here. Who reaps every child may take the
 * one in the middle from us, which is as good. */
static pid_t fork_detached(const struct spawn_request *r, const struct spawn_pipes *pipes,
			   const sigset_t *mask)
{
	autoclose int told = -1;
	autoclose int tell = -1;
	pid_t middle, pid = -1;
	int failed = fd_pipe(&told, &tell);

	middle = failed ? -1 : fork();
	if (middle == 0)
		be_in_the_middle(r, pipes, mask, tell);
	if (middle < 0)
		return -1;
	fd_close(&tell);
	while (read(told, &pid, sizeof(pid)) < 0 && errno == EINTR)
		;
	while (waitpid(middle, NULL, 0) < 0 && errno == EINTR)
		;
	errno = EAGAIN;
	return pid;
}

pid_t spawn_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		 const sigset_t *mask, struct spawned *s)
{
	pid_t pid;

	s->in_cgroup = false;
	if (r->detached)
		return fork_detached(r, pipes, mask);
	pid = fork();
	if (pid == 0)
		spawn_child_main(r, pipes, mask);
	return pid;
}

void spawn_ahead_dismiss(struct spawn_ahead *a)
{
	(void)a;
}

void spawn_ahead_end(struct spawn_ahead *a)
{
	(void)a;
}

int spawn_watch(pid_t pid)
{
	autoclose int queue = kqueue();
	struct kevent event;

	EV_SET(&event, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
	if (queue < 0 || fcntl(queue, F_SETFD, FD_CLOEXEC) < 0 ||
	    kevent(queue, &event, 1, NULL, 0, NULL) < 0)
		return -1;
	return steal_fd(&queue);
}

int spawn_signal(const struct spawned *s, int sig)
{
	return kill(s->pid, sig);
}

/* Orphans are launchd's. */
void spawn_reap_orphan(int pidfd)
{
	(void)pidfd;
}

/* A kqueue is not handed over. */
bool spawn_is_pidfd(int fd)
{
	(void)fd;
	return false;
}

/* The debugger's rights are needed for it anyway. */
CHILD_SAFE void spawn_child_hide(void)
{
}

CHILD_SAFE int spawn_child_bind(void)
{
	return 0;
}

CHILD_SAFE int spawn_child_close(unsigned first, unsigned last)
{
	struct rlimit limit;
	unsigned end = DESCRIPTORS_MAX;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	if (limit.rlim_cur < end)
		end = (unsigned)limit.rlim_cur;
	for (unsigned fd = first; fd <= last && fd < end; fd++)
		close((int)fd);
	return 0;
}
