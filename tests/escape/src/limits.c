/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Using up what the machine has: processes, memory in all its forms, files, processor
 * time. Each attack takes a number of megabytes (or processes) and then holds them; with
 * HOLD_MS=0 in the environment it ends at once, so that it can be tried without cordon.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB ((size_t)1 << 20)
#define HOLD_DEFAULT_MS 60000
#define FILES 1000000

static enum outcome hold(const char *what)
{
	const char *ms = getenv("HOLD_MS");

	printf("holding: %s\n", what);
	fflush(stdout);
	poll(NULL, 0, ms ? (int)number(ms) : HOLD_DEFAULT_MS);
	return DONE;
}

static size_t megabytes(int argc, char **argv, int i)
{
	long n = number(argument(argc, argv, i));

	return n > 0 ? (size_t)n * MB : MB;
}

/* Really: a memset of what nobody reads is left out by compilers. */
static void touch(char *p, size_t n)
{
	for (size_t i = 0; p && i < n; i += 4096)
		*(volatile char *)(p + i) = 1;
}

/* Children that hold on to what they have until this process ends. */
static void hang_on(pid_t parent)
{
	while (getppid() == parent)
		poll(NULL, 0, 20);
	_exit(0);
}

static enum outcome fork_bomb(int argc, char **argv)
{
	long most = number(argument(argc, argv, 0));
	pid_t self = getpid();

	for (long i = 0; i < most; i++) {
		pid_t pid = fork();

		if (pid == 0)
			hang_on(self);
		/* A refusal is the time to try again. */
		if (pid < 0)
			poll(NULL, 0, 1), i--;
	}
	return hold("processes");
}

static void *wait_for_ever(void *data)
{
	(void)data;
	for (;;)
		pause();
	return NULL;
}

static enum outcome thread_bomb(int argc, char **argv)
{
	long most = number(argument(argc, argv, 0));
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (long i = 0; i < most; i++)
		if (pthread_create(&thread, &small, wait_for_ever, NULL) != 0)
			poll(NULL, 0, 1), i--;
	return hold("threads");
}

/* Many processes, each with a little. */
static enum outcome balloon(int argc, char **argv)
{
	long processes = number(argument(argc, argv, 1));
	size_t each = megabytes(argc, argv, 0) / (size_t)(processes > 0 ? processes : 1);
	pid_t self = getpid();

	for (long i = 0; i < processes; i++)
		if (fork() == 0) {
			char *p = malloc(each);

			touch(p, each);
			hang_on(self);
		}
	return hold("memory of many processes");
}

/* The opposite: what many processes share is there once. */
static enum outcome share(int argc, char **argv)
{
	size_t n = megabytes(argc, argv, 0);
	long processes = number(argument(argc, argv, 1));
	pid_t self = getpid();
	char *p = malloc(n);

	if (!p)
		return cannot("malloc");
	touch(p, n);
	for (long i = 0; i < processes; i++)
		if (fork() == 0)
			hang_on(self);
	return hold("memory that is shared");
}

static bool fill(int fd, size_t n)
{
	static char page[1 << 16];

	memset(page, 1, sizeof(page));
	while (n) {
		ssize_t done = write(fd, page, n < sizeof(page) ? n : sizeof(page));

		if (done < 0)
			return false;
		n -= (size_t)done;
	}
	return true;
}

static enum outcome fill_file(int argc, char **argv)
{
	int fd = open(argument(argc, argv, 1), O_CREAT | O_RDWR, 0600);

	if (fd < 0)
		return cannot("open");
	if (!fill(fd, megabytes(argc, argv, 0)))
		return held("write");
	return hold("a file");
}

/* A file in memory and as much in the process: each alone would be within the limit. */
static enum outcome file_and_memory(int argc, char **argv)
{
	size_t n = megabytes(argc, argv, 0);
	int fd = open(argument(argc, argv, 1), O_CREAT | O_RDWR, 0600);
	char *p = malloc(n);

	if (fd < 0 || !p)
		return cannot("open");
	if (!fill(fd, n))
		return held("write");
	touch(p, n);
	return hold("a file and memory");
}

static enum outcome fill_memfd(int argc, char **argv)
{
	int fd = memfd_create("balloon", 0);

	if (fd < 0)
		return cannot("memfd_create");
	if (!fill(fd, megabytes(argc, argv, 0)))
		return held("write");
	return hold("a memfd");
}

static size_t unshared_bytes;

static void *fill_unshared(void *data)
{
	int fd;

	if (unshare(CLONE_FILES) < 0 || (fd = memfd_create("balloon", 0)) < 0)
		_exit(cannot("unshare"));
	_exit(fill(fd, unshared_bytes) ? hold("a memfd of a thread") : held("write"));
	return data;
}

