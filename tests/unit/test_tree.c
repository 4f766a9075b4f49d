/* SPDX-License-Identifier: Apache-2.0 */
/* tree: finding, suspending and ending the processes of a run. */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/procfs.h"
#include "run/tree.h"

static void count_reaped(void *data, const siginfo_t *info, const struct rusage *usage)
{
	(void)info;
	(void)usage;
	++*(int *)data;
}

/* Kernels without the list of children: by parent, from all of /proc. */
Test(tree, works_without_children_files)
{
	int ends[2], reaped = 0;
	struct tree t = { .reaped = count_reaped, .data = &reaped };
	struct cordon_error err;
	siginfo_t info;
	bool refused;
	char c;

	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	cr_assert_eq(tree_open(&t, &err), 0);
	t.no_children_files = true;
	t.main = fork();
	if (t.main == 0) {
		if (fork() >= 0 && write(ends[1], "x", 1) == 1)
			while (pause())
				;
		_exit(1);
	}
	for (int i = 0; i < 2; i++)
		cr_assert_eq(read(ends[0], &c, 1), 1);
	cr_assert_eq(tree_count(&t), 2);
	cr_assert_eq(tree_kill(&t, &refused), 2);
	cr_assert_not(refused);
	while (tree_reap(&t))
		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	cr_assert_eq(reaped, 2);
	tree_close(&t);
	tree_close(&t);
	close(ends[0]);
	close(ends[1]);
}

static char state_of(pid_t pid)
{
	struct procfs_stat line;

	return procfs_stat(pid, &line) ? line.state : '-';
}

/* Running, or waiting for something: not stopped. */
static bool moves(pid_t pid)
{
	char state = state_of(pid);

	return state == 'S' || state == 'R';
}

static void wait_until(bool (*is)(pid_t), pid_t pid)
{
	for (int i = 0; i < 30000 && !is(pid); i++)
		usleep(1000);
	cr_assert(is(pid), "%d is '%c'", (int)pid, state_of(pid));
}

static bool stands(pid_t pid)
{
	return state_of(pid) == 'T';
}

/* A process that waits, in a session of its own, with a child that does the same. */
static pid_t start_pair(int up)
{
	pid_t pid = fork(), child;

	if (pid == 0) {
		setsid();
		child = fork();
		if (child == 0 || write(up, &child, sizeof(child)) == sizeof(child))
			while (pause())
				;
		_exit(1);
	}
	return pid;
}

Test(tree, what_is_suspended_goes_on_and_nothing_else)
{
	struct tree t = { .reaped = count_reaped };
	struct tree_stopped stopped;
	struct cordon_error err;
	int ends[2], reaped = 0;
	pid_t child, other;
	bool refused;

	t.data = &reaped;
	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	cr_assert_eq(tree_open(&t, &err), 0);
	t.main = start_pair(ends[1]);
	cr_assert_eq(read(ends[0], &child, sizeof(child)), (ssize_t)sizeof(child));
	other = start_pair(ends[1]);
	cr_assert_eq(read(ends[0], &child, sizeof(child)), (ssize_t)sizeof(child));
	kill(other, SIGSTOP);
	wait_until(stands, other);
	cr_assert_not(tree_command_stopped(&t));
	tree_suspend(&t, &stopped);
	wait_until(stands, t.main);
	wait_until(stands, child);
	cr_assert(tree_command_stopped(&t));
	cr_assert_eq(stopped.pids.n, 3);
	tree_resume(&t, &stopped);
	wait_until(moves, t.main);
	wait_until(moves, child);
	cr_assert(stands(other));
	tree_kill(&t, &refused);
	while (tree_reap(&t))
		usleep(1000);
	cr_assert_eq(reaped, 4);
	tree_close(&t);
	close(ends[0]);
	close(ends[1]);
}
