/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child rule: linked with allocation, stdio and formatting wrapped so that any of
 * them aborts in a child. An abort shows as an outcome other than the one expected.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"

extern char **environ;

static long parent_pid;

static void check(void)
{
	if (parent_pid && syscall(SYS_getpid) != parent_pid)
		abort();
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
	check();
	return __real_malloc(n);
}

void *__real_calloc(size_t n, size_t m);
void *__wrap_calloc(size_t n, size_t m);
void *__wrap_calloc(size_t n, size_t m)
{
	check();
	return __real_calloc(n, m);
}

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
	check();
	return __real_realloc(p, n);
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	check();
	__real_free(p);
}

int __real_vsnprintf(char *to, size_t n, const char *fmt, va_list ap);
int __wrap_vsnprintf(char *to, size_t n, const char *fmt, va_list ap);
__attribute__((format(printf, 3, 0)))
int __wrap_vsnprintf(char *to, size_t n, const char *fmt, va_list ap)
{
	check();
	return __real_vsnprintf(to, n, fmt, ap);
}

int __wrap_snprintf(char *to, size_t n, const char *fmt, ...);
__attribute__((format(printf, 3, 4)))
int __wrap_snprintf(char *to, size_t n, const char *fmt, ...)
{
	va_list ap;
	int done;

	check();
	va_start(ap, fmt);
	done = __real_vsnprintf(to, n, fmt, ap);
	va_end(ap);
	return done;
}

char *__real_strerror(int errnum);
char *__wrap_strerror(int errnum);
char *__wrap_strerror(int errnum)
{
	check();
	return __real_strerror(errnum);
}

static struct spawn_request everything(void)
{
	static char name[] = "true";
	static char *argv[] = { name, NULL };
	static struct spawn_fd fds[] = { { 1, 5 }, { 2, 7 } };
	static struct spawn_rlimit limits[] = { { RLIMIT_CORE, 0, 0 } };
	static sigset_t some;

	sigemptyset(&some);
	sigaddset(&some, SIGPIPE);
	return (struct spawn_request){
		.program = "/bin/true", .argv = argv, .envp = environ, .cwd = "/",
		.new_session = true, .die_with_parent = true, .ignored = &some,
		.defaulted = &some, .fds = fds, .n_fds = 2, .rlimits = limits,
		.n_rlimits = 1,
	};
}

/* 0 and the wait status, or the child's -code. */
static int outcome(const struct spawn_request *r, int *ret_status)
{
	struct cordon_error err;
	struct spawned s;
	int failed;

	parent_pid = syscall(SYS_getpid);
	cr_assert_eq(spawn_start(r, &s, &err), 0);
	failed = spawn_wait(&s, &err);
	waitpid(s.pid, ret_status, 0);
	close(s.pidfd);
	return failed;
}

Test(child_rule, success_and_every_kind_of_failure)
{
	struct spawn_request r = everything();
	int status;

	cr_assert_eq(outcome(&r, &status), 0);
	cr_assert_eq(status, 0, "the child called what it must not");
	r.cwd = "/no-such-path";
	cr_assert_eq(outcome(&r, &status), -CORDON_E_PATH);
	r = everything();
	r.program = "/no-such-path";
	cr_assert_eq(outcome(&r, &status), -CORDON_E_NOT_FOUND);
	r.program = "/etc/passwd";
	cr_assert_eq(outcome(&r, &status), -CORDON_E_EXEC);
	r = everything();
	r.fds = (struct spawn_fd[]){ { 999, 3 } };
	r.n_fds = 1;
	cr_assert_eq(outcome(&r, &status), -CORDON_E_SYSTEM);
}

static int fails_well(void *data, int error_fd)
{
	return spawn_child_fail(error_fd, CORDON_E_INIT, EPERM, "mount", "cannot mount",
				data, "hint");
}

Test(child_rule, a_child_function_reports_and_long_text_is_cut)
{
	static char path[2000];
	struct spawn_request r = everything();
	struct cordon_error err = { 0 };
	struct spawned s;

	memset(path, 'p', sizeof(path) - 1);
	r.child = fails_well;
	r.child_data = path;
	cr_assert_eq(spawn_start(&r, &s, &err), 0);
	cr_assert_eq(spawn_wait(&s, &err), -CORDON_E_INIT);
	cr_assert_eq(err.sys_errno, EPERM);
	cr_assert_str_eq(err.stage, "mount");
	cr_assert_str_eq(err.hint, "hint");
	cr_assert_eq(strncmp(err.message, "cannot mount ppp", 16), 0);
	cr_assert_lt(strlen(err.message), sizeof(err.message));
	spawn_discard(&s);
}

static int breaks_the_rule(void *data, int error_fd)
{
	void *volatile p = malloc(16);

	(void)data;
	(void)error_fd;
	free(p);
	_exit(0);
}

Test(child_rule, the_test_has_teeth)
{
	struct spawn_request r = everything();
	int status;

	r.child = breaks_the_rule;
	cr_assert_eq(outcome(&r, &status), 0);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
