/* SPDX-License-Identifier: Apache-2.0 */
/* base/spawn: outcome of the exec, descriptors, signals, limits, search of PATH. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/spawn.h"

extern char **environ;

static struct spawn_request shell(const char *script)
{
	static const char *argv[4];

	argv[0] = "sh";
	argv[1] = "-c";
	argv[2] = script;
	argv[3] = NULL;
	return (struct spawn_request){
		.program = "/bin/sh", .argv = (char *const *)argv, .envp = environ
	};
}

/* Starts, waits for the exec and the end; the wait status or -code. */
static int run(const struct spawn_request *r, struct cordon_error *err)
{
	struct spawned s;
	int status = -1, failed = spawn_start(r, &s, err);

	if (failed)
		return failed;
	failed = spawn_wait(&s, err);
	if (!failed)
		cr_assert_eq(waitpid(s.pid, &status, 0), s.pid);
	if (!failed)
		s.pid = 0;
	close(s.pidfd);
	s.pidfd = -1;
	if (failed)
		waitpid(s.pid, NULL, 0);
	return failed ? failed : status;
}

/* What `script` prints with its stdout on a pipe. */
static void output_of(struct spawn_request r, struct buf *ret)
{
	struct spawn_fd fds[4];
	struct cordon_error err;
	int ends[2];

	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	if (r.n_fds)
		memcpy(fds, r.fds, r.n_fds * sizeof(*fds));
	fds[r.n_fds++] = (struct spawn_fd){ ends[1], 1 };
	r.fds = fds;
	cr_assert_eq(run(&r, &err), 0, "%s", err.message);
	close(ends[1]);
	buf_init(ret, 65536);
	while (buf_read(ret, ends[0], 4096) > 0)
		;
	close(ends[0]);
}

Test(spawn, exit_status_comes_back)
{
	struct spawn_request r = shell("exit 7");
	struct cordon_error err;

	cr_assert_eq(WEXITSTATUS(run(&r, &err)), 7);
}

/* Nobody's child: no signal, nothing to wait for, and a pidfd all the same. */
Test(spawn, detached)
{
	struct spawn_request r = shell("read x; exit 0");
	struct cordon_error err;
	struct spawned s;
	struct spawn_fd in;
	sigset_t chld, pending;
	int ends[2];

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	in = (struct spawn_fd){ ends[0], 0 };
	r.fds = &in;
	r.n_fds = 1;
	r.detached = true;
	cr_assert_eq(spawn_start(&r, &s, &err), 0, "%s", err.message);
	cr_assert_eq(kill(s.pid, 0), 0);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	cr_assert_eq(errno, ECHILD);
	close(ends[1]);
	cr_assert_eq(poll(&(struct pollfd){ .fd = s.pidfd, .events = POLLIN }, 1, 30000), 1);
	sigpending(&pending);
	cr_assert_eq(sigismember(&pending, SIGCHLD), 0);
	close(s.pidfd);
	close(ends[0]);
	r.program = "/no/such/program";
	cr_assert_eq(spawn_start(&r, &s, &err), -CORDON_E_NOT_FOUND);
}

Test(spawn, exec_failures_have_their_codes)
{
	static const struct {
		const char *path;
		int mode;
		const char *content;
		int code, errnum;
		const char *hint;
	} rows[] = {
		{ "/no-such-path/x", 0, NULL, CORDON_E_NOT_FOUND, ENOENT, "" },
		{ "/etc/passwd/x", 0, NULL, CORDON_E_EXEC, ENOTDIR, "" },
		{ "/tmp", 0, NULL, CORDON_E_EXEC, EACCES, "chmod" },
		{ NULL, 0644, "#!/bin/sh\n", CORDON_E_EXEC, EACCES, "chmod" },
		{ NULL, 0755, "no magic", CORDON_E_EXEC, ENOEXEC, "#!" },
		{ NULL, 0755, "#!/nonexistent/sh\n", CORDON_E_NOT_FOUND, ENOENT, "#!" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[] = "/tmp/cordon-spawn-XXXXXX";
		struct spawn_request r = shell("");
		struct cordon_error err = { 0 };

		if (rows[i].content) {
			int fd = mkstemp(path);

			cr_assert_eq(fd_write_all(fd, rows[i].content,
						  strlen(rows[i].content)), 0);
			fchmod(fd, (mode_t)rows[i].mode);
			close(fd);
		}
		r.program = rows[i].path ? rows[i].path : path;
		cr_assert_eq(run(&r, &err), -rows[i].code, "row %zu: %s", i, err.message);
		cr_assert_eq(err.sys_errno, rows[i].errnum);
		cr_assert(strstr(err.message, r.program));
		cr_assert(strstr(err.message, strerror(rows[i].errnum)));
		cr_assert(strstr(err.hint, rows[i].hint), "row %zu: %s", i, err.hint);
		if (rows[i].content)
			unlink(path);
	}
}

Test(spawn, many_arguments_and_too_many)
{
	enum { MANY = 8000 };
	static char *argv[MANY + 5];
	static char huge[200000];
	struct spawn_request r = shell("");
	struct cordon_error err = { 0 };
	char name[] = "sh", opt[] = "-c", script[] = "test $# = 8000", zero[] = "0", x[] = "x";

	argv[0] = name;
	argv[1] = opt;
	argv[2] = script;
	argv[3] = zero;
	for (int i = 0; i < MANY; i++)
		argv[4 + i] = x;
	r.argv = argv;
	cr_assert_eq(run(&r, &err), 0);
	memset(huge, 'x', sizeof(huge) - 1);
	argv[5] = huge;
	cr_assert_eq(run(&r, &err), -CORDON_E_EXEC);
	cr_assert_eq(err.sys_errno, E2BIG);
	cr_assert(strstr(err.hint, "too long"));
}

Test(spawn, no_descriptor_above_2_is_inherited)
{
	struct spawn_request r = shell("ls /proc/self/fd | tr '\\n' ' '");
	struct buf out;
	int leak = dup(1), high = fcntl(1, F_DUPFD, 500);

	output_of(r, &out);
	/* 3 is the directory that ls reads. */
	cr_assert_str_eq(out.p, "0 1 2 3 ");
	buf_free(&out);
	close(leak);
	close(high);
}

Test(spawn, a_map_may_swap_and_overlap)
{
	struct spawn_request r = shell("cat /dev/fd/41 /dev/fd/40; test ! -e /dev/fd/30");
	struct buf out;
	int ends[2][2];

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fd_pipe(&ends[i][0], &ends[i][1]), 0);
		cr_assert_eq(write(ends[i][1], i ? "B" : "A", 1), 1);
		close(ends[i][1]);
	}
	cr_assert_eq(dup2(ends[0][0], 30), 30);
	cr_assert_eq(dup2(ends[0][0], 40), 40);
	cr_assert_eq(dup2(ends[1][0], 41), 41);
	r.fds = (struct spawn_fd[]){ { 40, 41 }, { 41, 40 } };
	r.n_fds = 2;
	output_of(r, &out);
	cr_assert_str_eq(out.p, "AB");
	buf_free(&out);
}

Test(spawn, a_bad_map_is_refused)
{
	struct spawn_request r = shell("exit 0");
	struct cordon_error err = { 0 };

	r.n_fds = 1;
	r.fds = (struct spawn_fd[]){ { 1, 256 } };
	cr_assert_eq(run(&r, &err), -CORDON_E_LIMIT);
	r.fds = (struct spawn_fd[]){ { 999, 1 } };
	cr_assert_eq(run(&r, &err), -CORDON_E_SYSTEM);
	cr_assert_eq(err.sys_errno, EBADF);
	r.n_fds = SPAWN_FDS_MAX + 1;
	cr_assert_eq(run(&r, &err), -CORDON_E_LIMIT);
}

static void handler(int sig)
{
	(void)sig;
}

