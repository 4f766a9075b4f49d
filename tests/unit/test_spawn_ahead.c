/* SPDX-License-Identifier: Apache-2.0 */
/* base/spawn_ahead: a child in namespaces that were made before it, and what is done when
 * they could not be. Every test is a process of its own, which may take a filter. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/spawn.h"
#include "skip.h"

#define FLAGS (CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)

extern char **environ;

static char outside[64];

static void link_of(const char *name, char *to, size_t size)
{
	ssize_t n = readlink(name, to, size - 1);

	to[n < 0 ? 0 : n] = '\0';
}

/* In the child; its exit status is that of the test's question. */
static CHILD_SAFE int is_elsewhere(void *data, int error_fd)
{
	char inside[sizeof(outside)];

	(void)data, (void)error_fd;
	link_of("/proc/self/ns/net", inside, sizeof(inside));
	_exit(*inside && strcmp(inside, outside) != 0 ? 7 : 8);
}

static unsigned introductions;
static bool early; /* the last one was made before the child was known */

static int introduce(void *data, pid_t pid, struct cordon_error *err)
{
	(void)data, (void)err;
	introductions++;
	return pid > 0 ? 0 : -1;
}

static struct spawn_request request(struct spawn_ahead *ahead)
{
	static char name[] = "true", *argv[] = { name, NULL };

	link_of("/proc/self/ns/net", outside, sizeof(outside));
	return (struct spawn_request){ .program = "/bin/true",
				       .argv = argv,
				       .envp = environ,
				       .clone_flags = FLAGS,
				       .ahead = ahead,
				       .child = is_elsewhere };
}

static void adopt(int yes)
{
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, yes), 0);
}

static int end_of(const struct spawn_request *r)
{
	struct cordon_error err = { 0 };
	struct spawned s;
	int status;

	cr_assert_eq(spawn_start(r, &s, &err), 0, "%s", err.message);
	cr_assert_eq(waitpid(s.pid, &status, 0), s.pid, "it is no child of ours");
	early = s.introduced;
	close(s.pidfd);
	close(s.error_fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* It waits for its order, for which it sleeps: what it has made it has said by then. */
static bool is_waiting(int pid)
{
	char name[64], state = '?';
	FILE *stat;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	stat = fopen(name, "re");
	cr_assert(stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1);
	fclose(stat);
	return state == 'S';
}

/* Until the only child of this process is in another network, and has nothing left to do: the
 * kernel shows the one before the child can say so. */
static void wait_until_made(void)
{
	char name[64], inside[sizeof(outside)];
	FILE *children = fopen("/proc/thread-self/children", "re");
	int pid = 0;

	cr_assert(children && fscanf(children, "%d", &pid) == 1);
	fclose(children);
	snprintf(name, sizeof(name), "/proc/%d/ns/net", pid);
	link_of("/proc/self/ns/net", outside, sizeof(outside));
	do {
		sched_yield();
		link_of(name, inside, sizeof(inside));
	} while (strcmp(inside, outside) == 0 || !is_waiting(pid));
}

static void assert_nobody_is_left(void)
{
	cr_assert_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	cr_assert_eq(errno, ECHILD);
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define NOBODY_GOES true
#else
#define NOBODY_GOES false
#endif

static void skip_without_namespaces(void)
{
	pid_t pid;
	int status;

	if (NOBODY_GOES)
		honest_skip("nobody goes ahead under a sanitizer");
	pid = fork();

	if (pid == 0)
		_exit(unshare(FLAGS) == 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	if (status)
		must_or_skip("namespaces cannot be made here");
}

Test(ahead, the_child_is_in_them_and_is_ours)
{
	struct spawn_ahead *a;
	struct spawn_request r;

	skip_without_namespaces();
	adopt(1);
	a = spawn_ahead_start(FLAGS);
	cr_assert(a);
	wait_until_made();
	r = request(a);
	r.parent = introduce;
	cr_assert_eq(end_of(&r), 7);
	cr_assert(early);
	cr_assert_eq(introductions, 1);
	/* Once only: the next one has namespaces of its own. */
	cr_assert_eq(end_of(&r), 7);
	cr_assert_not(early);
	spawn_ahead_end(a);
	assert_nobody_is_left();
}

Test(ahead, what_cannot_be_used_is_done_without)
{
	struct spawn_ahead *a;
	struct spawn_request r;

	skip_without_namespaces();
	/* The child would be somebody else's. */
	adopt(0);
	a = spawn_ahead_start(FLAGS);
	r = request(a);
	cr_assert_eq(end_of(&r), 7);
	spawn_ahead_end(a);
	/* More than the child is to have. */
	adopt(1);
	a = spawn_ahead_start(FLAGS);
	r = request(a);
	r.clone_flags = CLONE_NEWUSER;
	cr_assert_eq(end_of(&r), 8);
	spawn_ahead_end(a);
	assert_nobody_is_left();
}

static void deny(int number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

static cpu_set_t allowed;

static CHILD_SAFE int is_as_free(void *data, int error_fd)
{
	cpu_set_t mine;

	(void)data, (void)error_fd;
	_exit(sched_getaffinity(0, sizeof(mine), &mine) == 0 && CPU_EQUAL(&mine, &allowed) ? 7 : 8);
}

static void assert_as_free(struct spawn_ahead *a)
{
	struct spawn_request r = request(a);

	cr_assert_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	r.parent = introduce;
	r.child = is_as_free;
	cr_assert_eq(end_of(&r), 7);
	spawn_ahead_end(a);
	assert_nobody_is_left();
}

/* The one ahead keeps away from its caller's processor; what it starts does not. */
Test(ahead, the_child_may_use_the_processors_of_its_caller)
{
	struct spawn_ahead *a;

	skip_without_namespaces();
	adopt(1);
	a = spawn_ahead_start(FLAGS);
	wait_until_made();
	assert_as_free(a);
	cr_assert(early);
}

/* Nor is anything held to a processor where that could not be taken back. */
Test(ahead, without_a_choice_of_processors_it_is_done_without)
{
	skip_without_namespaces();
	adopt(1);
	deny(SYS_sched_setaffinity);
	assert_as_free(spawn_ahead_start(FLAGS));
	cr_assert_not(early);
}

Test(ahead, unused_or_none_is_ended)
{
	spawn_ahead_end(spawn_ahead_start(FLAGS));
	spawn_ahead_end(NULL);
	assert_nobody_is_left();
}

Test(ahead, where_it_fails_the_child_is_made_all_the_same)
{
	struct spawn_ahead *a;
	struct spawn_request r;

	skip_without_namespaces();
	adopt(1);
	deny(SYS_unshare);
	a = spawn_ahead_start(FLAGS);
	r = request(a);
	r.parent = introduce;
	cr_assert_eq(end_of(&r), 7);
	cr_assert_not(early);
	spawn_ahead_end(a);
	assert_nobody_is_left();
}

/* It has the descriptors of its caller: the pipe ends when both are gone. */
Test(ahead, it_dies_with_its_caller)
{
	int ends[2];
	char c;
	pid_t pid;

	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	pid = fork();
	if (pid == 0) {
		spawn_ahead_start(FLAGS);
		raise(SIGKILL);
	}
	close(ends[1]);
	waitpid(pid, NULL, 0);
	cr_assert_eq(read(ends[0], &c, 1), 0);
	close(ends[0]);
}
