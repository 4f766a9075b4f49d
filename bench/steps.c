/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the steps take that the broker adds to making one file (bench-create), each alone and in
 * a row, in microseconds: the least of many rounds. To be kept on one processor (taskset).
 *
 * usage: bench-steps; prints NAME TAB MICROSECONDS lines
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 200
#define CALLS 100

static int proc_fd, ping[2], pong[2];
static pid_t child;
static char text[256];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void nothing(void)
{
	syscall(SYS_getppid);
}

static void read_memory(void)
{
	struct iovec v = { text, sizeof(text) };

	if (process_vm_readv(child, &v, 1, &v, 1, 0) != (ssize_t)sizeof(text))
		err(1, "process_vm_readv");
}

static void look_at_cwd(void)
{
	struct statx st;

	if (statx(proc_fd, "cwd", 0, STATX_INO | STATX_MNT_ID, &st) < 0)
		err(1, "statx");
}

static void read_name(void)
{
	char path[4096];

	if (syscall(SYS_getcwd, path, sizeof(path)) < 0)
		err(1, "getcwd");
}

/* There and back: two changes of process. */
static void change_twice(void)
{
	char c = 0;

	if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
		err(1, "pipe");
}

static double least(void (*step)(void))
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		int64_t before = now_ns(), took;

		for (int j = 0; j < CALLS; j++)
			step();
		took = now_ns() - before;
		best = took < best ? took : best;
	}
	return (double)best / CALLS / 1000;
}

static void answer(void)
{
	char c;

	while (read(ping[0], &c, 1) == 1 && write(pong[1], &c, 1) == 1)
		;
	_exit(0);
}

int main(void)
{
	char path[64];

	if (pipe2(ping, O_CLOEXEC) < 0 || pipe2(pong, O_CLOEXEC) < 0 || (child = fork()) < 0)
		err(1, "a process beside");
	if (child == 0)
		answer();
	snprintf(path, sizeof(path), "/proc/%d", (int)child);
	proc_fd = open(path, O_PATH | O_CLOEXEC);
	if (proc_fd < 0)
		err(1, "cannot look around");
	printf("nothing\t%.2f\n", least(nothing));
	printf("memory\t%.2f\n", least(read_memory));
	printf("cwd\t%.2f\n", least(look_at_cwd));
	printf("name\t%.2f\n", least(read_name));
	printf("change\t%.2f\n", least(change_twice) / 2);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