/* By a thread that has descriptors of its own. */
static enum outcome fill_memfd_thread(int argc, char **argv)
{
	pthread_t thread;

	unshared_bytes = megabytes(argc, argv, 0);
	if (pthread_create(&thread, NULL, fill_unshared, NULL) != 0)
		return cannot("pthread_create");
	pthread_join(thread, NULL);
	return CANNOT;
}

/* By a process that nobody but root may look into. */
static enum outcome fill_memfd_unseen(int argc, char **argv)
{
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return cannot("prctl");
	return fill_memfd(argc, argv);
}

/* Mapped, the descriptor closed. */
static enum outcome map_memfd(int argc, char **argv)
{
	size_t n = megabytes(argc, argv, 0);
	int fd = memfd_create("balloon", 0);
	char *p = fd < 0 || ftruncate(fd, (off_t)n) < 0
			  ? MAP_FAILED
			  : mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return cannot("mmap");
	close(fd);
	touch(p, n);
	return hold("a mapped memfd");
}

/* In memory, and shown by no process. */
static enum outcome forget_shared(int argc, char **argv)
{
	size_t n = megabytes(argc, argv, 0);
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return cannot("mmap");
	for (size_t i = 0; i < n; i += MB) {
		touch(p + i, MB);
		madvise(p + i, MB, MADV_DONTNEED);
	}
	return hold("shared memory without pages");
}

static enum outcome sysv(int argc, char **argv)
{
	size_t n = megabytes(argc, argv, 0);

	for (size_t i = 0; i < n; i += 8 * MB) {
		int id = shmget(IPC_PRIVATE, 8 * MB, 0600);
		void *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

		if (p == (void *)-1)
			return held("shmget");
		touch(p, 8 * MB);
		shmdt(p);
		if (getenv("HOLD_MS"))
			shmctl(id, IPC_RMID, NULL);
	}
	return hold("System V shared memory");
}

static size_t leaderless_bytes;

static void *grow(void *data)
{
	char *p = malloc(leaderless_bytes);

	/* The first thread must be gone before. */
	poll(NULL, 0, 50);
	touch(p, leaderless_bytes);
	_exit(hold("memory without a first thread"));
	return data;
}

static enum outcome leaderless(int argc, char **argv)
{
	pthread_t thread;

	leaderless_bytes = megabytes(argc, argv, 0);
	if (pthread_create(&thread, NULL, grow, NULL) != 0)
		return cannot("pthread_create");
	syscall(SYS_exit, 0);
	return CANNOT;
}

static enum outcome many_files(int argc, char **argv)
{
	char path[4096];

	for (long i = 0; i < FILES; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%ld", argument(argc, argv, 0), i);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0)
			return held("open");
		close(fd);
	}
	return DONE;
}

static void burn(long ms)
{
	struct timespec now, end;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	end.tv_nsec += ms * 1000000;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec - end.tv_nsec < 0);
}

/* Processor time of children that nobody waits for: MS in all, STEP in each. */
static enum outcome burn_unseen(int argc, char **argv)
{
	long left = number(argument(argc, argv, 0)), step = number(argument(argc, argv, 1));

	signal(SIGCHLD, SIG_IGN);
	for (; left > 0 && step > 0; left -= step) {
		pid_t pid = fork();

		if (pid == 0) {
			burn(step);
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return DONE;
}

/* Not an attack: can the kernel's clock be had, which sees those children? */
static enum outcome has_clock(int argc, char **argv)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	(void)argc, (void)argv;
	return judge(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0), "perf_event_open");
}

static enum outcome flood(int argc, char **argv)
{
	size_t n = megabytes(argc, argv, 0);

	return fill(1, n) ? DONE : held("write");
}

const struct attack limit_attacks[] = {
	{ "fork-bomb", fork_bomb },
	{ "thread-bomb", thread_bomb },
	{ "balloon", balloon },
	{ "share", share },
	{ "fill-file", fill_file },
	{ "balloon-after-file", file_and_memory },
	{ "fill-memfd", fill_memfd },
	{ "fill-memfd-unseen", fill_memfd_unseen },
	{ "fill-memfd-thread", fill_memfd_thread },
	{ "map-memfd", map_memfd },
	{ "forget-shared", forget_shared },
	{ "sysv", sysv },
	{ "leaderless", leaderless },
	{ "many-files", many_files },
	{ "burn-unseen", burn_unseen },
	{ "has-clock", has_clock },
	{ "flood-output", flood },
	{ NULL, NULL },
};
