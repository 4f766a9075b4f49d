/* SPDX-License-Identifier: Apache-2.0 */
/* From the caller's file to a pipe; see inlet.h for when. */
#include "run/inlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "plan/plan.h"
#include "run/execute.h"
#include "run/state.h"

#define stage "input"
#define CHUNK 65536

struct inlet {
	struct run *run;
	off_t begun;		 /* where the caller's descriptor was */
	off_t carried;		 /* up to here */
	struct loop_watch watch; /* our end of the pipe; -1: none */
	int unread;		 /* the other end, to see what the command left; -1: none */
};

static void close_inlet(struct inlet *i)
{
	if (i->run)
		loop_unwatch(run_loop(i->run), &i->watch);
	fd_close(&i->watch.fd);
}

static void fail(struct inlet *i, int errnum)
{
	struct cordon_error why;

	err_set(&why, CORDON_E_IO, errnum, stage, "cannot carry standard input");
	run_break(i->run, &why);
	close_inlet(i);
}

/* As much as the pipe takes now; what it does not take is read again later. */
static void ready(void *data, uint32_t events)
{
	struct inlet *i = data;
	char chunk[CHUNK];
	ssize_t n = pread(STDIN_FILENO, chunk, sizeof(chunk), i->carried), done;

	(void)events;
	if (n < 0 && errno != EINTR)
		fail(i, errno);
	if (n == 0)
		close_inlet(i);
	if (n <= 0)
		return;
	done = write(i->watch.fd, chunk, (size_t)n);
	if (done > 0)
		i->carried += done;
	else if (done < 0 && errno != EAGAIN && errno != EINTR)
		fail(i, errno);
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct inlet *i = part->data;

	i->run = run;
	return loop_watch(run_loop(run), &i->watch, POLLOUT, err);
}

static void end(struct run_part *part, struct run_result *result)
{
	struct inlet *i = part->data;
	int left = 0;

	(void)result;
	close_inlet(i);
	/* The command may have put something into the pipe itself. */
	if (i->unread >= 0 && ioctl(i->unread, FIONREAD, &left) == 0 &&
	    left <= i->carried - i->begun)
		lseek(STDIN_FILENO, i->carried - left, SEEK_SET);
	fd_close(&i->unread);
}

static int open_pipe(struct inlet *i, struct launch *launch, struct cordon_error *err)
{
	int theirs, failed = fd_pipe(&i->unread, &i->watch.fd);

	if (failed)
		return err_set(err, CORDON_E_SYSTEM, -failed, stage, "cannot make a pipe");
	if (launch->n_fds == LAUNCH_FDS_MAX)
		return err_set(err, CORDON_E_LIMIT, 0, stage, "too many descriptors to hand over");
	theirs = fcntl(i->unread, F_DUPFD_CLOEXEC, 3);
	if (theirs < 0 || fcntl(i->watch.fd, F_SETFL, O_NONBLOCK) < 0) {
		err_set(err, CORDON_E_SYSTEM, errno, stage, "cannot prepare a pipe");
		fd_close(&theirs);
		return -err->code;
	}
	launch->fds[launch->n_fds++] = (struct spawn_fd){ .from = theirs, .to = STDIN_FILENO };
	return 0;
}

/* To be read, and exposed: a file with a name. */
static bool is_carried(const struct launch *launch, const struct execute_options *options)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL);
	struct stat st;

	return launch->carries_input && !options->stdin_null && flags >= 0 &&
	       fd_mode_reads(flags) && fstat(STDIN_FILENO, &st) == 0 &&
	       S_ISREG(st.st_mode) && fd_is_exposed(STDIN_FILENO);
}

int inlet_check(const struct plan *plan, const struct launch *launch,
		const struct execute_options *options, struct cordon_error *err)
{
	if (!launch->bare_streams || !execute_confines(plan))
		return 0;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (execute_replaces(fd, options) || !fd_is_exposed(fd) ||
		    (fd == STDIN_FILENO && is_carried(launch, options)))
			continue;
		err_set(err, CORDON_E_BLOCKED, 0, stage,
			"standard stream %d is a file or device that the command could change, "
			"whatever it is open for", fd);
		return err_hint(err, "pipe it through cat, or use another --backend");
	}
	return 0;
}

int inlet_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err)
{
	struct run_part *part;
	struct inlet *i;
	int r;

	if (!execute_confines(in->plan) || !is_carried(in->launch, in->options))
		return 0;
	part = arena_new(a, struct run_part);
	i = part ? arena_new(a, struct inlet) : NULL;
	if (!i)
		return err_nomem(err, stage);
	i->begun = i->carried = lseek(STDIN_FILENO, 0, SEEK_CUR);
	i->watch = (struct loop_watch){ .fd = -1, .ready = ready, .data = i };
	i->unread = -1;
	*part = (struct run_part){ .name = stage, .begin = begin, .end = end, .data = i };
	r = i->begun < 0 ? err_set(err, CORDON_E_IO, errno, stage, "cannot read standard input")
			 : open_pipe(i, in->launch, err);
	if (r < 0)
		end(part, NULL);
	else
		*ret = part;
	return r;
}
