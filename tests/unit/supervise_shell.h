/* SPDX-License-Identifier: Apache-2.0 */
/* A shell script as what a run supervises, here or in a process of its own. */
#ifndef CORDON_TESTS_SUPERVISE_SHELL_H
#define CORDON_TESTS_SUPERVISE_SHELL_H

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/supervise.h"

extern char **environ;

static inline struct run_request shell(const char *script)
{
	static const char *argv[4];

	argv[0] = "sh";
	argv[1] = "-c";
	argv[2] = script;
	argv[3] = NULL;
	return (struct run_request){
		.program = "/bin/sh", .argv = (char *const *)argv, .envp = environ,
		.capture = true, .stdin_null = true,
	};
}

static inline void supervise(const struct run_request *q, struct run_result *ret)
{
	struct cordon_error err;

	cr_assert_eq(run_supervise(q, ret, &err), 0, "%s", err.message);
}

static inline int status_of(const char *script)
{
	struct run_request q = shell(script);
	struct run_result r;
	int status;

	supervise(&q, &r);
	status = run_result_status(&r);
	run_result_free(&r);
	return status;
}

/* Runs q in a process of its own, so that it can be sent signals; *ret_ready is
 * readable when the command has written something. */
static inline pid_t supervise_apart(struct run_request q, int *ret_ready)
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	pid = fork();
	if (pid == 0) {
		struct run_result r;
		struct cordon_error err;

		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		/* A caller in the background ignores these two, and so would we. */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		q.capture = false;
		_exit(run_supervise(&q, &r, &err) ? 99 : run_result_status(&r));
	}
	close(ends[1]);
	*ret_ready = ends[0];
	return pid;
}

static inline void expect_line(int fd, const char *line)
{
	char text[64] = "";

	for (size_t n = 0; n < sizeof(text) - 1; n++)
		if (read(fd, text + n, 1) != 1 || text[n] == '\n') {
			text[n] = '\0';
			break;
		}
	cr_assert_str_eq(text, line);
}

static inline int status_of_process(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif
