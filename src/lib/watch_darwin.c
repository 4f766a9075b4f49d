/* SPDX-License-Identifier: Apache-2.0 */
/* Both by a kqueue, of which a process that is forked gets no copy; nor could one be handed
 * to the supervisor, which therefore has the socket only. */
#include "lib/watch.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/event.h>
#include <unistd.h>

#include "base/fd.h"

static int change(int queue, int fd, unsigned short flags)
{
	struct kevent event;

	EV_SET(&event, (uintptr_t)fd, EVFILT_READ, flags, 0, 0, NULL);
	return kevent(queue, &event, 1, NULL, 0, NULL);
}

int watch_both(int socket, int process)
{
	autoclose int both = kqueue();

	if (both < 0 || fcntl(both, F_SETFD, FD_CLOEXEC) < 0 || change(both, socket, EV_ADD) < 0 ||
	    change(both, process, EV_ADD) < 0)
		return -1;
	return steal_fd(&both);
}

void watch_forget(int both, int socket)
{
	change(both, socket, EV_DELETE);
}

int watch_own_life(void)
{
	return -1;
}

/* Orphans are the first process's, and nobody else's. */
void watch_reap(int process)
{
	(void)process;
}
