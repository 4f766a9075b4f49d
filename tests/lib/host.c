/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A difficult host for libcordon: host RUNS [wall]
 *
 * Many threads; every signal blocked; some ignored, some with a handler; a thread that
 * reaps every child there is, as an init or a server does; children of its own all the
 * while; threads that start a run and end at once, so that another one has to finish it;
 * processes forked without exec, which hold copies of every descriptor. Each run must
 * give its own output and exit code and find its signals as a fresh process has them, and
 * afterwards the host must be as it was: no child, no descriptor, no signal changed. With
 * "wall" the reaping takes even what sends no signal.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cordon/cordon.h>

#include "descriptors.h"

#define THREADS 6
#define OWN_EVERY 4  /* runs between two children of the host's own */
#define FORK_EVERY 10 /* runs between two forks without exec */
#define PIDS_MAX 100000

extern char **environ;

static struct cordon_policy *policy;
static atomic_int next_run, failures, strangers, reaped_own;
static atomic_bool reaping = true;
static int runs, wall;
static atomic_int own[PIDS_MAX];
static atomic_int n_own;

static void complain(int i, const char *what, const char *detail)
{
	fprintf(stderr, "run %d: %s: %s\n", i, what, detail);
	atomic_fetch_add(&failures, 1);
}

/* --- what the host does for itself ---------------------------------------------------- */

static void handler(int sig)
{
	(void)sig;
	abort(); /* blocked everywhere: it can run nowhere but in a child that forgot to reset */
}

static void start_own_child(void)
{
	char *argv[] = { (char *)"true", NULL };
	int slot = atomic_fetch_add(&n_own, 1);
	pid_t pid;

	if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ) != 0)
		abort();
	atomic_store(&own[slot], pid);
}

/* Holds a copy of every descriptor for a moment, the library's among them. */
static void fork_without_exec(void)
{
	int slot = atomic_fetch_add(&n_own, 1);
	pid_t pid = fork();

	if (pid == 0) {
		const struct timespec moment = { .tv_nsec = 30000000 };

		nanosleep(&moment, NULL);
		_exit(0);
	}
	atomic_store(&own[slot], pid);
}

/* A child may have ended before its number was stored: until all are, nobody knows. */
static bool is_own(pid_t pid)
{
	bool missing = true;

	while (missing) {
		int n = atomic_load(&n_own);

		missing = false;
		for (int i = 0; i < n; i++) {
			int known = atomic_load(&own[i]);

			if (known == pid)
				return true;
			missing |= known == 0;
		}
		sched_yield();
	}
	return false;
}

static void *reap(void *unused)
{
	(void)unused;
	for (;;) {
		pid_t pid = waitpid(-1, NULL, wall ? __WALL : 0);

		if (pid > 0 && is_own(pid))
			atomic_fetch_add(&reaped_own, 1);
		else if (pid > 0)
			atomic_fetch_add(&strangers, 1);
		else if (errno == ECHILD && !atomic_load(&reaping))
			return NULL;
		else if (errno == ECHILD)
			sched_yield();
	}
}

/* --- runs ----------------------------------------------------------------------------- */

struct started {
	int i;
	struct cordon_run *run;
	struct cordon_error err;
	int failed;
};

static void *start_run(void *data)
{
	struct started *s = data;
	char text[256];
	struct cordon_request request = { .size = sizeof(request), .shell = text };

	snprintf(text, sizeof(text),
		 "echo run %d; grep -E '^Sig(Blk|Ign):' /proc/self/status >&2; exit %d", s->i,
		 s->i % 200);
	s->failed = cordon_run_start(policy, &request, &s->run, &s->err);
	return NULL;
}

static void check_result(int i, const struct cordon_result *result)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "run %d\n", i);
	if (strcmp(cordon_result_stdout(result, NULL), wanted) != 0)
		complain(i, "another output", cordon_result_stdout(result, NULL));
	if (cordon_result_exit_code(result) != i % 200)
		complain(i, "another exit code", cordon_result_json(result));
	if (strcmp(cordon_result_stderr(result, NULL),
		   "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n") != 0)
		complain(i, "signals of the host", cordon_result_stderr(result, NULL));
}

