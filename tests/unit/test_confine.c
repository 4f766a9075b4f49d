/* SPDX-License-Identifier: Apache-2.0 */
/* net/relay_confine: what the relay can still do once it has locked itself in. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/relay_in.h"

struct attempt {
	const char *what;
	long number, argument[6];
	int wanted; /* errno; 0: it works */
};

#define TEXT(text) ((long)(text))

static const char *const words[] = { "/bin/true", NULL };

static const struct attempt attempts[] = {
	{ "open for reading", __NR_openat, { AT_FDCWD, TEXT("/etc/passwd"), O_RDONLY }, EPERM },
	{ "open the root", __NR_openat, { AT_FDCWD, TEXT("/"), O_PATH }, EPERM },
	{ "openat2", __NR_openat2, { AT_FDCWD, TEXT("/etc/passwd") }, EPERM },
	{ "stat", __NR_statx, { AT_FDCWD, TEXT("/etc/passwd") }, EPERM },
	{ "mkdir", __NR_mkdirat, { AT_FDCWD, TEXT("x"), 0700 }, EPERM },
	{ "unlink", __NR_unlinkat, { AT_FDCWD, TEXT("x") }, EPERM },
	{ "memfd", __NR_memfd_create, { TEXT("x") }, EPERM },
	{ "execve", __NR_execve, { TEXT("/bin/true"), TEXT(words) }, EPERM },
	{ "execveat", __NR_execveat, { AT_FDCWD, TEXT("/bin/true"), TEXT(words) }, EPERM },
	{ "fork", __NR_clone, { SIGCHLD }, EPERM },
	{ "clone3", __NR_clone3, { 0 }, EPERM },
	{ "signal", __NR_kill, { 1, 0 }, EPERM },
	{ "trace", __NR_ptrace, { 0 }, EPERM },
	{ "namespace", __NR_unshare, { 0 }, EPERM },
	{ "mount", __NR_mount, { 0 }, EPERM },
	{ "user", __NR_setresuid, { 0, 0, 0 }, EPERM },
	{ "control", __NR_prctl, { 0 }, EPERM },
	{ "listen", __NR_listen, { 0, 1 }, EPERM },
	{ "bind", __NR_bind, { 0 }, EPERM },
	{ "accept", __NR_accept4, { 0 }, EPERM },
	{ "pair", __NR_socketpair, { AF_UNIX, SOCK_STREAM }, EPERM },
	{ "unix socket", __NR_socket, { AF_UNIX, SOCK_STREAM }, EPERM },
	{ "netlink socket", __NR_socket, { AF_NETLINK, SOCK_RAW }, EPERM },
	{ "packet socket", __NR_socket, { AF_PACKET, SOCK_DGRAM }, EPERM },
	{ "raw socket", __NR_socket, { AF_INET, SOCK_RAW, 1 }, EPERM },
	{ "raw socket, flags", __NR_socket, { AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1 }, EPERM },
	{ "raw socket, IPv6", __NR_socket, { AF_INET6, SOCK_RAW, 1 }, EPERM },
	{ "TCP", __NR_socket, { AF_INET, SOCK_STREAM | SOCK_CLOEXEC }, 0 },
	{ "UDP", __NR_socket, { AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK }, 0 },
};
#define ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

/* In the child: nothing but the calls themselves, whose outcomes go to `to`. */
static void try_all(int to)
{
	int outcome[ATTEMPTS] = { 0 };
	struct cordon_error err;

	if (relay_confine(&err) < 0)
		_exit(1);
	for (size_t i = 0; i < ATTEMPTS; i++) {
		const long *a = attempts[i].argument;
		long r = syscall(attempts[i].number, a[0], a[1], a[2], a[3], a[4], a[5]);

		outcome[i] = r < 0 ? errno : 0;
	}
	_exit(write(to, outcome, sizeof(outcome)) == sizeof(outcome) ? 0 : 1);
}

Test(confine, no_files_no_programs_and_no_sockets_but_tcp_and_udp)
{
	int outcome[ATTEMPTS], ends[2], status;
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0)
		try_all(ends[1]);
	close(ends[1]);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "it could not be tried: status %x", (unsigned)status);
	cr_assert_eq(read(ends[0], outcome, sizeof(outcome)), (ssize_t)sizeof(outcome));
	close(ends[0]);
	for (size_t i = 0; i < ATTEMPTS; i++)
		cr_expect_eq(outcome[i], attempts[i].wanted, "%s: errno %d", attempts[i].what,
			     outcome[i]);
}
