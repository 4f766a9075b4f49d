/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process inside: carries out steps 3 to 8, starts the command as its child
 * and then only waits. It is pid 1 of the sandbox, so everything there ends with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/handover.h"
#include "backend/linux/listen.h"
#include "backend/linux/native.h"

#define STAGE "seccomp"
/* For what the command leaves behind: to finish, and after a TERM. */
#define SETTLE_MS 100
#define GRACE_MS 500

static CHILD_SAFE int load_filters(const struct native *n, int error_fd)
{
	for (size_t i = 0; i < n->n_filters; i++) {
		int r = seccomp_install(n->filters[i], 0);

		if (r < 0) {
			errno = -r;
			return native_fail(error_fd, STAGE, "cannot load the filter",
					   n->filters[i]->name);
		}
	}
	return 0;
}

/* An empty session keyring, so that the caller's is out of reach. A kernel without
 * keyrings has nothing to reach; inside another sandbox the call itself is refused, and
 * so it is for the command. */
static CHILD_SAFE int leave_keyring(const struct native *n, int error_fd)
{
	if (!n->new_keyring ||
	    syscall(__NR_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0) >= 0 ||
	    errno == ENOSYS || (errno == EPERM && n->n_filters))
		return 0;
	return native_fail(error_fd, "keyring", "cannot leave the caller's keyring", NULL);
}

/* A session of the command's own, apart from init's: its group can then be signalled as
 * a terminal would, and is orphaned, so that a TSTP it sends itself is dropped instead of
 * stopping it for good. */
static CHILD_SAFE int leave_session(const struct native *n, int error_fd)
{
	if (n->pid_namespace && n->terminal)
		return native_enter_foreground(n, error_fd);
	if (!n->pid_namespace || !n->command.new_session || setsid() >= 0)
		return 0;
	return native_fail(error_fd, "session", "cannot start a session for", "the command");
}

/* Whatever the supervisor needs of us it has before the command is executed. */
static CHILD_SAFE int finish_handover(const struct native *n, int error_fd)
{
	return n->handover_fd ? handover_finish(n->handover_fd, error_fd) : 0;
}

/* What the caller ignores and init must not: its child would be gone without a status. */
static CHILD_SAFE void ignore_again(const struct native *n)
{
	if (n->command.ignored && sigismember(n->command.ignored, SIGCHLD) == 1)
		signal(SIGCHLD, SIG_IGN);
}

/* Steps 7 and 8 in the command's own process. Returns only on failure. The directory is
 * entered before anybody listens, who would have to be waited for. */
static CHILD_SAFE void become_command(const struct native *n, int ruleset, int error_fd)
{
	if (leave_session(n, error_fd) == 0 && leave_keyring(n, error_fd) == 0 &&
	    native_landlock_enforce(ruleset, error_fd) == 0 && load_filters(n, error_fd) == 0 &&
	    spawn_child_enter(&n->command, error_fd) == 0 && listen_start(n, error_fd) == 0 &&
	    finish_handover(n, error_fd) == 0)
		spawn_child_exec(&n->command, error_fd);
}

/* The backend's own descriptors; the command must not find them. */
static CHILD_SAFE int keep_from_command(int fd, int error_fd)
{
	if (fd <= 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
		return 0;
	return native_fail(error_fd, "init", "cannot keep a descriptor from", "the command");
}

static CHILD_SAFE int status_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static CHILD_SAFE void tell(int fd, int value)
{
	while (write(fd, &value, sizeof(value)) < 0 && errno == EINTR)
		;
}

/* Reaps until the command has ended. */
static CHILD_SAFE int wait_for(pid_t command, const struct native *n)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, n->terminal ? WUNTRACED : 0);

		if (pid < 0 && errno != EINTR)
			_exit(125);
		if (pid == command && !WIFSTOPPED(status))
			return status;
		/* The supervisor then stops as well, so that the user's shell gets on. */
		if (pid == command)
			tell(n->stop_fd, status);
	}
}

/* Reaps what ends within so many milliseconds. False when processes are left. */
static CHILD_SAFE bool reap_for(long ms, int *count)
{
	struct timespec begin, now, rest = { 0 };
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);
		long spent;

		*count += pid > 0;
		if (pid < 0)
			return true;
		clock_gettime(CLOCK_MONOTONIC, &now);
		spent = (now.tv_sec - begin.tv_sec) * 1000 +
			(now.tv_nsec - begin.tv_nsec) / 1000000;
		if (spent >= ms)
			return false;
		rest.tv_sec = (ms - spent) / 1000;
		rest.tv_nsec = (ms - spent) % 1000 * 1000000;
		if (pid == 0)
			sigtimedwait(&ended, NULL, &rest);
	}
}

