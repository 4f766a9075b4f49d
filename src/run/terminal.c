/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying bytes between the user's terminal and the command's. */
#include "run/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "plan/plan.h"
#include "run/carried.h"
#include "run/execute.h"
#include "run/keeper.h"
#include "run/state.h"

#define stage "terminal"
/* How often to look whether cordon is in front, and keys are wanted. */
#define FOREGROUND_MS 200
/* For the last output, when the user's terminal does not take any. */
#define DRAIN_MS 1000

struct terminal {
	struct run *run;
	int user;	/* descriptor of the user's terminal */
	bool input;	/* keys are read from it */
	bool alone;	/* standard input and output are the terminal */
	bool on_demand; /* keys may be for another program of the user's pipe ... */
	bool settles;	/* ... until the command has asked for one */
	bool raw;
	struct termios before; /* the user's settings, while raw */
	struct keeper keeper;
	int slave; /* of a terminal made here; -1: it was made inside */
	struct loop_watch typed, shown, master, stops;
	struct loop_timer foreground;
	struct carried in, out;
	struct shown_text last;
	struct run_teller *teller; /* NULL: none */
	int *launch_stop;
};

/* --- the user's terminal ----------------------------------------------------------- */

static bool in_front(const struct terminal *t)
{
	return tcgetpgrp(t->user) == getpgrp();
}

/* At once: waiting for output would hang on a terminal that was stopped. */
static void make_raw(struct terminal *t)
{
	struct termios raw;

	if (t->raw || tcgetattr(t->user, &t->before) < 0)
		return;
	raw = t->before;
	cfmakeraw(&raw);
	/* Others show something here meanwhile. */
	if (!t->alone)
		raw.c_oflag = t->before.c_oflag;
	keeper_tell(&t->keeper, &(struct keeper_settings){ true, t->before, raw });
	t->raw = tcsetattr(t->user, TCSANOW, &raw) == 0;
}

static void watch_all(struct terminal *t);

static void find_reader(void *data, const struct tree_process *p, bool wrapper)
{
	bool *found = data;
	struct procfs_stat line;

	if (!wrapper && !*found && procfs_stat(p->pid, &line) && line.alive)
		*found = procfs_reads_terminal(line.thread);
}

/* Who wants each key by itself set the command's terminal so; it may wait in poll(2). */
static bool takes_keys(const struct terminal *t)
{
	struct termios inner;

	return t->master.fd >= 0 && tcgetattr(t->master.fd, &inner) == 0 &&
	       !(inner.c_lflag & ICANON);
}

/* Is what is typed for the command? In `cordon run make | less` it is for less. */
static bool is_wanted(const struct terminal *t)
{
	bool found = !t->on_demand || takes_keys(t);

	if (!found)
		tree_each(&t->run->tree, find_reader, &found);
	return found;
}

void terminal_enter(struct terminal *t)
{
	if (!t || !t->input)
		return;
	if (!in_front(t) || !is_wanted(t))
		terminal_leave(t);
	else if (!t->raw) {
		make_raw(t);
		t->on_demand &= !t->settles;
		terminal_resize(t);
		watch_all(t);
	}
	if (!t->raw || t->on_demand)
		loop_set_timer(t->run->loop, &t->foreground, FOREGROUND_MS);
}

static void look_again(void *data)
{
	terminal_enter(data);
}

void terminal_leave(struct terminal *t)
{
	if (!t || !t->raw)
		return;
	t->raw = false;
	loop_unwatch(t->run->loop, &t->typed);
	tcsetattr(t->user, TCSANOW, &t->before);
	keeper_tell(&t->keeper, &(struct keeper_settings){ .changed = false });
}

void terminal_resize(struct terminal *t)
{
	struct winsize size;

	if (t && t->master.fd >= 0 && ioctl(t->user, TIOCGWINSZ, &size) == 0)
		ioctl(t->master.fd, TIOCSWINSZ, &size);
}

/* An open file of our own, so that not blocking is not passed on to whoever shares the
 * terminal. A terminal that belongs to another user (after su) cannot be opened again;
 * then it is used as it is. */
