/* SPDX-License-Identifier: Apache-2.0 */
/* The ptrace loop. Once the failure has happened nobody is stopped at calls any more. */
#include "trace.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
#define SYSCALL_STOP (SIGTRAP | 0x80)
/* Time for the kernel to take down what ended with its init. */
#define LEFT_SECONDS 2

struct tracee {
	pid_t pid;
	bool counted; /* has not executed another program */
	long failing; /* the call to fail, while it is in it; else -1 */
	unsigned long argument;
};

struct tracer {
	const struct trace_target *target;
	struct trace *trace;
	struct tracee tracees[TRACE_PROCESSES_MAX];
	pid_t main;
	int alive;
	bool foreign; /* a program of others runs; what it starts is not counted */
};

static void on_alarm(int sig)
{
	(void)sig;
}

static void set_deadline(unsigned seconds)
{
	struct sigaction sa = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &sa, NULL);
	alarm(seconds);
}

static struct tracee *find(struct tracer *r, pid_t pid)
{
	int n = r->trace->n_processes;

	for (int i = 0; i < n; i++)
		if (r->tracees[i].pid == pid)
			return &r->tracees[i];
	if (n == TRACE_PROCESSES_MAX)
		return NULL;
	r->tracees[n] = (struct tracee){ .pid = pid, .counted = !r->foreign, .failing = -1 };
	r->trace->n_processes++;
	r->alive++;
	return &r->tracees[n];
}

/* A call that the kernel always carries out is carried out here too; only its answer
 * is changed. */
static bool acts_anyway(long number)
{
	return number == SYS_close || number == SYS_munmap;
}

static void set_register(const struct tracee *t, size_t offset, long value)
{
	ptrace(PTRACE_POKEUSER, t->pid, offset, value);
}

/* brk answers a failure with the break as it is, which is also its answer to 0. */
static void make_fail(struct tracee *t, const struct __ptrace_syscall_info *info)
{
	long number = (long)info->entry.nr;

	t->failing = number;
	t->argument = info->entry.args[0];
	if (number == SYS_brk)
		set_register(t, offsetof(struct user, regs.rdi), 0);
	else if (!acts_anyway(number))
		set_register(t, offsetof(struct user, regs.orig_rax), -1);
}

static void enter_call(struct tracer *r, struct tracee *t,
		       const struct __ptrace_syscall_info *info)
{
	int process = (int)(t - r->tracees);
	int *n = &r->trace->n_calls[process];

	if (!t->counted || r->trace->injected || *n == TRACE_CALLS_MAX)
		return;
	r->trace->calls[process][*n] = (struct trace_call){ (long)info->entry.nr,
							    info->entry.args[0] };
	if (r->target->process == process && r->target->call == *n)
		make_fail(t, info);
	(*n)++;
}

static void leave_call(struct tracer *r, struct tracee *t)
{
	if (t->failing < 0)
		return;
	if (t->failing == SYS_brk)
		set_register(t, offsetof(struct user, regs.rdi), (long)t->argument);
	else
		set_register(t, offsetof(struct user, regs.rax), -r->target->errnum);
	t->failing = -1;
	r->trace->injected = true;
}

static void at_syscall(struct tracer *r, struct tracee *t)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		enter_call(r, t, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		leave_call(r, t);
}

static void resume(const struct tracer *r, const struct tracee *t, int sig)
{
	bool stop_at_calls = t->counted && !r->trace->injected;

	ptrace(stop_at_calls ? PTRACE_SYSCALL : PTRACE_CONT, t->pid, NULL, (long)sig);
}

static void stopped(struct tracer *r, struct tracee *t, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (sig == SYSCALL_STOP) {
		at_syscall(r, t);
		resume(r, t, 0);
	} else if (event == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		ptrace(PTRACE_LISTEN, t->pid, NULL, NULL);
	} else if (event == PTRACE_EVENT_EXEC) {
		/* The first exec of all is the program's own start. */
		if (t->pid != r->main) {
			t->counted = false;
			r->foreign = true;
		}
		resume(r, t, 0);
	} else {
		resume(r, t, event ? 0 : sig);
	}
}

static void end_all(struct tracer *r)
{
	for (int i = 0; i < r->trace->n_processes; i++)
		if (r->tracees[i].pid)
			kill(r->tracees[i].pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
}

static void follow(struct tracer *r, unsigned seconds)
{
	bool main_ended = false;
	int status;

	set_deadline(seconds);
	while (r->alive) {
		pid_t pid = waitpid(-1, &status, __WALL);
		struct tracee *t = pid > 0 ? find(r, pid) : NULL;

		if (pid < 0 || !t) {
			r->trace->hung = !main_ended;
			r->trace->left = main_ended ? r->alive : 0;
			end_all(r);
			break;
		}
		if (WIFSTOPPED(status)) {
			stopped(r, t, status);
			continue;
		}
		t->pid = 0;
		r->alive--;
		if (pid == r->main) {
			main_ended = true;
			r->trace->status = status;
			set_deadline(LEFT_SECONDS);
		}
	}
	alarm(0);
}

static _Noreturn void become(const struct trace_start *s, int go)
{
	char byte;

	if (read(go, &byte, 1) != 1 || dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0 ||
	    chdir(s->cwd) < 0)
		_exit(99);
	if (s->uid && (setgroups(0, NULL) < 0 || setgid(s->uid) < 0 || setuid(s->uid) < 0))
		_exit(99);
	syscall(SYS_close_range, 3u, ~0u, 0);
	execve(s->program, s->argv, s->envp);
	_exit(99);
}

/* The calls before the exec are not the program's. */
static int wait_for_exec(struct tracer *r)
{
	int status;

	ptrace(PTRACE_CONT, r->main, NULL, NULL);
	while (waitpid(r->main, &status, __WALL) == r->main && WIFSTOPPED(status)) {
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			ptrace(PTRACE_SYSCALL, r->main, NULL, NULL);
			return 0;
		}
		ptrace(PTRACE_CONT, r->main, NULL, NULL);
	}
	return -1;
}

int trace_run(const struct trace_start *start, const struct trace_target *target,
	      struct trace *ret)
{
	struct tracer r = { .target = target, .trace = ret };
	int go[2];
	int failed;

	memset(ret->n_calls, 0, sizeof(ret->n_calls));
	ret->n_processes = ret->left = 0;
	ret->hung = ret->injected = false;
	if (pipe(go) < 0)
		return -1;
	r.main = fork();
	if (r.main == 0)
		become(start, go[0]);
	if (r.main < 0)
		return -1;
	find(&r, r.main);
	failed = ptrace(PTRACE_SEIZE, r.main, NULL, (long)OPTIONS) < 0 ||
		 ptrace(PTRACE_INTERRUPT, r.main, NULL, NULL) < 0 ||
		 waitpid(r.main, NULL, __WALL) != r.main || write(go[1], "", 1) != 1 ||
		 wait_for_exec(&r) < 0;
	close(go[0]);
	close(go[1]);
	if (failed)
		end_all(&r);
	else
		follow(&r, start->seconds);
	return failed ? -1 : 0;
}