/* The thread that starts it has ended before anybody waits for it. */
static void one_run(int i)
{
	struct started s = { .i = i };
	pthread_t starter;

	if (pthread_create(&starter, NULL, start_run, &s) != 0) {
		complain(i, "no thread", "");
		return;
	}
	pthread_join(starter, NULL);
	if (s.failed) {
		complain(i, "not started", s.err.message);
		return;
	}
	if (cordon_run_wait(s.run, -1, &s.err) != 0)
		complain(i, "no result", s.err.message);
	else
		check_result(i, cordon_run_result(s.run));
	cordon_run_free(s.run);
}

static void *work(void *unused)
{
	int i;

	(void)unused;
	while ((i = atomic_fetch_add(&next_run, 1)) < runs) {
		if (i % OWN_EVERY == 0)
			start_own_child();
		if (i % FORK_EVERY == 0)
			fork_without_exec();
		one_run(i);
	}
	return NULL;
}

/* --- before and after ------------------------------------------------------------------ */

struct state {
	int descriptors;
	sigset_t mask;
	void (*usr1)(int), (*pipe)(int), (*chld)(int);
	char cwd[4096];
};

static void look(struct state *s)
{
	struct sigaction sa;

	memset(s, 0, sizeof(*s));
	s->descriptors = count_descriptors();
	pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
	sigaction(SIGUSR1, NULL, &sa);
	s->usr1 = sa.sa_handler;
	sigaction(SIGPIPE, NULL, &sa);
	s->pipe = sa.sa_handler;
	sigaction(SIGCHLD, NULL, &sa);
	s->chld = sa.sa_handler;
	if (!getcwd(s->cwd, sizeof(s->cwd)))
		s->cwd[0] = '\0';
}

/* The C library keeps two signals for itself and lets nobody set them; whoever started the
 * tests may ignore them, and a command would inherit that. */
static void heed_library_signals(void)
{
	const unsigned long none[4] = { 0 };

	for (int sig = 32; sig <= 33; sig++)
		syscall(SYS_rt_sigaction, sig, none, NULL, sizeof(unsigned long));
}

static void prepare_signals(void)
{
	struct sigaction sa = { .sa_handler = handler };
	sigset_t all;

	heed_library_signals();
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGCHLD, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void compare(const struct state *before)
{
	struct state after;

	look(&after);
	if (after.descriptors != before->descriptors)
		complain(-1, "descriptors are left", "");
	if (memcmp(&after.mask, &before->mask, sizeof(after.mask)) != 0 ||
	    after.usr1 != before->usr1 || after.pipe != before->pipe ||
	    after.chld != before->chld)
		complain(-1, "signals were changed", "");
	if (strcmp(after.cwd, before->cwd) != 0)
		complain(-1, "another directory", after.cwd);
	if (waitpid(-1, NULL, WNOHANG | __WALL) >= 0 || errno != ECHILD)
		complain(-1, "a child is left", "");
	if (!wall && atomic_load(&strangers))
		complain(-1, "the host reaped what is not its own", "");
	if (atomic_load(&reaped_own) != atomic_load(&n_own))
		complain(-1, "children of the host's own were lost", "");
}

int main(int argc, char **argv)
{
	pthread_t reaper, workers[THREADS];
	struct state before;

	runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
	if (runs < 1 || runs > PIDS_MAX / 2)
		return 2;
	wall = argc > 2 && strcmp(argv[2], "wall") == 0;
	policy = cordon_policy_new("moderate");
#ifdef PROGRAM
	cordon_policy_program(policy, PROGRAM);
#endif
	cordon_policy_timeout(policy, 120000);
	prepare_signals();
	look(&before);
	pthread_create(&reaper, NULL, reap, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&workers[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i], NULL);
	atomic_store(&reaping, false);
	pthread_join(reaper, NULL);
	compare(&before);
	cordon_policy_free(policy);
	printf("%d runs, %d failures, %d children of its own, %d strangers\n", runs,
	       atomic_load(&failures), atomic_load(&reaped_own), atomic_load(&strangers));
	return atomic_load(&failures) != 0;
}
