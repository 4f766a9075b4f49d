/* SPDX-License-Identifier: Apache-2.0 */
/* inflight: how long a call that nobody sees the end of counts as under way. */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/inflight.h"

#define SECOND ((int64_t)1000000000)

/* Returns when it computes, in no call. */
static pid_t start_computing(void)
{
	volatile unsigned *n = mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			++*n;
	}
	cr_assert_gt(pid, 0);
	while (!*n)
		sched_yield();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool counts_now(const struct inflight *f)
{
	int64_t now = inflight_now();

	return inflight_during(f, INFLIGHT_FILE, now - SECOND, now, now, 0);
}

/* It could not have left the call: an attacker lets a thread starve, and gives it what it
 * waits for when nobody looks any more. */
Test(inflight, a_thread_that_gets_no_processor_stays_in_its_call)
{
	pid_t pid = start_computing();
	struct inflight f = { 0 };

	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	inflight_settle(&f);
	f.open[0].from -= 3600 * SECOND;
	inflight_settle(&f);
	cr_assert_eq(f.n_open, 1);
	cr_assert(counts_now(&f));
	end(pid);
}

Test(inflight, one_that_computes_has_left_it)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	pid_t pid = start_computing();
	struct inflight f = { 0 };

	inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	while (f.n_open) {
		nanosleep(&moment, NULL);
		inflight_settle(&f);
	}
	end(pid);
}

Test(inflight, one_that_is_gone_has_left_it)
{
	pid_t pid = start_computing();
	struct inflight f = { 0 };

	inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	end(pid);
	inflight_settle(&f);
	cr_assert_eq(f.n_open, 0);
}

Test(inflight, none_is_driven_out_by_a_flood)
{
	static struct inflight f;

	for (pid_t pid = 1; pid <= INFLIGHT_OPEN_MAX + 1; pid++)
		inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	f.n_open = 0;
	cr_assert(counts_now(&f));
}
