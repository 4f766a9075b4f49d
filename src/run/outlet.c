/* SPDX-License-Identifier: Apache-2.0 */
/* From a pipe to where the caller's output goes; see outlet.h for when. */
#include "run/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "plan/plan.h"
#include "run/execute.h"
#include "run/state.h"

#define stage "output"
#define CHUNK 65536

static const char *const names[] = { "standard input", "standard output", "standard error" };

/* How it is written to without waiting for whoever reads there. */
enum outlet_kind {
	OUTLET_FILE,	/* it takes everything: a file, a device, until that says otherwise */
	OUTLET_SOCKET,	/* asked each time not to wait */
	OUTLET_PIPE,	/* another open file of it, or a device, which does not wait */
	OUTLET_SHARED,	/* a pipe that cannot be opened again: asked each time, too */
};

struct outlet {
	struct outlets *owner;
	int stream; /* which one of the caller's it is */
	enum outlet_kind kind;
	struct loop_watch from; /* our end of the pipe; -1: nothing more comes */
	struct loop_watch to;	/* our own copy of the caller's descriptor; -1: none */
	bool last;		/* nobody of the run is left to write: */
	size_t due;		/* so much was there then */
	size_t at, n;		/* what was read and not written yet */
	char bytes[CHUNK];
};

struct outlets {
	struct run *run;
	struct outlet *at[2]; /* of standard output, and of standard error where it is another */
};

