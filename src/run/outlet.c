/* SPDX-License-Identifier: Apache-2.0 */
/* From a pipe to the caller's file; see outlet.h for when. */
#include "run/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "plan/plan.h"
#include "run/execute.h"
#include "run/state.h"

#define stage "output"
#define CHUNK 65536
/* After the end of the run: a pipe holds less, unless a stranger fills it. */
#define LAST_READS_MAX 64

static const char *const names[] = { "standard input", "standard output", "standard error" };

struct outlet {
	struct outlets *owner;
	int to;			 /* the caller's descriptor */
	struct loop_watch watch; /* our end of the pipe; -1: none */
};

struct outlets {
	struct run *run;
	struct outlet at[2]; /* of standard output, and of standard error where it is another */
	uint64_t total;
};

bool outlet_is_file(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	return flags >= 0 && fd_mode_writes(flags) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_wanted(const struct plan *plan, int fd)
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
		if (is_wanted(plan, fd))
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

static void close_outlet(struct outlet *o)
{
	if (o->owner->run)
		loop_unwatch(run_loop(o->owner->run), &o->watch);
	fd_close(&o->watch.fd);
}

static void fail(struct outlet *o, const char *what, int errnum)
{
	struct cordon_error why;

	err_set(&why, CORDON_E_IO, errnum, stage, "cannot %s the command's %s", what, names[o->to]);
	run_break(o->owner->run, &why);
	close_outlet(o);
}

/* How much of n bytes the limit leaves room for; the kernel holds only the command to it. */
static size_t within_size(const struct outlet *o, size_t n)
{
	uint64_t limit = o->owner->run->request->limits.file_size;
	off_t at = lseek(o->to, 0, fcntl(o->to, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);

	if (!limit || at < 0)
		return n;
	if ((uint64_t)at >= limit)
		return 0;
	return n < limit - (uint64_t)at ? n : (size_t)(limit - (uint64_t)at);
}

static size_t within_output(struct outlets *all, size_t n)
{
	uint64_t limit = all->run->request->limits.output;
	uint64_t left = limit > all->total ? limit - all->total : 0;

	all->total += n;
	return !limit || n < left ? n : (size_t)left;
}

static void carry(struct outlet *o, const char *bytes, size_t n)
{
	size_t few = within_output(o->owner, n), fit = within_size(o, few);
	int failed = fd_write_all(o->to, bytes, fit);

	if (failed) {
		fail(o, "write", -failed);
	} else if (fit < n) {
		run_stop(o->owner->run, few < n ? RUN_CAUSE_output : RUN_CAUSE_file_size);
		close_outlet(o);
	}
}

/* One read; false when there is nothing more now or ever. */
static bool read_some(struct outlet *o)
{
	char chunk[CHUNK];
	ssize_t n;

	if (o->watch.fd < 0)
		return false;
	n = read(o->watch.fd, chunk, sizeof(chunk));
	if (n > 0)
		carry(o, chunk, (size_t)n);
	else if (n == 0)
		close_outlet(o);
	else if (errno != EAGAIN && errno != EINTR)
		fail(o, "carry", errno);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void ready(void *data, uint32_t events)
{
	(void)events;
	read_some(data);
}

/* --- part ------------------------------------------------------------------------ */

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct outlets *all = part->data;
	int r = 0;

	all->run = run;
	for (size_t i = 0; r == 0 && i < 2; i++)
		if (all->at[i].watch.fd >= 0)
			r = loop_watch(run_loop(run), &all->at[i].watch, POLLIN, err);
	return r;
}

static void end(struct run_part *part, struct run_result *result)
{
	struct outlets *all = part->data;

	(void)result;
	for (size_t i = 0; i < 2; i++) {
		for (int reads = 0; reads < LAST_READS_MAX && read_some(&all->at[i]); reads++)
			;
		close_outlet(&all->at[i]);
	}
}

static int hand_over(struct launch *launch, int from, int to)
{
	int fd = launch->n_fds < LAUNCH_FDS_MAX ? fcntl(from, F_DUPFD_CLOEXEC, 3) : -1;

	if (fd < 0)
		return -1;
	launch->fds[launch->n_fds++] = (struct spawn_fd){ .from = fd, .to = to };
	return 0;
}

static int open_outlet(struct outlet *o, struct launch *launch, bool both, struct cordon_error *err)
{
	autoclose int child_end = -1;
	int failed = fd_pipe(&o->watch.fd, &child_end);

	if (failed)
		return err_set(err, CORDON_E_SYSTEM, -failed, stage, "cannot create a pipe");
	fcntl(o->watch.fd, F_SETFL, O_NONBLOCK);
	if (hand_over(launch, child_end, o->to) < 0 ||
	    (both && hand_over(launch, child_end, STDERR_FILENO) < 0))
		return err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot hand over a pipe");
	return 0;
}

static void set_up(struct outlets *all)
{
	for (int i = 0; i < 2; i++)
		all->at[i] = (struct outlet){
			.owner = all,
			.to = STDOUT_FILENO + i,
			.watch = { .fd = -1, .ready = ready, .data = &all->at[i] },
		};
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
	set_up(all);
	*part = (struct run_part){ .name = stage, .begin = begin, .end = end, .data = all };
	if (out)
		r = open_outlet(&all->at[0], in->launch, one, err);
	if (r == 0 && errors && !one)
		r = open_outlet(&all->at[1], in->launch, false, err);
	if (r < 0)
		end(part, NULL);
	else
		*ret = part;
	return r;
}
