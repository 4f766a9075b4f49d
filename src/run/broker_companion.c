/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's first steps where the command's own process has made it: there are no namespaces
 * to enter, but all that process had is still here, and the listener is yet to come.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/handover.h"

/* The lowest number that none of the fixed ones is. */
#define FREE BROKER_FD_END

/* The command's streams and whatever else it has are not for the broker. */
static int settle(int control_fd, int *error_fd)
{
	int control = fcntl(control_fd, F_DUPFD_CLOEXEC, FREE + 1);
	int error = fcntl(*error_fd, F_DUPFD_CLOEXEC, FREE + 1);
	int proc, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (control < 0 || error < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(null, 2) < 0 || dup3(error, FREE, O_CLOEXEC) < 0 ||
	    dup3(control, BROKER_FD_CONTROL, O_CLOEXEC) < 0)
		return broker_fail(*error_fd, "cannot arrange its descriptors");
	*error_fd = FREE;
	close(BROKER_FD_LISTENER);
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || (proc != BROKER_FD_PROC && dup3(proc, BROKER_FD_PROC, O_CLOEXEC) < 0) ||
	    syscall(SYS_close_range, BROKER_FD_USER_NS, BROKER_FD_MOUNT_NS, 0) < 0 ||
	    syscall(SYS_close_range, FREE + 1, ~0u, 0) < 0)
		return broker_fail(*error_fd, "cannot arrange its descriptors");
	close(BROKER_FD_LISTENER);
	return 0;
}

/* False: the start has failed elsewhere, and nobody wants a broker. */
static bool take_listener(void)
{
	struct pollfd control = { .fd = BROKER_FD_CONTROL, .events = POLLIN };
	struct cordon_error ignored;
	int fd = -1;

	while (poll(&control, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	/* The lowest number that is free. */
	return handover_take(BROKER_FD_CONTROL, &fd, &ignored) == HANDOVER_LISTENER &&
	       fd == BROKER_FD_LISTENER;
}

void broker_companion(void *data, int control_fd, int error_fd, pid_t command)
{
	struct broker_input *in = data;
	sigset_t all;

	/* The terminal's signals, and those of the command's group, are not for it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	in->command = command;
	if (settle(control_fd, &error_fd) == 0 && take_listener())
		broker_child(in, error_fd);
	_exit(1);
}
