/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp on the running kernel: each filter is loaded in a child which then makes
 * the call for real. Where the kernel lets it, the same call is first made without
 * the filter, to prove that it is the filter that answers.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/linux/seccomp.h"
#include "base/fd.h"
#include "test_seccomp_rows.h"

#ifdef __x86_64__
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif
#define NOBODY 65534
#define USUAL BIT(base)
#define DIED 100000 /* + signal */

enum who {
	AS_IS,
	AS_USER,
};

static void confine(uint64_t filters, enum who who)
{
	if (who == AS_USER && geteuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
		_exit(99);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(98);
	for (int f = 0; f < SECCOMP_FILTER_COUNT; f++)
		if (filters & UINT64_C(1) << f &&
		    seccomp_install(seccomp_program(f, SECCOMP_ARCH_NATIVE), 0) != 0)
			_exit(97);
}

/* What act returned in a confined child, or -(DIED + signal). */
static long live(uint64_t filters, enum who who, long (*act)(const void *), const void *arg)
{
	long result = 0;
	int ends[2], status;
	pid_t pid;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		confine(filters, who);
		result = act(arg);
		_exit(write(ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 96);
	}
	close(ends[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		result = -(DIED + WTERMSIG(status));
	else
		cr_assert_eq(read(ends[0], &result, sizeof(result)), (ssize_t)sizeof(result),
			     "the child could not be confined: %d", WEXITSTATUS(status));
	close(ends[0]);
	return result;
}

struct call {
	long nr;
	uint64_t args[6];
};

static long answer(long r)
{
	return r < 0 ? -errno : r;
}

static long make_call(const void *arg)
{
	const struct call *c = arg;

	return answer(syscall(c->nr, c->args[0], c->args[1], c->args[2], c->args[3], c->args[4],
			      c->args[5]));
}

static long call(uint64_t filters, enum who who, long nr, uint64_t a, uint64_t b, uint64_t c)
{
	struct call call = { nr, { a, b, c } };

	return live(filters, who, make_call, &call);
}

Test(seccomp_live, refused_rows_are_refused)
{
	for (size_t i = 0; i < COUNT(judged); i++) {
		struct call c = { seccomp_syscall_resolve_name(judged[i].syscall), { 0 } };

		if (judged[i].expect <= 0 || c.nr < 0)
			continue;
		memcpy(c.args, judged[i].args, sizeof(c.args));
		cr_expect_eq(live(UINT64_C(1) << judged[i].filter, AS_USER, make_call, &c),
			     -judged[i].expect, "row %zu: %s", i, judged[i].syscall);
		for (int n = 0; n < 6; n++)
			if (!(judged[i].wide & 1 << n))
				c.args[n] |= 0x8000000100000000;
		cr_expect_eq(live(UINT64_C(1) << judged[i].filter, AS_USER, make_call, &c),
			     -judged[i].expect, "row %zu: %s, high words", i, judged[i].syscall);
	}
}

static int errno_of(const char *name)
{
	if (!strcmp(name, "EPERM"))
		return EPERM;
	return !strcmp(name, "ENOSYS") ? ENOSYS : 0;
}

/* Every refused number of the reviewed list, with arguments that do nothing where
 * they get through. vhangup has no arguments that could stop it. */
Test(seccomp_live, refused_numbers_are_refused)
{
	FILE *golden = fopen(TESTS_DIR "/golden/seccomp-surface-" MACHINE ".txt", "re");
	char line[128], name[64], wanted[32];
	int nr, rows = 0, differ = 0;

	cr_assert_not_null(golden);
	while (fgets(line, sizeof(line), golden)) {
		struct call c = { 0, { -1, -1, -1, -1, -1, -1 } };
		long got;

		if (sscanf(line, "%d %63s errno %31s", &nr, name, wanted) != 3 ||
		    !strcmp(name, "vhangup"))
			continue;
		c.nr = nr;
		got = live(BIT(surface), AS_IS, make_call, &c);
		cr_expect_eq(got, -errno_of(wanted), "%s: %ld", name, got);
		rows++;
		differ += live(0, AS_IS, make_call, &c) != got;
	}
	fclose(golden);
	cr_assert_gt(rows, 50);
	if (geteuid() == 0)
		cr_assert_gt(differ, 40, "only %d of %d answers are the filter's", differ, rows);
}

static long push_input(const void *arg)
{
	uint64_t request = *(const uint64_t *)arg;
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || setsid() < 0)
		return -errno;
	slave = open(ptsname(master), O_RDWR);
	if (slave < 0)
		return -errno;
	return answer(syscall(SYS_ioctl, slave, request, "x"));
}

Test(seccomp_live, terminal_input_cannot_be_pushed)
{
	const uint64_t plain = TIOCSTI, high = 0x100000000 | TIOCSTI, size = TIOCGPGRP;

	if (live(0, AS_IS, push_input, &plain) != 0)
		cr_log_warn("this kernel refuses TIOCSTI by itself");
	cr_expect_eq(live(BIT(surface), AS_IS, push_input, &plain), -EPERM);
	cr_expect_eq(live(BIT(surface), AS_IS, push_input, &high), -EPERM);
	cr_expect_eq(live(BIT(surface), AS_USER, push_input, &high), -EPERM);
	/* Reached the kernel, which took "x" for a place to put the answer. */
	cr_expect_neq(live(BIT(surface), AS_IS, push_input, &size), -EPERM);
}

Test(seccomp_live, namespaces_cannot_be_made)
{
	static const enum who both[] = { AS_IS, AS_USER };

	for (int i = 0; i < 2; i++) {
		enum who who = both[i];

		cr_expect_eq(call(USUAL, who, SYS_unshare, CLONE_NEWUSER, 0, 0), -EPERM);
		cr_expect_eq(call(USUAL, who, SYS_unshare, CLONE_NEWNS, 0, 0), -EPERM);
		cr_expect_eq(call(USUAL, who, SYS_unshare, CLONE_FS | CLONE_FILES, 0, 0), 0);
		cr_expect_eq(call(USUAL, who, SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0), -EPERM);
		cr_expect_eq(call(USUAL, who, SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0), -EPERM);
		cr_expect_eq(call(USUAL, who, SYS_clone3, 0, 0, 0), -ENOSYS);
	}
	if (geteuid() == 0)
		cr_expect_eq(call(0, AS_IS, SYS_unshare, CLONE_NEWNS, 0, 0), 0);
}

static long run_personality(const void *arg)
{
	return answer(personality(*(const unsigned int *)arg));
}

Test(seccomp_live, personality)
{
	const unsigned int ask = 0xffffffff, still = ADDR_NO_RANDOMIZE, exec = READ_IMPLIES_EXEC;

	cr_expect_geq(live(USUAL, AS_USER, run_personality, &ask), 0);
	cr_expect_geq(live(USUAL, AS_USER, run_personality, &still), 0);
	cr_expect_eq(live(USUAL, AS_USER, run_personality, &exec), -EPERM);
	cr_expect_geq(live(0, AS_USER, run_personality, &exec), 0);
}

#ifdef __x86_64__
static long getpid_by_int80(const void *arg)
{
	long r = 20; /* getpid of i386 */

	(void)arg;
	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
	return r > 0;
}

Test(seccomp_live, other_tables_of_numbers_kill)
{
	if (live(0, AS_IS, getpid_by_int80, NULL) == 1)
		cr_expect_eq(live(BIT(surface), AS_IS, getpid_by_int80, NULL), -(DIED + SIGSYS));
	cr_expect_eq(call(BIT(surface), AS_IS, 0x40000000 | SYS_getpid, 0, 0, 0), -(DIED + SIGSYS));
	cr_expect_eq(call(BIT(nounix), AS_IS, 0x40000000 | SYS_getpid, 0, 0, 0), -(DIED + SIGSYS));
}
#endif

Test(seccomp_live, unknown_numbers_do_not_exist)
{
	cr_expect_eq(call(BIT(surface), AS_IS, 1000, 0, 0, 0), -ENOSYS);
	cr_expect_eq(call(BIT(surface), AS_IS, 470, 0, 0, 0), -ENOSYS);
	cr_expect_eq(call(BIT(surface), AS_IS, -1, 0, 0, 0), -ENOSYS);
	cr_expect_gt(call(BIT(surface), AS_IS, SYS_getpid, 0, 0, 0), 0);
}

Test(seccomp_live, socket_families)
{
	cr_expect_geq(call(USUAL, AS_USER, SYS_socket, AF_UNIX, SOCK_STREAM, 0), 0);
	cr_expect_geq(call(USUAL, AS_USER, SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 0);
	cr_expect_geq(call(USUAL, AS_USER, SYS_socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), 0);
	cr_expect_geq(call(USUAL, AS_USER, SYS_socket, AF_NETLINK, SOCK_RAW, 0), 0);
	cr_expect_eq(call(USUAL, AS_IS, SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP), -EPERM);
	cr_expect_eq(call(USUAL, AS_IS, SYS_socket, AF_PACKET, SOCK_RAW, 0), -EAFNOSUPPORT);
	cr_expect_eq(call(USUAL, AS_IS, SYS_socket, AF_INET, SOCK_STREAM, 262), -EPROTONOSUPPORT);
	cr_expect_eq(call(USUAL | BIT(noinet), AS_IS, SYS_socket, AF_INET, 1, 0), -EACCES);
}

static long send_fast_open(const void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return answer(sendto(fd, "x", 1, MSG_FASTOPEN, arg, sizeof(struct sockaddr_in)));
}

Test(seccomp_live, fast_open_does_not_connect)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(to);
	autoclose int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_eq(bind(server, (struct sockaddr *)&to, size), 0);
	cr_assert_eq(listen(server, 4), 0);
	cr_assert_eq(getsockname(server, (struct sockaddr *)&to, &size), 0);
	cr_expect_eq(live(USUAL, AS_USER, send_fast_open, &to), -EOPNOTSUPP);
	cr_expect_lt(accept(server, NULL, NULL), 0);
	if (live(0, AS_USER, send_fast_open, &to) == 1) {
		autoclose int got = accept(server, NULL, NULL);

		cr_expect_geq(got, 0);
	}
}

/* Sends a datagram to a path from one end of a socket pair of the given type. */
struct stray {
	int type;
	struct sockaddr_un to;
};

static long send_stray(const void *arg)
{
	const struct stray *s = arg;
	int pair[2];

	if (socketpair(AF_UNIX, s->type, 0, pair) < 0)
		return -errno;
	if (connect(pair[0], (const struct sockaddr *)&s->to, sizeof(s->to)) < 0 &&
	    sendto(pair[0], "x", 1, 0, (const struct sockaddr *)&s->to, sizeof(s->to)) < 0)
		return -errno;
	return 0;
}

Test(seccomp_live, socket_pairs_do_not_reach_paths)
{
	struct stray s = { SOCK_DGRAM, { .sun_family = AF_UNIX } };
	char dir[] = "/tmp/cordon-seccomp-XXXXXX";
	autoclose int host = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	cr_assert_not_null(mkdtemp(dir));
	snprintf(s.to.sun_path, sizeof(s.to.sun_path), "%s/host", dir);
	cr_assert_eq(bind(host, (struct sockaddr *)&s.to, sizeof(s.to)), 0);
	cr_expect_eq(live(0, AS_IS, send_stray, &s), 0);
	cr_expect_eq(live(USUAL | BIT(nounix), AS_IS, send_stray, &s), -EACCES);
	s.type = SOCK_RAW;
	cr_expect_eq(live(USUAL | BIT(nounix), AS_IS, send_stray, &s), -EACCES);
	s.type = SOCK_STREAM;
	cr_expect_lt(live(USUAL | BIT(nounix), AS_IS, send_stray, &s), 0);
	cr_expect_eq(call(BIT(nounix), AS_IS, SYS_socket, AF_UNIX, SOCK_DGRAM, 0), -EACCES);
	unlink(s.to.sun_path);
	rmdir(dir);
}

/* A child that opens for reading, then makes a directory, while its parent answers
 * the listener: only the directory may arrive there. */
static int answer_one(int listener)
{
	struct seccomp_notif note = { 0 };
	struct seccomp_notif_resp resp = { .error = -EXDEV };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &note) < 0)
		return -errno;
	resp.id = note.id;
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) < 0)
		return -errno;
	return note.data.nr;
}

