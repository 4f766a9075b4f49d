/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process beside the command, in the Landlock domain that the two have in common: the
 * broker, where there is no namespace to keep it inside. It is made before the command
 * takes a domain of its own on top, so it may look at the command, which may not look back,
 * and Landlock closes to it whatever it closes to the command.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/handover.h"
#include "backend/linux/native.h"
#include "base/fd.h"

#define STAGE "broker"

/* One end of the conversation with the supervisor, and where it says what went wrong. */
static int add_ends(struct launch_companion *c, struct launch *launch, struct cordon_error *err)
{
	int theirs, r = handover_open(&c->our_control, &theirs, err);

	if (r < 0)
		return r;
	c->control_fd = launch_add_fd(launch, theirs, err);
	if (c->control_fd < 0)
		return c->control_fd;
	r = fd_pipe(&c->our_error, &theirs);
	if (r < 0)
		return err_set(err, CORDON_E_SYSTEM, -r, STAGE, "cannot make a pipe");
	c->error_fd = launch_add_fd(launch, theirs, err);
	return c->error_fd < 0 ? c->error_fd : 0;
}

int native_prepare_companion(struct arena *a, struct native *n, struct launch *launch,
			     struct cordon_error *err)
{
	n->companion = arena_new(a, struct launch_companion);
	if (!n->companion)
		return err_nomem(err, STAGE);
	n->companion->our_control = n->companion->our_error = -1;
	launch->companion = n->companion;
	launch->brokered = true;
	launch->hands_over |= HANDOVER_BIT(BROKER);
	return add_ends(n->companion, launch, err);
}

/* Its parent is the supervisor: the command is not to find a child that it never made. */
CHILD_SAFE int native_start_companion(const struct native *n, int error_fd)
{
	const struct launch_companion *c = n->companion;
	pid_t command = getpid();
	int r, pidfd = -1;
	long pid = syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL,
			   NULL);

	if (pid < 0)
		return native_fail(error_fd, STAGE, "cannot start the broker", NULL);
	if (pid == 0) {
		close(error_fd);
		c->run(c->data, c->control_fd, c->error_fd, command);
		_exit(1);
	}
	/* Now they are its own: their end is to say something about it. */
	close(c->control_fd);
	close(c->error_fd);
	r = handover_send(n->handover_fd, HANDOVER_BROKER, pidfd, error_fd);
	close(pidfd);
	return r;
}
