/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the end of cordon, with the terminal's settings at hand. */
#include "run/keeper.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

enum { TERMINAL_FD = 3, CONTROL_FD };

static bool is_set(const struct termios *wanted)
{
	struct termios now;

	return tcgetattr(TERMINAL_FD, &now) == 0 && now.c_iflag == wanted->c_iflag &&
	       now.c_oflag == wanted->c_oflag && now.c_lflag == wanted->c_lflag;
}

static int keep(void *data, int error_fd)
{
	struct keeper_settings last = { 0 }, next;

	(void)data;
	spawn_child_hide();
	close(error_fd);
	while (recv(CONTROL_FD, &next, sizeof(next), MSG_WAITALL) == (ssize_t)sizeof(next))
		last = next;
	if (last.changed && is_set(&last.now))
		tcsetattr(TERMINAL_FD, TCSANOW, &last.before);
	_exit(0);
}

int keeper_start(struct keeper *k, int terminal, struct cordon_error *err)
{
	sigset_t all;
	int pair[2], r;
	struct spawn_fd fds[] = { { terminal, TERMINAL_FD }, { -1, CONTROL_FD } };
	struct spawn_request request = {
		.program = "the keeper of the terminal",
		.child = keep,
		/* Out of the way of signals for the group; with them blocked it may set the
		 * terminal from the background. */
		.new_group = true,
		.mask = &all,
		.fds = fds,
		.n_fds = sizeof(fds) / sizeof(fds[0]),
	};

	sigfillset(&all);
	r = fd_pair(pair);
	if (r < 0)
		return err_set(err, CORDON_E_SYSTEM, -r, "terminal", "cannot make a socket pair");
	fds[1].from = pair[1];
	r = spawn_start(&request, &k->child, err);
	close(pair[1]);
	k->control = pair[0];
	if (r < 0)
		fd_close(&k->control);
	return r;
}

void keeper_tell(const struct keeper *k, const struct keeper_settings *settings)
{
	if (k->control >= 0)
		send(k->control, settings, sizeof(*settings), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void keeper_end(struct keeper *k)
{
	if (k->control < 0)
		return;
	fd_close(&k->control);
	spawn_discard(&k->child);
}