static long guard_a_child(const void *arg)
{
	int listener = seccomp_install(seccomp_program(SECCOMP_FILTER_notify_create,
						       SECCOMP_ARCH_NATIVE),
				       SECCOMP_FILTER_FLAG_NEW_LISTENER |
					       SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	int status;
	pid_t pid;

	(void)arg;
	if (listener < 0)
		return listener;
	pid = fork();
	if (pid == 0) {
		if (open("/", O_RDONLY | O_CLOEXEC) < 0 || open("/", O_PATH | O_RDWR) < 0)
			_exit(1);
		_exit(mkdirat(AT_FDCWD, "/cordon-never", 0700) < 0 && errno == EXDEV ? 0 : 3);
	}
	if (answer_one(listener) != SYS_mkdirat)
		return -1;
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return -2;
	return WEXITSTATUS(status);
}

Test(seccomp_live, the_guard_hears_creating_calls_only)
{
	cr_expect_eq(live(USUAL, AS_USER, guard_a_child, NULL), 0);
}

/* Runs `sh -c script` under the filters; its exit status, or -(DIED + signal). */
static long run_script(const void *script)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execl("/bin/bash", "bash", "-c", script, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -(DIED + WTERMSIG(status));
}

/* `needs` names a program without which the row does not apply. */
static const struct {
	const char *needs, *script;
} ordinary[] = {
	{ "bash", "x=$(echo a | tr a b); test \"$x\" = b && (exit 0) && wait" },
	{ "python3", "/usr/bin/python3 -c '"
		     "import threading,subprocess,socket,multiprocessing as m\n"
		     "t=[threading.Thread(target=lambda:subprocess.check_call([\"true\"])) "
		     "for _ in range(4)]\n[x.start() for x in t];[x.join() for x in t]\n"
		     "s=socket.create_server((\"127.0.0.1\",0))\n"
		     "c=socket.create_connection(s.getsockname());c.send(b\"x\")\n"
		     "q=m.Queue();p=m.Process(target=q.put,args=(1,));p.start();"
		     "assert q.get()==1;p.join()'" },
	{ "git", "cd $(mktemp -d) && git init -q && echo a >a && git add a && "
		 "git -c user.name=n -c user.email=e commit -qm m && git gc -q && git status && "
		 "rm -rf \"$PWD\"" },
	{ "gcc", "d=$(mktemp -d) && cd $d && echo 'int main(void){return 7;}' >a.c && "
		 "gcc -o a a.c; ./a; r=$?; rm -rf $d; test $r = 7" },
	{ "node", "node -e 'const c=require(\"child_process\"),n=require(\"net\");"
		  "const f=require(\"fs\");"
		  "c.execSync(\"true\");f.promises.readFile(\"/etc/passwd\").then(()=>{"
		  "const s=n.createServer(x=>{x.end();s.close()}).listen(0,\"127.0.0.1\","
		  "()=>n.connect(s.address().port,\"127.0.0.1\").resume())})'" },
	{ "go", "go version" },
	{ "strace", "strace -f -o /dev/null sh -c 'true; true'" },
	/* The tracer skips the call by making its number -1. */
	{ "strace", "strace -o /dev/null -e inject=chdir:error=EIO sh -c 'cd /; test $? != 0'" },
	{ "gdb", "gdb --batch -ex run -ex 'info inferiors' /bin/true | grep 'exited normally'" },
	{ "setarch", "setarch -R true" },
};

Test(seccomp_live, ordinary_programs_work, .timeout = 120)
{
	for (size_t i = 0; i < COUNT(ordinary); i++) {
		char probe[64];

		snprintf(probe, sizeof(probe), "command -v %s", ordinary[i].needs);
		if (run_script(probe) != 0)
			continue;
		cr_expect_eq(live(BIT(base), AS_IS, run_script, ordinary[i].script), 0, "%s",
			     ordinary[i].script);
		cr_expect_eq(live(BIT(base_hostns), AS_IS, run_script, ordinary[i].script), 0,
			     "without namespaces: %s", ordinary[i].script);
	}
	cr_expect_eq(live(USUAL, AS_USER, run_script, ordinary[0].script), 0);
	cr_expect_eq(live(USUAL, AS_USER, run_script, "test $(id -u) != 0 && ls / | cat"), 0);
}

Test(seccomp_live, sandboxes_sudo_and_ping_do_not)
{
	static const struct {
		const char *needs, *script;
	} rows[] = {
		{ "unshare", "unshare -Ur true" },	 { "unshare", "unshare -m true" },
		{ "bwrap", "bwrap --ro-bind / / true" }, { "ping", "ping -c 1 127.0.0.1" },
		{ "mount", "mount -t tmpfs none /mnt" }, { "dmesg", "dmesg -S" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char probe[64];

		snprintf(probe, sizeof(probe), "command -v %s", rows[i].needs);
		if (run_script(probe) == 0)
			cr_expect_gt(live(USUAL, AS_IS, run_script, rows[i].script), 0, "%s",
				     rows[i].script);
	}
	cr_expect_neq(live(USUAL | BIT(noptrace), AS_IS, run_script, "strace true"), 0);
}