Test(spawn, ignored_stays_handled_goes_mask_returns)
{
	struct spawn_request r = shell("grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status");
	unsigned long long blocked, ignored;
	sigset_t mask, ign, dfl;
	struct buf out;

	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, handler);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigemptyset(&ign);
	sigaddset(&ign, SIGCHLD);
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	r.mask = &mask;
	r.ignored = &ign;
	r.defaulted = &dfl;
	r.program = "/bin/grep";
	r.argv = (char *const[]){ (char[]){ "grep" }, (char[]){ "-E" },
				  (char[]){ "^Sig(Blk|Ign)" },
				  (char[]){ "/proc/self/status" }, NULL };
	output_of(r, &out);
	cr_assert_eq(sscanf(out.p, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2,
		     "%s", out.p);
	cr_assert_eq(blocked, 1ull << (SIGUSR2 - 1));
	cr_assert(ignored & 1ull << (SIGHUP - 1));
	cr_assert(ignored & 1ull << (SIGCHLD - 1));
	cr_assert_not(ignored & 1ull << (SIGPIPE - 1));
	cr_assert_not(ignored & 1ull << (SIGUSR1 - 1));
	buf_free(&out);
}

Test(spawn, rlimits_lower_and_never_raise)
{
	struct spawn_request r = shell("ulimit -n; ulimit -c");
	struct spawn_rlimit limits[] = { { RLIMIT_NOFILE, 20, 40 }, { RLIMIT_CORE, 99, 99 } };
	struct rlimit none = { 0, 0 };
	struct buf out;

	setrlimit(RLIMIT_CORE, &none);
	r.rlimits = limits;
	r.n_rlimits = 2;
	output_of(r, &out);
	cr_assert_str_eq(out.p, "20\n0\n");
	buf_free(&out);
}

Test(spawn, session_and_group)
{
	struct spawn_request r = shell("set -- $(cat /proc/$$/stat); echo $5 $6 $$");
	int group, session, pid;
	struct buf out;

	r.new_session = true;
	output_of(r, &out);
	sscanf(out.p, "%d %d %d", &group, &session, &pid);
	cr_assert(group == pid && session == pid);
	buf_free(&out);
	r.new_session = false;
	r.new_group = true;
	output_of(r, &out);
	sscanf(out.p, "%d %d %d", &group, &session, &pid);
	cr_assert(group == pid && session == getsid(0));
	buf_free(&out);
}

Test(spawn, directories)
{
	struct spawn_request r = shell("pwd");
	struct cordon_error err = { 0 };
	struct buf out;

	r.cwd = "/usr";
	output_of(r, &out);
	cr_assert_str_eq(out.p, "/usr\n");
	buf_free(&out);
	r.cwd = NULL;
	r.cwd_fd = open("/etc", O_PATH | O_CLOEXEC);
	output_of(r, &out);
	cr_assert_str_eq(out.p, "/etc\n");
	buf_free(&out);
	close(r.cwd_fd);
	r.cwd_fd = 0;
	r.cwd = "/no-such-path";
	cr_assert_eq(run(&r, &err), -CORDON_E_PATH);
	cr_assert(strstr(err.message, "/no-such-path: No such file"));
}

Test(spawn, a_pending_outcome_can_be_polled)
{
	struct spawn_request r = shell("exit 0");
	struct spawned s;
	struct cordon_error err;
	int outcome;

	cr_assert_eq(spawn_start(&r, &s, &err), 0);
	do
		outcome = spawn_check(&s, &err);
	while (outcome == SPAWN_PENDING);
	cr_assert_eq(outcome, 0);
	cr_assert_eq(s.error_fd, -1);
	spawn_discard(&s);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_assert_eq(errno, ECHILD);
	spawn_discard(&s);
}

/* The dying parent's child, which waits for ever, must not outlive it. */
Test(spawn, the_child_dies_with_its_parent)
{
	struct cordon_error err;
	int ends[2];
	char c;
	pid_t parent;

	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	parent = fork();
	if (parent == 0) {
		struct spawn_request r = shell("kill -STOP $$");
		struct spawned s;

		r.die_with_parent = true;
		r.fds = (struct spawn_fd[]){ { ends[1], 9 } };
		r.n_fds = 1;
		spawn_start(&r, &s, &err);
		spawn_wait(&s, &err);
		_exit(0);
	}
	close(ends[1]);
	waitpid(parent, NULL, 0);
	/* End of file: the last holder of the pipe is gone. */
	cr_assert_eq(read(ends[0], &c, 1), 0);
	close(ends[0]);
}

