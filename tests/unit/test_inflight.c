/* SPDX-License-Identifier: Apache-2.0 */
/* inflight: how long a call that nobody sees the end of counts as under way. */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/inflight.h"
#include "skip.h"

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

/* The kernel does not tell it from one that is still busy with the call: an attacker makes that
 * take seconds of a processor. */
Test(inflight, one_that_computes_stays_in_it_until_it_is_seen_elsewhere)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	pid_t pid = start_computing();
	struct inflight f = { 0 };

	inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	for (int i = 0; i < 100; i++) {
		nanosleep(&moment, NULL);
		inflight_settle(&f);
		cr_assert_eq(f.n_open, 1);
	}
	cr_assert(counts_now(&f));
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

/* Nor does it come back for not having been waited for. */
Test(inflight, one_that_has_ended_has_left_it_before_anybody_waits_for_it)
{
	pid_t pid = start_computing();
	struct inflight f = { 0 };
	siginfo_t info;

	inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	kill(pid, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	inflight_settle(&f);
	cr_assert_eq(f.n_open, 0);
	end(pid);
}

/* Who may not be looked at is in /proc, but not for everybody (hidepid). */
Test(inflight, one_that_proc_does_not_show_stays_in_it)
{
	pid_t pid = start_computing();
	struct inflight f = { 0 };

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/proc", "tmpfs", 0, NULL) < 0)
		honest_skip("only root hides all of /proc");
	inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	inflight_settle(&f);
	cr_assert_eq(f.n_open, 1);
	end(pid);
	inflight_settle(&f);
	cr_assert_eq(f.n_open, 0);
	/* A sanitizer looks for leaks there. */
	cr_assert_eq(umount2("/proc", MNT_DETACH), 0);
}

Test(inflight, none_is_driven_out_by_a_flood)
{
	static struct inflight f;

	for (pid_t pid = 1; pid <= INFLIGHT_OPEN_MAX + 1; pid++)
		inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	f.n_open = 0;
	cr_assert(counts_now(&f));
}

/* As many as there is room for, one after the other. */
static void add_many(struct inflight *f)
{
	for (size_t i = 0; i < INFLIGHT_SPANS_MAX; i++) {
		inflight_add(f, 1 << 30, __NR_openat, INFLIGHT_FILE);
		inflight_settle(f);
	}
}

Test(inflight, what_nobody_asks_for_any_more_takes_no_room)
{
	static struct inflight f;
	int64_t then;

	add_many(&f);
	then = inflight_now();
	inflight_add(&f, 1 << 30, __NR_openat, INFLIGHT_FILE);
	inflight_settle(&f);
	inflight_forget(&f, then);
	cr_assert_eq(f.over[INFLIGHT_FILE].n, 1);
	cr_assert(inflight_during(&f, INFLIGHT_FILE, then, then, inflight_now(), 0));
	inflight_forget(&f, inflight_now());
	cr_assert_eq(f.over[INFLIGHT_FILE].n, 0);
	inflight_end(&f);
}

Test(inflight, whoever_made_a_call_is_known_until_that_is_forgotten)
{
	static struct inflight f;
	pid_t pid = start_computing();
	int64_t then;

	inflight_add(&f, 1 << 30, __NR_openat, INFLIGHT_FILE);
	inflight_add(&f, pid, __NR_openat, INFLIGHT_FILE);
	inflight_settle(&f);
	then = inflight_now();
	cr_assert(inflight_was_by(&f, 1 << 30));
	cr_assert(inflight_was_by(&f, pid));
	cr_assert_not(inflight_was_by(&f, pid + INFLIGHT_MAKERS));
	inflight_forget(&f, then);
	cr_assert_not(inflight_was_by(&f, 1 << 30), "it is over");
	cr_assert(inflight_was_by(&f, pid), "it goes on");
	end(pid);
	inflight_settle(&f);
	inflight_forget(&f, then);
	cr_assert(inflight_was_by(&f, pid), "it was over later");
	inflight_forget(&f, inflight_now());
	cr_assert_not(inflight_was_by(&f, pid));
	inflight_end(&f);
}

/* There is room for some; beyond that it can have been anybody. */
Test(inflight, in_a_crowd_it_can_have_been_anybody)
{
	static struct inflight f;

	for (pid_t tid = 1 << 30; tid < (1 << 30) + INFLIGHT_MAKERS; tid++)
		inflight_add(&f, tid, __NR_openat, INFLIGHT_FILE);
	cr_assert(inflight_was_by(&f, 1));
	f.n_open = 0;
	inflight_forget(&f, inflight_now());
	cr_assert_not(inflight_was_by(&f, 1));
	inflight_end(&f);
}
