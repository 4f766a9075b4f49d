/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child's half of spawn: everything between clone and exec. Every function here
 * is CHILD_SAFE; nothing here may allocate, format or touch stdio.
 */
#include "base/spawn_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Appends text to the NUL-terminated field, cutting it at the end of the field. */
CHILD_SAFE static void append(char *field, size_t size, const char *text)
{
	size_t n = strlen(field);

	while (*text && n + 1 < size)
		field[n++] = *text++;
	field[n] = '\0';
}

CHILD_SAFE int spawn_child_fail(int error_fd, enum cordon_code code, int errnum,
				const char *stage, const char *what, const char *object,
				const char *hint)
{
	struct cordon_error e;
	ssize_t done;

	memset(&e, 0, sizeof(e));
	e.code = (int)code;
	e.sys_errno = errnum;
	append(e.stage, sizeof(e.stage), stage);
	append(e.message, sizeof(e.message), what);
	if (object) {
		append(e.message, sizeof(e.message), " ");
		append(e.message, sizeof(e.message), object);
	}
	if (hint)
		append(e.hint, sizeof(e.hint), hint);
	do
		done = write(error_fd, &e, sizeof(e));
	while (done < 0 && errno == EINTR);
	return -(int)code;
}

CHILD_SAFE int spawn_child_write(int error_fd, const char *stage, const char *path,
				 const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);

	if (fd < 0 || write(fd, text, n) != (ssize_t)n)
		return spawn_child_fail(error_fd, CORDON_E_INIT, errno, stage, "cannot write", path,
					NULL);
	close(fd);
	return 0;
}

CHILD_SAFE static int fail_system(int error_fd, const char *what)
{
	return spawn_child_fail(error_fd, CORDON_E_SYSTEM, errno, "spawn", what, NULL, NULL);
}

CHILD_SAFE static void set_disposition(int sig, void (*handler)(int))
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sigaction(sig, &sa, NULL);
}

/* A parent's handler must not run in the child, and ignoring is inherited by exec:
 * so the first is taken away and the second kept. All signals are still blocked. */
CHILD_SAFE static int reset_signals(const struct spawn_request *r, const sigset_t *mask,
				    int error_fd)
{
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction sa;

		if (sigaction(sig, NULL, &sa) < 0)
			continue;
		if (r->ignored && sigismember(r->ignored, sig) == 1)
			set_disposition(sig, SIG_IGN);
		else if ((r->defaulted && sigismember(r->defaulted, sig) == 1) ||
			 (sa.sa_handler != SIG_DFL && sa.sa_handler != SIG_IGN))
			set_disposition(sig, SIG_DFL);
	}
	if (sigprocmask(SIG_SETMASK, mask, NULL) < 0)
		return fail_system(error_fd, "cannot restore the signal mask");
	return 0;
}

CHILD_SAFE static int set_session(const struct spawn_request *r, int error_fd)
{
	if (r->new_session && setsid() < 0)
		return fail_system(error_fd, "cannot start a new session");
	if (!r->new_session && r->new_group && setpgid(0, 0) < 0)
		return fail_system(error_fd, "cannot start a new process group");
	return 0;
}

/* The parent may have died before that. getppid cannot tell across a pid namespace;
 * a pipe without a reader can. */
CHILD_SAFE static int bind_to_parent(const struct spawn_request *r, int error_fd)
{
	struct pollfd end = { .fd = error_fd };

	if (!r->die_with_parent)
		return 0;
	if (spawn_child_bind() < 0)
		return fail_system(error_fd, "cannot tie the command to cordon's life");
	if (poll(&end, 1, 0) < 0)
		return fail_system(error_fd, "cannot see whether cordon lives");
	if (end.revents & POLLERR)
		_exit(125);
	return 0;
}

CHILD_SAFE static bool is_target(const struct spawn_request *r, int fd)
{
	for (size_t i = 0; i < r->n_fds; i++)
		if (r->fds[i].to == fd)
			return true;
	return false;
}

CHILD_SAFE static int close_between(int first, unsigned last)
{
	if ((unsigned)first > last)
		return 0;
	return spawn_child_close((unsigned)first, last);
}

/* Sources are first moved above every target, so that no target can overwrite a
 * source that is still needed. */
CHILD_SAFE static int map_fds(const struct spawn_request *r, int base, int *error_fd)
{
	int held[SPAWN_FDS_MAX];
	int moved = fcntl(*error_fd, F_DUPFD_CLOEXEC, base);

	if (moved < 0)
		return fail_system(*error_fd, "cannot move a descriptor");
	*error_fd = moved;
	for (size_t i = 0; i < r->n_fds; i++) {
		held[i] = fcntl(r->fds[i].from, F_DUPFD_CLOEXEC, base);
		if (held[i] < 0)
			return fail_system(*error_fd, "cannot move a descriptor");
	}
	for (size_t i = 0; i < r->n_fds; i++)
		if (dup2(held[i], r->fds[i].to) < 0)
			return fail_system(*error_fd, "cannot place a descriptor");
	return 0;
}

