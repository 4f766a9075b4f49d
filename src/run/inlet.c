/* SPDX-License-Identifier: Apache-2.0 */
/* From the caller's file to a pipe; see inlet.h for when. */
#include "run/inlet.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
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

	err_set(&why, CORDON_E_IO, errnum, stage, "cannot read standard input");
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
		close_inlet(i); /* nobody reads any more */
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct inlet *i = part->data;

	i->run = run;
	return loop_watch(run_loop(run), &i->watch, EPOLLOUT, err);
}

static void end(struct run_part *part, struct run_result *result)
{
	struct inlet *i = part->data;
	int left = 0;

	(void)result;
	close_inlet(i);
	if (i->unread >= 0 && ioctl(i->unread, FIONREAD, &left) == 0 && i->carried > i->begun)
		lseek(STDIN_FILENO, i->carried - left, SEEK_SET);
	fd_close(&i->unread);
}

static int open_pipe(struct inlet *i, struct launch *launch, struct cordon_error *err)
{
	int failed = fd_pipe(&i->unread, &i->watch.fd);
	int theirs = failed ? -1 : fcntl(i->unread, F_DUPFD_CLOEXEC, 3);

	if (theirs < 0 || fcntl(i->watch.fd, F_SETFL, O_NONBLOCK) < 0 ||
	    launch->n_fds == LAUNCH_FDS_MAX) {
		fd_close(&theirs);
		return err_set(err, CORDON_E_SYSTEM, failed ? -failed : errno, stage,
			       "cannot make a pipe for standard input");
	}
	launch->fds[launch->n_fds++] = (struct spawn_fd){ .from = theirs, .to = STDIN_FILENO };
	return 0;
}

/* A file without a name is found by nobody, whatever its mode is. */
static bool is_carried(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink;
}

static int refuse_device(int fd, struct cordon_error *err)
{
	err_set(err, CORDON_E_BLOCKED, 0, stage,
		"standard stream %d is a device of yours, whose mode the command could change", fd);
	return err_hint(err, "pipe it through cat, or use another --backend than this one");
}

static int check_devices(struct cordon_error *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat st;

		if (fstat(fd, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) &&
		    !isatty(fd) && st.st_uid == geteuid() && geteuid() != 0)
			return refuse_device(fd, err);
	}
	return 0;
}

int inlet_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err)
{
	int r, flags = fcntl(STDIN_FILENO, F_GETFL);
	struct run_part *part;
	struct inlet *i;
	struct stat st;

	if (!in->launch->bare_streams || !execute_confines(in->plan))
		return 0;
	r = check_devices(err);
	if (r < 0 || in->options->stdin_null || flags < 0 || flags & O_PATH ||
	    (flags & O_ACCMODE) != O_RDONLY || fstat(STDIN_FILENO, &st) < 0 || !is_carried(&st))
		return r;
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