bool outlet_is_file(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	return flags >= 0 && fd_mode_writes(flags) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* A terminal without a session is the command's own: nothing can stand between. */
static bool is_counted(const struct plan *plan, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return execute_output_asked(plan->policy) && flags >= 0 && fd_mode_writes(flags) &&
	       !isatty(fd);
}

static bool is_closed(const struct plan *plan, int fd)
{
	return execute_confines(plan) && outlet_is_file(fd) &&
	       (plan_find_op(plan, OP_NOEXEC) ||
		policy_number(plan->policy, KEY_PROTECT) == PROTECT_EXACT ||
		fcntl(fd, F_GETFL) & O_APPEND);
}

unsigned outlet_streams(const struct plan *plan, const struct execute_options *options)
{
	unsigned streams = 0;

	for (int fd = STDOUT_FILENO; !options->capture && fd <= STDERR_FILENO; fd++)
		if (is_counted(plan, fd) || is_closed(plan, fd))
			streams |= 1u << fd;
	return streams;
}

/* Where the kernel does not say, one file counts as one open file. */
static bool is_one_file(int a, int b)
{
	int one = fd_is_one(a, b);
	struct stat x, y;

	if (one >= 0)
		return one;
	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* --- carrying -------------------------------------------------------------------- */

static void drop(struct outlet *o, struct loop_watch *end)
{
	if (o->owner->run)
		loop_unwatch(run_loop(o->owner->run), end);
	fd_close(&end->fd);
}

/* The command then learns of it as it would from the caller's own descriptor. */
static void close_outlet(struct outlet *o)
{
	drop(o, &o->from);
	drop(o, &o->to);
	o->at = o->n = 0;
}

static void fail(struct outlet *o, const char *what, int errnum)
{
	struct cordon_error why;

	err_set(&why, CORDON_E_IO, errnum, stage, "cannot %s the command's %s", what,
		names[o->stream]);
	run_break(o->owner->run, &why);
	close_outlet(o);
}

/* How much of n bytes the limit leaves room for; the kernel holds only the command to it. */
static size_t within_size(const struct outlet *o, size_t n)
{
	uint64_t limit = o->owner->run->request->limits.file_size;
	bool appends = fcntl(o->to.fd, F_GETFL) & O_APPEND;
	off_t at = limit && o->kind == OUTLET_FILE ?
			   lseek(o->to.fd, 0, appends ? SEEK_END : SEEK_CUR) :
			   -1;

	if (at < 0)
		return n;
	if ((uint64_t)at >= limit)
		return 0;
	return n < limit - (uint64_t)at ? n : (size_t)(limit - (uint64_t)at);
}

/* What the limits leave of what was read; with the first byte too many it is over. */
static void take(struct outlet *o, size_t n)
{
	size_t fit = within_size(o, run_count_output(o->owner->run, n));

	o->at = 0;
	o->n = fit;
	if (o->last)
		o->due -= n < o->due ? n : o->due;
	if (fit == n)
		return;
	run_stop(o->owner->run, RUN_CAUSE_file_size); /* unless it was the output */
	drop(o, &o->from);
}

/* One read; false when there is nothing more now or ever. */
static bool read_some(struct outlet *o)
{
	size_t room = o->last && o->due < sizeof(o->bytes) ? o->due : sizeof(o->bytes);
	ssize_t n = room ? read(o->from.fd, o->bytes, room) : 0;
	bool more = n > 0 || (n < 0 && errno == EINTR);

	if (n > 0)
		take(o, (size_t)n);
	else if (n == 0 || (errno == EAGAIN && o->last)) /* somebody else read it */
		drop(o, &o->from);
	else if (errno != EAGAIN && errno != EINTR)
		fail(o, "carry", errno);
	return more;
}

/* Where the kernel cannot be asked, as much as fits, unless another writer is faster. */
static ssize_t put_shared(int fd, const char *bytes, size_t n)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	ssize_t done = fd_write_now(fd, bytes, n);

	if (done >= 0 || errno != ENOTSUP)
		return done;
	if (poll(&room, 1, 0) > 0)
		return write(fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);
	errno = EAGAIN;
	return -1;
}

/* All of it, unless the caller's device is one that does not wait: neither do we. */
static ssize_t put_all(struct outlet *o, const char *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t now = write(o->to.fd, bytes + done, n - done);

		if (now >= 0) {
			done += (size_t)now;
		} else if (errno == EAGAIN) {
			o->kind = OUTLET_PIPE;
			return done ? (ssize_t)done : -1;
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return (ssize_t)done;
}

/* write(2) that does not wait for a reader. */
static ssize_t put(struct outlet *o)
{
	const char *bytes = o->bytes + o->at;
	size_t n = o->n - o->at;

	switch (o->kind) {
	case OUTLET_FILE:
		return put_all(o, bytes, n);
	case OUTLET_SOCKET:
		return send(o->to.fd, bytes, n, MSG_DONTWAIT);
	case OUTLET_PIPE:
		return write(o->to.fd, bytes, n);
	case OUTLET_SHARED:
		return put_shared(o->to.fd, bytes, n);
	}
	errno = EAGAIN;
	return -1;
}

static bool write_some(struct outlet *o)
{
	ssize_t n = put(o);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
		close_outlet(o);
	else if (n < 0)
		fail(o, "write", errno);
	else
		o->at += (size_t)n;
	return n >= 0;
}

/* One read or write; false when it has to wait, or is done. */
static bool step(struct outlet *o)
{
	if (o->at < o->n)
		return write_some(o);
	return o->from.fd >= 0 && read_some(o);
}

/* Nothing is read before what was read is written: the command waits for a slow reader. */
static int watch(struct outlet *o, struct cordon_error *err)
{
	struct loop *loop = run_loop(o->owner->run);
	bool full = o->at < o->n;
	int r = 0;

	if (!full && o->last && !o->due)
		drop(o, &o->from);
	if (!full && o->from.fd < 0)
		close_outlet(o);
	if (full || o->from.fd < 0)
		loop_unwatch(loop, &o->from);
	else
		r = loop_watch(loop, &o->from, POLLIN, err);
	if (r == 0 && o->to.fd >= 0 && o->kind != OUTLET_FILE)
		r = loop_watch(loop, &o->to, full ? POLLOUT : 0, err);
	return r;
}

static void go_on(struct outlet *o)
{
	struct cordon_error why;

	if (watch(o, &why) < 0) {
		run_break(o->owner->run, &why);
		close_outlet(o);
	}
	if (o->to.fd < 0)
		run_delivered(o->owner->run);
}

static void from_ready(void *data, uint32_t events)
{
	struct outlet *o = data;

	(void)events;
	if (step(o) && o->at < o->n)
		step(o);
	go_on(o);
}

static void to_ready(void *data, uint32_t events)
{
	struct outlet *o = data;

	if (o->at < o->n)
		step(o);
	else if (events & (POLLERR | POLLHUP))
		close_outlet(o);
	go_on(o);
}

/* --- part ------------------------------------------------------------------------ */

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct outlets *all = part->data;
	int r = 0;

	all->run = run;
	for (size_t i = 0; r == 0 && i < 2; i++)
		if (all->at[i])
			r = watch(all->at[i], err);
	return r;
}

/* What a stranger to whom the command gave its end may still write is not waited for. */
static void note_last(struct outlet *o)
{
	int there = 0;

	if (o->last)
		return;
	o->last = true;
	if (o->from.fd >= 0 && ioctl(o->from.fd, FIONREAD, &there) == 0)
		o->due = (size_t)there;
}

static bool has_more(struct run_part *part)
{
	struct outlets *all = part->data;
	struct cordon_error why;
	bool more = false;

	for (size_t i = 0; i < 2; i++) {
		struct outlet *o = all->at[i];

		if (!o)
			continue;
		note_last(o);
		while (step(o))
			;
		if (watch(o, &why) < 0)
			run_break(all->run, &why);
		more |= o->to.fd >= 0;
	}
	return more && !all->run->broken;
}

static void end(struct run_part *part, struct run_result *result)
{
	struct outlets *all = part->data;

	if (result && all->run && has_more(part))
		result->undelivered = true;
	for (size_t i = 0; i < 2; i++)
		if (all->at[i])
			close_outlet(all->at[i]);
}

static int hand_over(struct launch *launch, int from, int to)
{
	int fd = launch->n_fds < LAUNCH_FDS_MAX ? fcntl(from, F_DUPFD_CLOEXEC, 3) : -1;

	if (fd < 0)
		return -1;
	launch->fds[launch->n_fds++] = (struct spawn_fd){ .from = fd, .to = to };
	return 0;
}

/* Never the flags of the caller's own open file, which others share. */
static int open_end(struct outlet *o, struct cordon_error *err)
{
	struct stat st;

	if (fstat(o->stream, &st) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot use %s",
			       names[o->stream]);
	if (S_ISFIFO(st.st_mode)) {
		o->to.fd = fd_open_again(o->stream, O_WRONLY | O_NONBLOCK);
		o->kind = o->to.fd >= 0 ? OUTLET_PIPE : OUTLET_SHARED;
	} else if (S_ISSOCK(st.st_mode)) {
		o->kind = OUTLET_SOCKET;
	}
	if (o->to.fd < 0)
		o->to.fd = fcntl(o->stream, F_DUPFD_CLOEXEC, 3);
	return o->to.fd >= 0 ? 0 :
			       err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot use %s",
				       names[o->stream]);
}

