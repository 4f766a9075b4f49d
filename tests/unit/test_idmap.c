/* SPDX-License-Identifier: Apache-2.0 */
/* backend/linux/idmap: maps of ids that the parent writes, also when it is asked twice. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/linux/idmap.h"
#include "skip.h"

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static char closed[64]; /* this path cannot be opened */

int __wrap_open64(const char *path, int flags, ...)
{
	va_list more;
	unsigned mode;

	va_start(more, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
	va_end(more);
	if (strcmp(path, closed) == 0) {
		errno = EACCES;
		return -1;
	}
	return __real_open64(path, flags, mode);
}

/* A process in a user namespace of its own, until it is killed. */
static pid_t start_other(void)
{
	int made[2];
	char yes = 0;
	pid_t pid;

	cr_assert_eq(pipe(made), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWUSER) == 0 && write(made[1], "y", 1) == 1)
			pause();
		_exit(1);
	}
	close(made[1]);
	if (read(made[0], &yes, 1) != 1)
		must_or_skip("no user namespace can be made here");
	close(made[0]);
	return pid;
}

static size_t length_of(pid_t pid, const char *name)
{
	char path[64], text[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	f = fopen(path, "re");
	cr_assert(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	return n;
}

static void end_other(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* As when the process ends between the one and the other, which only the system's root does
 * not notice. */
Test(idmap, what_cannot_be_written_whole_is_not_begun)
{
	struct cordon_error err = { 0 };
	pid_t pid;

	if (!idmap_by_parent())
		honest_skip("for root");
	pid = start_other();
	snprintf(closed, sizeof(closed), "/proc/%d/gid_map", pid);
	cr_assert_lt(idmap_write(NULL, pid, &err), 0);
	cr_expect_eq(err.sys_errno, EACCES);
	cr_expect_eq(length_of(pid, "uid_map"), 0);
	*closed = '\0';
	cr_assert_eq(idmap_write(NULL, pid, &err), 0, "%s", err.message);
	cr_expect_gt(length_of(pid, "uid_map"), 0);
	cr_expect_gt(length_of(pid, "gid_map"), 0);
	end_other(pid);
}

Test(idmap, what_has_ended_is_an_error)
{
	struct cordon_error err = { 0 };
	pid_t pid;

	if (!idmap_by_parent())
		honest_skip("for root");
	pid = start_other();
	end_other(pid);
	cr_assert_lt(idmap_write(NULL, pid, &err), 0);
}