static int open_again(int fd, int flags)
{
	int again = fd_open_again(fd, flags | O_NONBLOCK);

	return again >= 0 ? again : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* --- keys that the new terminal has nobody to tell of ------------------------------- */

static int signal_of_key(const struct terminal *t, char c)
{
	struct termios inner;
	pid_t front = tcgetpgrp(t->master.fd);
	bool alone = front <= 0, orphan = front == t->run->main.pid;

	if ((!alone && !orphan) || tcgetattr(t->master.fd, &inner) < 0 || !(inner.c_lflag & ISIG) ||
	    (cc_t)c == (cc_t)_POSIX_VDISABLE)
		return 0;
	if (inner.c_cc[VSUSP] == (cc_t)c)
		return SIGTSTP;
	if (!alone)
		return 0;
	if (inner.c_cc[VINTR] == (cc_t)c)
		return SIGINT;
	return inner.c_cc[VQUIT] == (cc_t)c ? SIGQUIT : 0;
}

static void press(struct terminal *t, int sig)
{
	if (sig == SIGTSTP) {
		run_pass_on(t->run, SIGSTOP);
		run_suspend(t->run);
	} else
		run_pass_on(t->run, sig);
}

/* Takes such keys out of what was just typed. */
static void take_keys(struct terminal *t, size_t start)
{
	struct carried *in = &t->in;
	size_t kept = start;

	for (size_t i = start; i < in->n; i++) {
		int sig = (unsigned char)in->bytes[i] < ' ' ? signal_of_key(t, in->bytes[i]) : 0;

		if (sig)
			press(t, sig);
		else
			in->bytes[kept++] = in->bytes[i];
	}
	in->n = kept;
}

/* --- carrying ---------------------------------------------------------------------- */

static void watch(struct terminal *t, struct loop_watch *w, uint32_t events)
{
	struct cordon_error ignored;

	if (w->fd < 0)
		return;
	if (events)
		loop_watch(t->run->loop, w, events, &ignored);
	else
		loop_unwatch(t->run->loop, w);
}

static void watch_all(struct terminal *t)
{
	bool typed = t->in.from < t->in.n, shown = t->out.from < t->out.n;

	watch(t, &t->typed, t->raw && carried_has_room(&t->in) ? POLLIN : 0);
	watch(t, &t->shown, shown ? POLLOUT : 0);
	watch(t, &t->master, (carried_has_room(&t->out) ? POLLIN : 0u) | (typed ? POLLOUT : 0u));
}

static void let_go(struct terminal *t, struct loop_watch *w)
{
	loop_unwatch(t->run->loop, w);
	fd_close(&w->fd);
}

/* What cannot be shown is dropped: the command must not wait for a terminal that is gone. */
static void show(struct terminal *t)
{
	if (t->shown.fd >= 0 && !carried_pour(&t->out, t->shown.fd))
		let_go(t, &t->shown);
	if (t->shown.fd < 0)
		t->out.from = t->out.n;
}

static void send_typed(struct terminal *t)
{
	if (t->master.fd < 0 || !carried_pour(&t->in, t->master.fd))
		t->in.from = t->in.n;
}

/* What is on its way, up to the line that the shell's prompt is on. */
static void show_lines(struct terminal *t)
{
	size_t all = t->out.n;

	while (t->out.n > t->out.from && t->out.bytes[t->out.n - 1] != '\n')
		t->out.n--;
	show(t);
	t->out.n = all;
}

/* Before the shell's prompt. Without a line's end a text may go on. */
static void tell(struct terminal *t)
{
	struct str lines = shown_text_untold(&t->last);

	if (!t->teller)
		return;
	while (lines.n && lines.p[lines.n - 1] != '\n')
		lines.n--;
	if ((!lines.n && !t->teller->waiting) ||
	    !tree_command_leads(&t->run->tree, tcgetpgrp(t->master.fd)))
		return;
	t->last.untold -= lines.n;
	t->teller->waiting = false;
	show_lines(t);
	t->teller->tell(t->teller->data, lines);
}

/* One read of what the command's terminal has. */
static bool take_shown(struct terminal *t, bool *ended)
{
	size_t before = t->out.from == t->out.n ? 0 : t->out.n;

	if (!carried_fill(&t->out, t->master.fd, ended))
		return false;
	shown_text_add(&t->last, (struct str){ t->out.bytes + before, t->out.n - before });
	return true;
}

/* With capture the streams are counted where they are kept. */
static void count_printed(struct terminal *t, size_t n)
{
	if (!t->run->request->capture)
		run_count_output(t->run, n);
}

/* The kernel gives a page at a time: as many as there are, then one write. */
static void master_ready(void *data, uint32_t events)
{
	struct terminal *t = data;
	bool ended = false;
	size_t before;

	if (events & POLLOUT)
		send_typed(t);
	before = t->out.n - t->out.from;
	while (take_shown(t, &ended))
		;
	count_printed(t, t->out.n - t->out.from - before);
	tell(t);
	show(t);
	if (ended)
		let_go(t, &t->master);
	watch_all(t);
}

static void typed_ready(void *data, uint32_t events)
{
	struct terminal *t = data;
	bool ended = false;
	size_t start;

	(void)events;
	start = t->in.from == t->in.n ? 0 : t->in.n;
	if (t->master.fd >= 0 && carried_fill(&t->in, t->typed.fd, &ended)) {
		take_keys(t, start);
		send_typed(t);
	}
	if (ended)
		let_go(t, &t->typed);
	watch_all(t);
}

static void shown_ready(void *data, uint32_t events)
{
	(void)events;
	show(data);
	watch_all(data);
}

/* --- the command's terminal --------------------------------------------------------- */

/* Before the command begins: like the user's, as it was before anything of ours. Where the
 * user's goes on treating the output, once is enough. */
static void imitate(struct terminal *t)
{
	struct termios settings;

	if (tcgetattr(t->user, &settings) == 0) {
		if (!t->alone)
			settings.c_oflag &= ~(tcflag_t)OPOST;
		tcsetattr(t->master.fd, TCSANOW, &settings);
	}
	terminal_resize(t);
}

static int start(struct terminal *t, struct cordon_error *err)
{
	if (fcntl(t->master.fd, F_SETFL, O_NONBLOCK) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot use the terminal");
	terminal_enter(t);
	watch_all(t);
	return 0;
}

static int took(struct run_part *part, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct terminal *t = part->data;

	(void)kind;
	t->master.fd = fd;
	imitate(t);
	return start(t, err);
}

static ssize_t read_stops(struct terminal *t)
{
	char bytes[1024];

	return t->stops.fd < 0 ? 0 : read(t->stops.fd, bytes, sizeof(bytes));
}

void terminal_forget_stops(struct terminal *t)
{
	if (t)
		read_stops(t);
}

static void stop_ready(void *data, uint32_t events)
{
	struct terminal *t = data;
	ssize_t got = read_stops(t);

	(void)events;
	/* The news may be old: it comes from inside, after the fact. */
	if (got > 0 && tree_command_stopped(&t->run->tree))
		run_suspend(t->run);
	else if (got == 0 || (got < 0 && errno != EAGAIN))
		let_go(t, &t->stops);
}

static void start_keeper(struct terminal *t)
{
	struct cordon_error ignored;

	if (t->input && keeper_start(&t->keeper, t->user, &ignored) == 0)
		run_disown(t->run, t->keeper.child.pid, &ignored);
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct terminal *t = part->data;

	t->run = run;
	run->terminal = t;
	start_keeper(t);
	if (t->launch_stop)
		t->stops.fd = steal_fd(t->launch_stop);
	fcntl(t->stops.fd, F_SETFL, O_NONBLOCK);
	watch(t, &t->stops, POLLIN);
	return t->master.fd < 0 ? 0 : start(t, err);
}

/* What was printed last, but not for ever. */
static void drain(struct terminal *t)
{
	uint64_t until = loop_now() + DRAIN_MS;
	bool ended = t->master.fd < 0;

	fd_close(&t->slave);
	while (loop_now() < until && (!ended || t->out.from < t->out.n)) {
		struct pollfd wait[] = { { .fd = t->shown.fd, .events = POLLOUT },
					 { .fd = t->master.fd, .events = POLLIN } };

		if (!ended && !take_shown(t, &ended) && t->out.from == t->out.n)
			poll(ended ? NULL : &wait[1], !ended, ended ? 0 : 10);
		show(t);
		if (t->out.from < t->out.n)
			poll(wait, 1, 10);
	}
}

static void end(struct run_part *part, struct run_result *result)
{
	struct terminal *t = part->data;

	if (t->run) {
		loop_unwatch(t->run->loop, &t->master);
		drain(t);
		result->shown = buf_make(SHOWN_BYTES);
		buf_add(&result->shown,
			t->teller ? shown_text_untold(&t->last)
				  : (struct str){ t->last.bytes, t->last.n });
		terminal_leave(t);
		keeper_end(&t->keeper);
		loop_clear_timer(t->run->loop, &t->foreground);
		let_go(t, &t->typed);
		let_go(t, &t->shown);
		let_go(t, &t->stops);
		t->run->terminal = NULL;
	}
	fd_close(&t->master.fd);
	fd_close(&t->slave);
	fd_close(&t->user);
}

/* --- before the start ---------------------------------------------------------------- */

static bool has_session(const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_SESSION)
			return true;
	return false;
}

unsigned terminal_streams(const struct plan *plan, const struct execute_options *options)
{
	unsigned streams = 0;

	if (!has_session(plan))
		return 0;
	for (int fd = 0; fd < 3; fd++)
		if (isatty(fd))
			streams |= 1u << fd;
	if (options->stdin_null)
		streams &= ~1u;
	if (options->capture)
		streams &= 1u;
	return streams;
}

static int first_stream(unsigned streams)
{
	int fd = 0;

	while (!(streams & 1u << fd))
		fd++;
	return fd;
}

/* Outside, for a backend that makes none. */
static int make_pair(struct terminal *t, unsigned streams, struct launch *launch,
		     struct cordon_error *err)
{
	int failed = fd_pty(&t->master.fd, &t->slave);

	if (failed)
		return err_set(err, CORDON_E_SYSTEM, -failed, stage, "cannot make a terminal");
	for (int i = 0; i < 3; i++) {
		int fd;

		if (!(streams & 1u << i))
			continue;
		fd = fcntl(t->slave, F_DUPFD_CLOEXEC, 3);
		if (fd < 0 || launch->n_fds == LAUNCH_FDS_MAX)
			return err_set(err, CORDON_E_SYSTEM, errno, stage,
				       "cannot hand over a terminal");
		launch->fds[launch->n_fds++] = (struct spawn_fd){ .from = fd, .to = i };
	}
	imitate(t);
	return 0;
}

static void set_watches(struct terminal *t)
{
	t->typed.ready = typed_ready;
	t->shown.ready = shown_ready;
	t->master.ready = master_ready;
	t->stops.ready = stop_ready;
	t->typed.data = t->shown.data = t->master.data = t->stops.data = t;
	t->typed.fd = t->shown.fd = t->master.fd = t->stops.fd = t->slave = t->user = -1;
	t->keeper.control = -1;
	t->foreground.fired = look_again;
	t->foreground.data = t;
}

int terminal_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		  struct cordon_error *err)
{
	unsigned streams = terminal_streams(in->plan, in->options);
	struct terminal *t = streams ? arena_new(a, struct terminal) : NULL;
	struct run_part *part = t ? arena_new(a, struct run_part) : NULL;
	int fd, r = 0;

	if (!streams)
		return 0;
	if (!part)
		return err_nomem(err, stage);
	fd = first_stream(streams);
	set_watches(t);
	t->user = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	t->alone = (streams & 3u) == 3u;
	t->on_demand = !t->alone && !in->options->capture;
	t->settles = streams & 2u;
	t->input = !in->options->stdin_null;
	t->teller = in->options->teller;
	if (t->input)
		t->typed.fd = open_again(fd, O_RDONLY);
	t->shown.fd = open_again(streams & 2u ? 1 : fd, O_WRONLY);
	*part = (struct run_part){ .name = stage, .begin = begin, .end = end, .data = t };
	if (in->launch->hands_over & HANDOVER_BIT(TERMINAL)) {
		part->takes = HANDOVER_BIT(TERMINAL);
		part->took = took;
		t->launch_stop = &in->launch->stop_fd;
	} else
		r = make_pair(t, streams, in->launch, err);
	if (r < 0)
		end(part, NULL);
	else
		*ret = part;
	return r;
}