static int open_outlet(struct outlet *o, struct launch *launch, bool both, struct cordon_error *err)
{
	autoclose int child_end = -1;
	int failed = fd_pipe(&o->from.fd, &child_end);

	if (failed)
		return err_set(err, CORDON_E_SYSTEM, -failed, stage, "cannot create a pipe");
	fcntl(o->from.fd, F_SETFL, O_NONBLOCK);
	if (hand_over(launch, child_end, o->stream) < 0 ||
	    (both && hand_over(launch, child_end, STDERR_FILENO) < 0))
		return err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot hand over a pipe");
	return open_end(o, err);
}

static int add_outlet(struct arena *a, struct outlets *all, int stream, bool both,
		      struct launch *launch, struct cordon_error *err)
{
	struct outlet *o = arena_new(a, struct outlet);

	if (!o)
		return err_nomem(err, stage);
	o->owner = all;
	o->stream = stream;
	o->from = (struct loop_watch){ .fd = -1, .ready = from_ready, .data = o };
	o->to = (struct loop_watch){ .fd = -1, .ready = to_ready, .data = o };
	all->at[stream - STDOUT_FILENO] = o;
	return open_outlet(o, launch, both, err);
}

int outlet_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		struct cordon_error *err)
{
	unsigned streams = outlet_streams(in->plan, in->options);
	bool out = streams & 1u << STDOUT_FILENO, errors = streams & 1u << STDERR_FILENO;
	bool one = out && errors && is_one_file(STDOUT_FILENO, STDERR_FILENO);
	struct outlets *all = streams ? arena_new(a, struct outlets) : NULL;
	struct run_part *part = all ? arena_new(a, struct run_part) : NULL;
	int r = 0;

	if (!streams)
		return 0;
	if (!part)
		return err_nomem(err, stage);
	*part = (struct run_part){
		.name = stage, .begin = begin, .has_more = has_more, .end = end, .data = all
	};
	if (out)
		r = add_outlet(a, all, STDOUT_FILENO, one, in->launch, err);
	if (r == 0 && errors && !one)
		r = add_outlet(a, all, STDERR_FILENO, false, in->launch, err);
	if (r < 0)
		end(part, NULL);
	else
		*ret = part;
	return r;
}
