/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to cordon, passed on to the command, and job control. */
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/terminal.h"

/* How often to look whether the command has stopped, and how many times. */
#define STOP_LOOK_MS 20
#define STOP_LOOKS_MAX 250

static const int forwarded[] = {
	SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP,
};

/* What the caller ignores (nohup, a background job) stays ignored: a blocked signal
 * would be delivered to us all the same. */
void run_signal_set(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	sigaddset(ret, SIGPIPE);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++) {
		struct sigaction sa;

		if (sigaction(forwarded[i], NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
			sigaddset(ret, forwarded[i]);
	}
}

/* What a terminal sends goes to the whole foreground; what only a process sends goes to
 * the one it meant. TERM is for both: what it leaves running would be ended anyway. */
static bool is_for_group(int sig)
{
	return sig != SIGUSR1 && sig != SIGUSR2;
}

bool run_pass_on(struct run *run, int sig)
{
	if (run->main_gone)
		return false;
	if (run->request->wrappers)
		return tree_signal_command(&run->tree, sig, is_for_group(sig));
	if (run->request->new_session && is_for_group(sig) && kill(-run->main.pid, sig) == 0)
		return true;
	/* Also when its setsid is still to come. */
	return spawn_signal(&run->main, sig) == 0;
}

static bool in_foreground(void)
{
	autoclose int tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return tty >= 0 && tcgetpgrp(tty) == getpgrp();
}

/* Returns when somebody continues us, and the command then goes on too. Nothing of the run
 * may go on without us: nobody would hold it to its limits. */
static void stop_together(struct run *run)
{
	struct tree_stopped others;

	if (!in_foreground())
		return;
	tree_suspend(&run->tree, &others);
	if (!run->main_gone)
		kill(getpid(), SIGSTOP);
	tree_resume(&run->tree, &others);
	run_pass_on(run, SIGCONT);
}

/* Everybody in the job, whose shell then takes over. Nothing happens where nobody could
 * continue it, or where the caller ignores the signal. */
static void stop_job(void)
{
	sigset_t stop, before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	kill(0, SIGTSTP);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void run_suspend(struct run *run)
{
	struct tree_stopped others;

	if (run->main_gone || run->phase != RUN_PHASE_running)
		return;
	terminal_leave(run->terminal);
	tree_suspend(&run->tree, &others);
	if (!run->main_gone)
		stop_job();
	terminal_forget_stops(run->terminal);
	terminal_enter(run->terminal);
	tree_resume(&run->tree, &others);
	run_pass_on(run, SIGCONT);
}

static void look_for_stop(struct run *run)
{
	siginfo_t info = { 0 };

	if (run->main_gone || run->phase != RUN_PHASE_running)
		return;
	if (waitid(P_PID, (id_t)run->main.pid, &info, WSTOPPED | WNOHANG) == 0 &&
	    info.si_pid)
		stop_together(run);
}

/* In cordon's own process group below a wrapper that does not stop with it: the terminal
 * has told the command, which stops when it is ready to, or never. */
static void look_at_command(void *data)
{
	struct run *run = data;

	if (run->main_gone || run->phase != RUN_PHASE_running)
		return;
	if (tree_command_stopped(&run->tree))
		stop_together(run);
	else if (run->stop_looks++ < STOP_LOOKS_MAX)
		loop_set_timer(run->loop, &run->stop_timer, STOP_LOOK_MS);
}

static void expect_stop(struct run *run)
{
	run->stop_looks = 0;
	run->stop_timer.fired = look_at_command;
	run->stop_timer.data = run;
	loop_set_timer(run->loop, &run->stop_timer, STOP_LOOK_MS);
}

static void suspend_session(struct run *run)
{
	/* Its process group is orphaned: the kernel would drop a TSTP. */
	run_pass_on(run, SIGSTOP);
	if (run->terminal)
		run_suspend(run);
	else
		stop_together(run);
}

/* Is the command to end by this? A shell or a debugger takes an interrupt and goes on: at
 * a terminal it is one key, which programs between us and it pass on by themselves. */
static bool asks_to_end(const struct run *run, int sig, bool by_terminal)
{
	bool interactive =
		run->terminal || (!run->request->stdin_null && isatty(STDIN_FILENO));

	return sig == SIGHUP || sig == SIGTERM || (sig == SIGINT && !by_terminal && !interactive);
}

static void grace_over(void *data)
{
	run_insist(data);
}

static bool is_key(int sig)
{
	return sig == SIGINT || sig == SIGQUIT;
}

static bool ends_by_default(int sig)
{
	return is_key(sig) || sig == SIGTERM || sig == SIGHUP;
}

/* The command has the signal by now, unless it came too early, and some time to do as it
 * says. What is not there yet would have ended by an interrupt, at a terminal too. */
static void count_request(struct run *run, int sig, bool by_terminal, bool early)
{
	if (!asks_to_end(run, sig, by_terminal) && !(early && is_key(sig)))
		return;
	run->asked++;
	if (early) {
		run->ended_by = sig;
		run_stop(run, RUN_CAUSE_signal);
		return;
	}
	if (run->asked > 1 || run->main_gone) {
		run_insist(run);
		return;
	}
	run->insist.fired = grace_over;
	run->insist.data = run;
	loop_set_timer(run->loop, &run->insist, run_grace(run));
}

/* Only the reader of the output is waited for, as by the command itself: what would end
 * or stop that ends or stops us. */
static void signal_while_delivering(struct run *run, int sig)
{
	if (sig == SIGTSTP && in_foreground())
		kill(getpid(), SIGSTOP);
	else if (ends_by_default(sig))
		run_give_up(run, sig);
}

void run_on_signal(void *data, int sig, bool by_terminal)
{
	struct run *run = data;
	bool early, heard = true;

	/* Of a pipe that we wrote to: the error has told it. */
	if (sig == SIGPIPE)
		return;
	if (run->delivers && sig != SIGCHLD) {
		signal_while_delivering(run, sig);
		return;
	}
	if (sig == SIGCHLD) {
		look_for_stop(run);
		run_progress(run);
		return;
	}
	if (sig == SIGWINCH && run->terminal) {
		terminal_resize(run->terminal);
		return;
	}
	if (sig == SIGCONT)
		terminal_enter(run->terminal);
	if (ends_by_default(sig))
		run->result.told_to_end = sig;
	/* Before it is passed on: what begins only then does not get it. */
	early = run_is_beginning(run);
	if (sig == SIGTSTP && run->request->new_session)
		suspend_session(run);
	else if (!by_terminal || run->request->new_session)
		heard = run_pass_on(run, sig);
	if (sig == SIGTSTP && !run->request->new_session && run->request->wrappers)
		expect_stop(run);
	/* bubblewrap has been executed, and the command has not. */
	early |= !heard && !run->main_gone && run->request->wrappers > 1;
	count_request(run, sig, by_terminal, early);
}