CHILD_SAFE static int arrange_fds(const struct spawn_request *r, int *error_fd)
{
	int base = 3;
	int failed;

	for (size_t i = 0; i < r->n_fds; i++)
		if (r->fds[i].to >= base)
			base = r->fds[i].to + 1;
	failed = map_fds(r, base, error_fd);
	if (failed)
		return failed;
	for (int fd = 3; fd < base; fd++)
		if (!is_target(r, fd))
			close(fd);
	if (close_between(base, (unsigned)*error_fd - 1) < 0 ||
	    close_between(*error_fd + 1, ~0u) < 0)
		return fail_system(*error_fd, "cannot close inherited descriptors");
	return 0;
}

CHILD_SAFE static int set_rlimits(const struct spawn_request *r, int error_fd)
{
	for (size_t i = 0; i < r->n_rlimits; i++) {
		const struct spawn_rlimit *want = &r->rlimits[i];
		struct rlimit now;

		if (getrlimit(want->resource, &now) < 0)
			return fail_system(error_fd, "cannot read a resource limit");
		if (now.rlim_max > want->hard)
			now.rlim_max = want->hard;
		if (now.rlim_cur > want->soft)
			now.rlim_cur = want->soft;
		if (now.rlim_cur > now.rlim_max)
			now.rlim_cur = now.rlim_max;
		if (setrlimit(want->resource, &now) < 0)
			return fail_system(error_fd, "cannot set a resource limit");
	}
	return 0;
}

static const struct exec_hint {
	int errnum;
	const char *text;
} exec_hints[] = {
	{ EACCES, "make it executable (chmod +x), or check that no mount or rule forbids it" },
	{ ENOEXEC, "not a program for this machine, or a script without a #! line: try sh FILE" },
	{ E2BIG, "arguments and environment together are too long: pass them in a file" },
	{ ETXTBSY, "the file is still open for writing" },
};

CHILD_SAFE const char *spawn_exec_hint(int errnum, const char *program)
{
	if (errnum == ENOENT && faccessat(AT_FDCWD, program, F_OK, 0) == 0)
		return "the file is there: the interpreter in its #! line, or its loader, is not";
	for (size_t i = 0; i < sizeof(exec_hints) / sizeof(exec_hints[0]); i++)
		if (exec_hints[i].errnum == errnum)
			return exec_hints[i].text;
	return "";
}

CHILD_SAFE int spawn_child_enter(const struct spawn_request *r, int error_fd)
{
	if (!r->cwd || chdir(r->cwd) == 0)
		return 0;
	return spawn_child_fail(error_fd, CORDON_E_PATH, errno, "spawn",
				"cannot enter the directory", r->cwd, NULL);
}

CHILD_SAFE int spawn_child_exec(const struct spawn_request *r, int error_fd)
{
	int failed = set_rlimits(r, error_fd);
	int errnum;

	if (failed)
		return failed;
	if (r->mask && sigprocmask(SIG_SETMASK, r->mask, NULL) < 0)
		return fail_system(error_fd, "cannot restore the signal mask");
	execve(r->program, r->argv, r->envp);
	errnum = errno;
	return spawn_child_fail(error_fd,
				errnum == ENOENT ? CORDON_E_NOT_FOUND : CORDON_E_EXEC,
				errnum, "exec", "cannot execute", r->program,
				spawn_exec_hint(errnum, r->program));
}

CHILD_SAFE static int prepare(const struct spawn_request *r, int *error_fd,
			      const sigset_t *mask)
{
	int failed = reset_signals(r, mask, *error_fd);

	if (!failed)
		failed = set_session(r, *error_fd);
	if (!failed)
		failed = bind_to_parent(r, *error_fd);
	if (!failed && r->cwd_fd > 0 && fchdir(r->cwd_fd) < 0)
		failed = fail_system(*error_fd, "cannot enter the working directory");
	if (!failed)
		failed = arrange_fds(r, error_fd);
	return failed;
}

/* The end of the pipe without a byte: the parent gave up. */
CHILD_SAFE static bool allowed_to_begin(const struct spawn_pipes *pipes)
{
	ssize_t got;
	char byte;

	if (pipes->go_read < 0)
		return true;
	close(pipes->go_write);
	do
		got = read(pipes->go_read, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

CHILD_SAFE BORROWS_STACK void spawn_child_main(const struct spawn_request *r,
					       const struct spawn_pipes *pipes,
					       const sigset_t *mask)
{
	int error_fd = pipes->error_write;

	/* bind_to_parent looks for readers: this one must not count. */
	close(pipes->error_read);
	if (allowed_to_begin(pipes) && prepare(r, &error_fd, mask) == 0) {
		if (r->child)
			r->child(r->child_data, error_fd);
		else if (spawn_child_enter(r, error_fd) == 0)
			spawn_child_exec(r, error_fd);
	}
	_exit(125);
}
