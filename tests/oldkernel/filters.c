/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filters of this machine's kind on the kernel that is running: every number
 * that the reviewed list refuses, and every row that is refused by its arguments, is really
 * called. For kernels and processors on which there is no more than a C library; where there
 * is Criterion, test_seccomp_live does more. Prints TAP.
 *
 *	filters LIST	golden/seccomp-surface-*.txt of this kind of machine
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test_seccomp_rows.h"

#define NOBODY 65534

struct call {
	long nr;
	uint64_t args[6];
};

static int points;
static int failures;

static void point(bool good, const char *what, const char *name, int got)
{
	printf("%sok %d filters: %s%s\n", good ? "" : "not ", ++points, what, name);
	if (!good)
		printf("# got %s\n", got < 0 ? "no answer" : strerror(got));
	failures += !good;
}

/* The errno of a call below a filter, 0 where it succeeded, -1 where there was none. It is
 * made by a plain user where root need not be the one who is refused. */
static int refusal(int filter, bool plain, const struct call *c)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (plain && geteuid() == 0 &&
		    (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
			_exit(255);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    seccomp_install(seccomp_program(filter, SECCOMP_ARCH_NATIVE), 0) != 0)
			_exit(254);
		_exit(syscall(c->nr, c->args[0], c->args[1], c->args[2], c->args[3], c->args[4],
			      c->args[5]) < 0 ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int errno_of(const char *name)
{
	if (!strcmp(name, "EPERM"))
		return EPERM;
	return !strcmp(name, "ENOSYS") ? ENOSYS : 0;
}

/* Numbers that are refused whatever the arguments: here such that do nothing where they get
 * through. vhangup has none that could stop it. */
static void numbers(FILE *list)
{
	char line[128], name[64], wanted[32];
	int nr;

	while (fgets(line, sizeof(line), list)) {
		struct call c = { 0, { -1, -1, -1, -1, -1, -1 } };
		int got;

		if (sscanf(line, "%d %63s errno %31s", &nr, name, wanted) != 3 ||
		    !strcmp(name, "vhangup"))
			continue;
		c.nr = nr;
		got = refusal(SECCOMP_FILTER_surface, false, &c);
		point(got == errno_of(wanted), "the number of ", name, got);
	}
}

/* What has no name of its own here (open, mknod ...) does not exist on this machine. */
static long number_of(const char *name)
{
	static const struct {
		const char *name;
		long nr;
	} known[] = {
#define KNOWN(name) { #name, SYS_##name }
		KNOWN(fcntl),	    KNOWN(ioctl),	     KNOWN(clone),   KNOWN(unshare),
		KNOWN(personality), KNOWN(mknodat),	     KNOWN(socket),  KNOWN(socketpair),
		KNOWN(sendto),	    KNOWN(sendmsg),	     KNOWN(sendmmsg), KNOWN(setsockopt),
		KNOWN(kill),	    KNOWN(setpriority),	     KNOWN(ioprio_set), KNOWN(prlimit64),
		KNOWN(connect),	    KNOWN(clone3),	     KNOWN(execve),  KNOWN(execveat),
		KNOWN(ptrace),	    KNOWN(process_vm_writev), KNOWN(setns),  KNOWN(mmap),
		KNOWN(mprotect),
#ifdef SYS_mknod
		KNOWN(mknod),
#endif
	};

	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(known[i].name, name))
			return known[i].nr;
	return -1;
}

static void rows(void)
{
	for (size_t i = 0; i < COUNT(judged); i++) {
		struct call c = { number_of(judged[i].syscall), { 0 } };
		int plainly, highly;

		if (judged[i].expect <= 0)
			continue;
		if (c.nr < 0) {
#ifdef SYS_mknod
			point(false, "no number is known here of ", judged[i].syscall, -1);
#else
			if (strcmp(judged[i].syscall, "mknod"))
				point(false, "no number is known here of ", judged[i].syscall, -1);
#endif
			continue;
		}
		memcpy(c.args, judged[i].args, sizeof(c.args));
		plainly = refusal((int)judged[i].filter, true, &c);
		for (int n = 0; n < 6; n++)
			if (!(judged[i].wide & 1 << n))
				c.args[n] |= 0x8000000100000000;
		highly = refusal((int)judged[i].filter, true, &c);
		point(plainly == judged[i].expect, "arguments of ", judged[i].syscall, plainly);
		point(highly == judged[i].expect, "the same and high words, ", judged[i].syscall,
		      highly);
	}
}

int main(int argc, char **argv)
{
	FILE *list = argc == 2 ? fopen(argv[1], "re") : NULL;

	if (!list) {
		fprintf(stderr, "usage: filters LIST\n");
		return 125;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	numbers(list);
	fclose(list);
	rows();
	printf("# filters: %d points\n", points);
	return failures > 0;
}
