/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last step before the command on a backend whose own processes keep the standard streams
 * that they are started with (backend/bwrap.c): the pipes came as other descriptors, which those
 * processes let go, and are put in their places here. Inside the boundary; nothing else is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
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

int inside(char **argv)
{
	uint64_t self;
	size_t n = 0;

	while (argv[n])
		n++;
	if (n < 4 || !move(argv[0], STDIN_FILENO) || !move(argv[1], STDOUT_FILENO) ||
	    !num_parse_u64(str_of(argv[2]), INT32_MAX, &self) || self < 3 || close((int)self) < 0)
		return STATUS_FAILED;
	execv(argv[3], argv + 3);
	out_loud("cannot execute %s: %s", quote(str_of(argv[3])).text, strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
