/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's own terminal, in the child.
 *
 * It is made in the sandbox's devpts, so that it has a name there, and its other side goes
 * out to the supervisor. Init leads the session and the command is its foreground job:
 * a job whose parent is in another group of the same session can be stopped and continued,
 * as under a shell.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/handover.h"
#include "backend/linux/native.h"

#define STAGE "terminal"

static CHILD_SAFE int fail(int error_fd, const char *what)
{
	return native_fail(error_fd, STAGE, what, "the command's terminal");
}

static CHILD_SAFE int place(const struct native *n, int fd, int error_fd)
{
	for (int i = 0; i < 3; i++)
		if (n->terminal & 1u << i && dup2(fd, i) < 0)
			return fail(error_fd, "cannot place");
	return 0;
}

CHILD_SAFE int native_open_terminal(struct native *n, int error_fd)
{
	int unlocked = 0, master, r;

	if (!n->terminal)
		return 0;
	master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) < 0)
		return fail(error_fd, "cannot make");
	n->terminal_fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (n->terminal_fd < 0)
		return fail(error_fd, "cannot open");
	if (ioctl(n->terminal_fd, TIOCSCTTY, 0) < 0)
		return fail(error_fd, "cannot take");
	r = handover_send(n->handover_fd, HANDOVER_TERMINAL, master, error_fd);
	close(master);
	return r < 0 ? r : place(n, n->terminal_fd, error_fd);
}

CHILD_SAFE int native_take_terminal(const struct native *n, int error_fd)
{
	for (int i = 0; i < 3; i++)
		if (n->terminal & 1u << i)
			return ioctl(i, TIOCSCTTY, 0) < 0 ? fail(error_fd, "cannot take") : 0;
	return 0;
}

CHILD_SAFE int native_enter_foreground(const struct native *n, int error_fd)
{
	sigset_t ttou, before;
	pid_t self = getpid();
	int r;

	if (setpgid(0, 0) < 0)
		return fail(error_fd, "cannot start a process group for");
	/* From the background this asks for the signal. */
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	r = ioctl(n->terminal_fd, TIOCSPGRP, &self);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r < 0 ? fail(error_fd, "cannot enter the foreground of") : 0;
}
