/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel alone takes for being told of calls: runs a command whose calls wait as
 * they do under `report = writes`, reads the path of each and lets it go on. No sandbox,
 * no judgement, no loop of events: a guard cannot cost less than this. With --all every open
 * waits, as under `report = all`. With --exact all calls wait that a broker carries out, and a
 * broker cannot cost less than that.
 *
 * usage: bench-floor [--all | --exact] COMMAND [ARGUMENT...]
 */
#include <err.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/linux/seccomp.h"
#include "run/notify.h"

#define READ_BYTES 256

static int become(char **argv, enum seccomp_filter filter, int to)
{
	int fd = -1;
	char go;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		fd = seccomp_install(seccomp_program(filter, SECCOMP_ARCH_NATIVE),
				     SECCOMP_FILTER_FLAG_NEW_LISTENER |
					     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	/* The number alone: the other side takes the descriptor out of this process. */
	if (fd < 0 || write(to, &fd, sizeof(fd)) != (ssize_t)sizeof(fd) || read(to, &go, 1) != 1)
		err(1, "cannot listen");
	execvp(argv[0], argv);
	err(127, "%s", argv[0]);
}

static int take_listener(pid_t child, int from)
{
	int theirs, pidfd = (int)syscall(SYS_pidfd_open, child, 0), ours = -1;

	if (pidfd >= 0 && read(from, &theirs, sizeof(theirs)) == (ssize_t)sizeof(theirs))
		ours = (int)syscall(SYS_pidfd_getfd, pidfd, theirs, 0);
	if (ours < 0 || write(from, "", 1) != 1)
		err(1, "cannot take the listener");
	return ours;
}

/* The path stands in the first or second argument; which does not matter for the cost. */
static void read_path(const struct seccomp_notif *call)
{
	char text[READ_BYTES];
	struct iovec here = { text, sizeof(text) };
	struct iovec there = { (void *)call->data.args[call->data.nr == SYS_openat],
			       sizeof(text) };

	process_vm_readv((pid_t)call->pid, &here, 1, &there, 1, 0);
}

static bool let_one_go_on(int listener)
{
	static struct notify_pace pace;
	union notify_answer answer = { .answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	union notify_call in;

	if (notify_receive(listener, &in) < 0)
		return errno == EINTR;
	read_path(&in.call);
	answer.answer.id = in.call.id;
	notify_came(&pace, listener, &in.call);
	notify_send(listener, &answer);
	notify_went(&pace, listener);
	return true;
}

/* What waits, by the first argument; *ret_n: how many arguments said so. */
static enum seccomp_filter filter_of(int argc, char **argv, int *ret_n)
{
	*ret_n = 1;
	if (argc > 1 && strcmp(argv[1], "--exact") == 0)
		return SECCOMP_FILTER_notify_exact;
	if (argc > 1 && strcmp(argv[1], "--all") == 0)
		return SECCOMP_FILTER_notify_all;
	*ret_n = 0;
	return SECCOMP_FILTER_notify_writes;
}

int main(int argc, char **argv)
{
	int pair[2], listener, status, options;
	enum seccomp_filter filter = filter_of(argc, argv, &options);
	pid_t child;

	if (argc < 2 + options)
		errx(2, "usage: bench-floor [--all | --exact] COMMAND [ARGUMENT...]");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || (child = fork()) < 0)
		err(1, "cannot start");
	if (child == 0)
		return become(argv + 1 + options, filter, pair[1]);
	listener = take_listener(child, pair[0]);
	while (let_one_go_on(listener))
		;
	if (waitpid(child, &status, 0) < 0)
		err(1, "cannot wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