/* What the command left behind gets time to finish by itself (the tee of `> >(tee log)`),
 * then to end, and is ended: the supervisor does the same where there is no init. Returns
 * how many did not finish. */
static CHILD_SAFE int end_rest(void)
{
	sigset_t ended;
	int count = 0;

	/* Blocked, so that none is missed between looking and waiting. */
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	if (reap_for(SETTLE_MS, &count))
		return 0;
	count = 0;
	kill(-1, SIGTERM);
	kill(-1, SIGCONT);
	if (reap_for(GRACE_MS, &count))
		return count;
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		count++;
	return count;
}

/* They are the command's. Whoever is at the other end of a pipe waits for all copies. */
static CHILD_SAFE void close_streams(const struct native *n)
{
	for (int fd = 0; fd < NATIVE_STREAMS; fd++)
		if (!n->originals[fd])
			close(fd);
}

/* vfork: the command's process borrows this memory until it execs or exits, which is
 * cheaper than copying it, and both are done with error_fd by then. */
static CHILD_SAFE int start_command(const struct native *n, int ruleset, int error_fd)
{
	pid_t pid = vfork();
	int status;

	if (pid < 0)
		return native_fail(error_fd, "fork", "cannot start the command's process", NULL);
	if (pid == 0) {
		ignore_again(n);
		become_command(n, ruleset, error_fd);
		_exit(125);
	}
	close(error_fd);
	if (ruleset >= 0)
		close(ruleset);
	if (n->handover_fd)
		close(n->handover_fd);
	if (n->streams_mount)
		close(n->streams_mount);
	close_streams(n);
	/* Over the pipe, because an init cannot die of the signal that killed its child. */
	status = wait_for(pid, n);
	native_settle_streams(n);
	tell(n->status_fd, status);
	tell(n->status_fd, end_rest());
	_exit(status_code(status));
}

CHILD_SAFE int native_child(void *data, int error_fd)
{
	struct native *n = data;
	int ruleset, r = keep_from_command(n->status_fd, error_fd);

	if (r == 0)
		r = keep_from_command(n->handover_fd, error_fd);
	if (r == 0)
		r = keep_from_command(n->stop_fd, error_fd);
	if (r == 0)
		r = keep_from_command(n->landlock.ruleset_fd, error_fd);
	if (r == 0)
		r = keep_from_command(n->landlock.filled_fd, error_fd);
	if (r == 0)
		r = native_setup(n, error_fd);
	if (r == 0)
		r = native_start_resolver(n, error_fd);
	if (r == 0)
		r = native_open_egress(n, error_fd);
	if (r == 0) {
		native_limit_ipc(n);
		native_limit_pids(n);
	}
	if (r == 0)
		r = native_seal_streams(n, error_fd);
	if (r == 0)
		r = native_mount(&n->mounts, error_fd);
	if (r == 0)
		r = native_open_nulls(n, error_fd);
	if (r == 0)
		r = native_hand_over_private(n, error_fd);
	if (r == 0)
		r = native_drop_privileges(n, error_fd);
	if (r == 0)
		r = native_open_terminal(n, error_fd);
	if (r < 0)
		return r;
	ruleset = native_landlock_ruleset(&n->landlock, error_fd);
	if (ruleset < -1)
		return ruleset;
	if (n->pid_namespace)
		return start_command(n, ruleset, error_fd);
	become_command(n, ruleset, error_fd);
	return -CORDON_E_INIT;
}

/* The ruleset that is left to enforce, as native_landlock_ruleset. */
static CHILD_SAFE int leave_companion(const struct native *n, int ruleset, int error_fd)
{
	if (!n->companion)
		return ruleset;
	if (native_landlock_enforce(ruleset, error_fd) < 0 ||
	    native_start_companion(n, error_fd) < 0)
		return -2;
	return native_landlock_ruleset(&n->inner, error_fd);
}

CHILD_SAFE int native_child_alone(void *data, int error_fd)
{
	const struct native *n = data;
	int ruleset, r = keep_from_command(n->handover_fd, error_fd);

	if (r == 0)
		r = native_take_terminal(n, error_fd);
	if (r == 0)
		r = native_drop_privileges(n, error_fd);
	if (r < 0)
		return r;
	ruleset = native_landlock_ruleset(&n->landlock, error_fd);
	if (ruleset >= -1)
		ruleset = leave_companion(n, ruleset, error_fd);
	if (ruleset < -1)
		return ruleset;
	become_command(n, ruleset, error_fd);
	return -CORDON_E_INIT;
}
