/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs several commands in turn, many times, and prints for each the least, the middle
 * and the 99th percentile of its wall time, and the middle of the processor time it and
 * the processes it waited for took:
 *
 *	bench-start -n 500 ::: bare true ::: cordon cordon run -- true
 *	name TAB runs TAB min TAB median TAB p99 TAB cpu	(milliseconds)
 *
 * The commands are interleaved, in another order in every round, so that what else the
 * machine does falls on all of them alike and ratios within one run hold; on a busy machine
 * the processor time is the steadier figure. What else it does is mostly giving up the
 * namespaces of the command before, so none may always come after the same one.
 * Before each run `-p COMMAND` is given to a shell, untimed. The first round is not
 * counted. A command that fails ends the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUBJECTS_MAX 64
#define SEPARATOR ":::"

extern char **environ;

struct subject {
	const char *name;
	char **argv;
	double *ms, *cpu;
};

struct cost {
	double ms, cpu;
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "bench-start: %s: %s\n", name, what);
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Output goes nowhere; messages stay visible only when asked for. */
static void silence(posix_spawn_file_actions_t *actions)
{
	posix_spawn_file_actions_init(actions);
	posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
	if (!getenv("BENCH_VERBOSE"))
		posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
}

static double ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static struct cost run_once(const char *name, char *const *argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double started;
	int status, r;
	pid_t pid;

	silence(&actions);
	started = now_ms();
	r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (r != 0)
		die(strerror(r), name);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			die("cannot wait", name);
	started = now_ms() - started;
	posix_spawn_file_actions_destroy(&actions);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("the command failed; BENCH_VERBOSE=1 shows why", name);
	return (struct cost){ started, ms_of(usage.ru_utime) + ms_of(usage.ru_stime) };
}

static void prepare(char *command)
{
	char *argv[] = { (char *)"sh", (char *)"-c", command, NULL };

	if (command)
		run_once("preparation", argv);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const struct subject *s, size_t n)
{
	qsort(s->ms, n, sizeof(*s->ms), by_value);
	qsort(s->cpu, n, sizeof(*s->cpu), by_value);
	printf("%s\t%zu\t%.3f\t%.3f\t%.3f\t%.3f\n", s->name, n, s->ms[0], s->ms[n / 2],
	       s->ms[(n * 99 - 1) / 100], s->cpu[n / 2]);
}

/* Cuts the arguments into subjects; each separator becomes the end of an argv. */
static size_t read_subjects(char **argv, struct subject *subjects, size_t runs)
{
	size_t n = 0;

	for (; *argv; argv++) {
		if (strcmp(*argv, SEPARATOR) != 0)
			continue;
		*argv = NULL;
		if (n == SUBJECTS_MAX || !argv[1] || !argv[2])
			die("a name and a command are wanted after it", SEPARATOR);
		subjects[n].name = argv[1];
		subjects[n].argv = argv + 2;
		subjects[n].ms = calloc(runs, sizeof(double));
		subjects[n].cpu = calloc(runs, sizeof(double));
		if (!subjects[n].ms || !subjects[n].cpu)
			die("out of memory", "setup");
		n++;
	}
	return n;
}

/* The same orders in every run of this program. */
static void shuffle(size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i-- > 1;) {
		size_t other = (size_t)rand() % (i + 1), mine = order[i];

		order[i] = order[other];
		order[other] = mine;
	}
}

static void run_round(struct subject *subjects, size_t n, size_t round, char *before)
{
	size_t order[SUBJECTS_MAX];

	shuffle(order, n);
	for (size_t i = 0; i < n; i++) {
		struct subject *s = &subjects[order[i]];
		struct cost cost;

		prepare(before);
		cost = run_once(s->name, s->argv);
		if (!round)
			continue;
		s->ms[round - 1] = cost.ms;
		s->cpu[round - 1] = cost.cpu;
	}
}

int main(int argc, char **argv)
{
	struct subject subjects[SUBJECTS_MAX];
	char *before = NULL;
	size_t runs = 500, n;
	int option;

	while ((option = getopt(argc, argv, "+n:p:")) != -1) {
		if (option == 'n')
			runs = strtoul(optarg, NULL, 10);
		else if (option == 'p')
			before = optarg;
		else
			return 2;
	}
	n = read_subjects(argv + optind, subjects, runs);
	if (!n || !runs)
		die("usage: bench-start [-n RUNS] [-p COMMAND] ::: NAME COMMAND...", "arguments");
	for (size_t round = 0; round <= runs; round++)
		run_round(subjects, n, round, before);
	for (size_t i = 0; i < n; i++) {
		print(&subjects[i], runs);
		free(subjects[i].ms);
		free(subjects[i].cpu);
	}
	return 0;
}