static void deny(int number, int errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

Test(spawn, works_without_clone3)
{
	struct spawn_request r = shell("exit 3");
	struct cordon_error err;

	deny(SYS_clone3, ENOSYS);
	cr_assert_eq(WEXITSTATUS(run(&r, &err)), 3);
}

Test(spawn, every_failing_call_is_an_error_and_leaks_nothing)
{
	static const int calls[] = { SYS_pipe2, SYS_close_range, SYS_setsid, SYS_prctl,
				     SYS_prlimit64, SYS_dup2, SYS_execve };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			struct spawn_request r = shell("exit 0");
			struct spawn_rlimit limit = { RLIMIT_CORE, 0, 0 };
			struct cordon_error err = { 0 };

			r.new_session = r.die_with_parent = true;
			r.rlimits = &limit;
			r.n_rlimits = 1;
			r.fds = (struct spawn_fd[]){ { 1, 1 } };
			r.n_fds = 1;
			deny(calls[i], EIO);
			_exit(run(&r, &err) < 0 && err.sys_errno == EIO && err.message[0] ? 0 : 1);
		}
		waitpid(pid, &status, 0);
		cr_assert_eq(status, 0, "call %d", calls[i]);
	}
}

Test(spawn, closed_standard_streams_become_dev_null)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct cordon_error err;

		close(0);
		close(2);
		if (spawn_sane_stdio(&err) || fcntl(0, F_GETFD) || fcntl(2, F_GETFD))
			_exit(1);
		_exit(write(2, "x", 1) == 1 && read(0, &err, 1) == 0 ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	cr_assert_eq(status, 0);
}

Test(search, finds_like_a_shell)
{
	char dir[] = "/tmp/cordon-path-XXXXXX";
	char tool[64], plain[64], path_env[200];
	autoarena struct arena a;
	struct cordon_error err = { 0 };
	const char *found;

	arena_init(&a, 65536);
	cr_assert(mkdtemp(dir));
	snprintf(tool, sizeof(tool), "%s/tool", dir);
	snprintf(plain, sizeof(plain), "%s/plain", dir);
	close(open(tool, O_CREAT | O_WRONLY, 0755));
	close(open(plain, O_CREAT | O_WRONLY, 0644));
	snprintf(path_env, sizeof(path_env), "/no-such-path:%s:/bin", dir);

	cr_assert_eq(spawn_search_path(&a, "tool", path_env, "/", &found, &err), 0);
	cr_assert_str_eq(found, tool);
	cr_assert_eq(spawn_search_path(&a, "sh", path_env, "/", &found, &err), 0);
	cr_assert_str_eq(found, "/bin/sh");
	cr_assert_eq(spawn_search_path(&a, "plain", path_env, "/", &found, &err),
		     -CORDON_E_EXEC);
	cr_assert(strstr(err.message, plain));
	cr_assert_eq(spawn_search_path(&a, "none-such", path_env, "/", &found, &err),
		     -CORDON_E_NOT_FOUND);
	cr_assert(strstr(err.message, "none-such"));
	cr_assert_eq(spawn_search_path(&a, "", path_env, "/", &found, &err),
		     -CORDON_E_NOT_FOUND);
	/* Empty and relative parts are below cwd, NULL is the system's default. */
	cr_assert_eq(spawn_search_path(&a, "tool", "/bin::", dir, &found, &err), 0);
	cr_assert_str_eq(found, tool);
	cr_assert_eq(spawn_search_path(&a, "sh", NULL, "/", &found, &err), 0);
	cr_assert_eq(spawn_search_path(&a, "./tool", "", dir, &found, &err), 0);
	cr_assert_eq(spawn_search_path(&a, "./none-such", "", dir, &found, &err),
		     -CORDON_E_NOT_FOUND);
	cr_assert_eq(spawn_search_path(&a, "/tmp", "", dir, &found, &err), -CORDON_E_EXEC);
	cr_assert_eq(access(found, X_OK), 0);
	/* A directory of that name does not count. */
	cr_assert_eq(spawn_search_path(&a, "tmp", "/", "/", &found, &err), -CORDON_E_EXEC);
	unlink(tool);
	unlink(plain);
	rmdir(dir);
}
