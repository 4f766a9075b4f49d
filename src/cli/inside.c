/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last step before the command on a backend whose own processes keep the standard streams
 * that they are started with (backend/bwrap.c): the pipes came as other descriptors, which those
 * processes let go, and are put in their places here. Inside the boundary; nothing else is done.
 */
#include <errno.h>
#include <unistd.h>

#include "base/num.h"
#include "base/spawn.h"
#include "cli/cmd.h"
#include "cli/out.h"

static bool read_number(const char *text, int *ret)
{
	uint64_t fd;

	if (!num_parse_u64(str_of(text), INT32_MAX, &fd))
		return false;
	*ret = (int)fd;
	return true;
}

/* 0: it stays as it is. */
static bool move(const char *number, int to)
{
	int fd;

	if (!read_number(number, &fd))
		return false;
	return fd == 0 || (dup2(fd, to) == to && close(fd) == 0);
}

/* Whoever waits for that may let go of his own. */
static bool tell(const char *number)
{
	int fd;

	return read_number(number, &fd) && fd > 2 && write(fd, "", 1) == 1 && close(fd) == 0;
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
	size_t n = 0;
	int self;

	while (argv[n])
		n++;
	errno = 0;
	if (n < 5 || !move(argv[0], STDIN_FILENO) || !move(argv[1], STDOUT_FILENO) ||
	    !tell(argv[2]) || !read_number(argv[3], &self) || self < 3 || close(self) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "exec",
			       "cannot put the command's pipes in place");
	return execute(argv + 4, err);
}

int inside(char **argv)
{
	struct cordon_error err;

	take_place(argv, &err);
	return out_error_text(&err);
}
