/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes by fork, each watched by a kqueue of its own, which is readable when the
 * process has ended. A process that has ended cannot be watched any more, so it waits until
 * it is. Nobody else reaps our children: until we do, a pid is theirs.
 *
 * Nothing ends the child with its parent: spawn_child_bind has nothing to offer.
 */
#include "base/spawn_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"

/* Above this there is nothing that cordon opened. */
#define DESCRIPTORS_MAX 65536

const bool spawn_child_waits = true;

pid_t spawn_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		 const sigset_t *mask, struct spawned *s)
{
	pid_t pid = fork();

	if (pid == 0)
		spawn_child_main(r, pipes, mask);
	s->in_cgroup = false;
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

/* Nothing is started detached. */
void spawn_reap_orphan(int pidfd)
{
	(void)pidfd;
}

/* libcordon, which would hand one over, is not for this system. */
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
