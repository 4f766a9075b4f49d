/* SPDX-License-Identifier: Apache-2.0 */
/* Both by an epoll, lives by pidfds. */
#include "lib/watch.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

int watch_both(int socket, int process)
{
	struct epoll_event readable = { .events = EPOLLIN };
	autoclose int both = epoll_create1(EPOLL_CLOEXEC);

	if (both < 0 || epoll_ctl(both, EPOLL_CTL_ADD, socket, &readable) < 0 ||
	    epoll_ctl(both, EPOLL_CTL_ADD, process, &readable) < 0)
		return -1;
	return steal_fd(&both);
}

/* By name, for whoever was forked meanwhile may hold a copy. */
void watch_forget(int both, int socket)
{
	epoll_ctl(both, EPOLL_CTL_DEL, socket, NULL);
}

int watch_own_life(void)
{
	return (int)syscall(SYS_pidfd_open, getpid(), 0);
}

void watch_reap(int process)
{
	siginfo_t info;

	if (process >= 0)
		waitid(P_PIDFD, (id_t)process, &info, WEXITED | WNOHANG | __WALL);
}
