/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last step before the command on a backend whose own processes keep the standard streams
 * that they are started with (backend/bwrap.c): the pipes came as other descriptors, which those
 * processes let go, and are put in their places here. Inside the boundary; nothing else is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/num.h"
#include "base/spawn.h"
#include "cli/cmd.h"
#include "cli/out.h"

/* What did not come stays as it is. */
static bool move(const char *number, int to)
{
	uint64_t fd;

	if (!num_parse_u64(str_of(number), INT32_MAX, &fd) || fd < 3)
		return false;
	if (fcntl((int)fd, F_GETFD) < 0)
		return true;
	return dup2((int)fd, to) == to && close((int)fd) == 0;
}

/* execvp, as bubblewrap itself: what becomes of a script without #! does not hang on a pipe. */
static int execute(char **argv, struct cordon_error *err)
{
	int errnum;

	execvp(argv[0], argv);
	errnum = errno;
	err_set(err, errnum == ENOENT ? CORDON_E_NOT_FOUND : CORDON_E_EXEC, errnum, "exec",
		"cannot execute %s", argv[0]);
	return err_hint(err, "%s", spawn_exec_hint(errnum, argv[0]));
}

static int take_place(char **argv, struct cordon_error *err)
{
	uint64_t self;
	size_t n = 0;

	while (argv[n])
		n++;
	errno = 0;
	if (n < 4 || !move(argv[0], STDIN_FILENO) || !move(argv[1], STDOUT_FILENO) ||
	    !num_parse_u64(str_of(argv[2]), INT32_MAX, &self) || self < 3 || close((int)self) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "exec",
			       "cannot put the command's pipes in place");
	return execute(argv + 3, err);
}

int inside(char **argv)
{
	struct cordon_error err;

	take_place(argv, &err);
	return out_error_text(&err);
}
