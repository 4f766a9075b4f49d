/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: a call that may block is carried out by a process of its own, so that nobody else
 * waits for it. The job hands what it has got to the broker, which answers; so a job can
 * be ended at any time.
 *
 * A caller that waits in the kernel for the broker is not woken by a signal. So the broker
 * looks for pending ones and lets such a call be started again, after the signal.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/spawn.h"

/* The kernel's own: restart the call, or say EINTR, as the handler was installed. */
#define RESTART 512

enum { JOB_FD_WORK = BROKER_FD_PROC + 1, JOB_FD_ANSWER, JOB_FD_TO };

struct broker_job {
	struct broker_waiting caller;
	bool cloexec;
	int answer;
	int on; /* what it is done with: who connects has a socket */
	bool connected; /* before it began */
	struct spawned child;
};

union control {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int job_child(void *data, int error_fd)
{
	struct broker_work work = *(const struct broker_work *)data;
	int64_t value;
	int fd = -1;

	close(error_fd);
	work.fd = JOB_FD_WORK;
	work.to = work.to < 0 ? -1 : JOB_FD_TO;
	value = work.work(&work, &fd);
	fd_send(JOB_FD_ANSWER, &value, sizeof(value), fd);
	_exit(0);
}

static int start(const struct broker_work *work, int answer, struct spawned *ret)
{
	struct spawn_fd fds[] = {
		{ BROKER_FD_PROC, BROKER_FD_PROC },
		{ work->fd, JOB_FD_WORK },
		{ answer, JOB_FD_ANSWER },
		{ work->to, JOB_FD_TO },
	};
	struct broker_work copy = *work;
	struct spawn_request request = {
		.program = "a job of the broker",
		.child = job_child,
		.child_data = &copy,
		.die_with_parent = true,
		.fds = fds,
		.n_fds = sizeof(fds) / sizeof(fds[0]) - (work->to < 0),
	};
	struct cordon_error ignored;

	return spawn_start(&request, ret, &ignored) < 0 ? -EAGAIN : 0;
}

static bool is_connected(int fd)
{
	struct sockaddr_storage peer;
	socklen_t n = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &n) == 0;
}

int64_t broker_begin_job(struct call *c, const struct broker_work *work)
{
	struct broker *b = c->broker;
	autoclose int held = work->fd;
	autoclose int to __attribute__((unused)) = work->to;
	autoclose int theirs = -1;
	struct broker_job *job;
	int ends[2], r;

	if (b->n_jobs == BROKER_JOBS_MAX)
		return -ENFILE;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		free(job);
		return -ENFILE;
	}
	theirs = ends[1];
	*job = (struct broker_job){ .caller = { c->notif->id, c->target.tid },
				    .cloexec = c->given.cloexec,
				    .answer = ends[0],
				    .connected = is_connected(held) };
	/* It would inherit where we are kept. */
	broker_roam(b);
	r = start(work, theirs, &job->child);
	if (r < 0) {
		fd_close(&job->answer);
		free(job);
		return r;
	}
	job->on = steal_fd(&held);
	b->jobs[b->n_jobs++] = job;
	return BROKER_LATER;
}

int broker_job_fd(const struct broker_job *job)
{
	return job->answer;
}

static void end_job(struct broker *b, size_t i)
{
	struct broker_job *job = b->jobs[i];

	spawn_discard(&job->child);
	fd_close(&job->answer);
	fd_close(&job->on);
	free(job);
	b->jobs[i] = b->jobs[--b->n_jobs];
}

static int fd_in(struct msghdr *m)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* Its word, or that it has not said one; 0: it ended without. */
static ssize_t take_word(const struct broker_job *job, int64_t *ret, int *ret_fd)
{
	union control control;
	struct iovec bytes = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr m = { .msg_iov = &bytes,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.space) };
	ssize_t got = recvmsg(job->answer, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*ret_fd = got > 0 ? fd_in(&m) : -1;
	return got;
}

/* What may block is nothing that could be emptied. */
static struct broker_given given_by(const struct broker_job *job, int fd)
{
	return (struct broker_given){ .fd = fd, .emptied = -1, .cloexec = job->cloexec };
}

void broker_finish_job(struct broker *b, size_t i)
{
	const struct broker_job *job = b->jobs[i];
	int64_t value;
	int fd;
	ssize_t got = take_word(job, &value, &fd);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* A job that ended without a word has not done it. */
	if (got == (ssize_t)sizeof(value))
		broker_answer(b, job->caller, value, given_by(job, fd));
	else
		broker_answer(b, job->caller, -EACCES, BROKER_NOTHING);
	end_job(b, i);
}

/* What does not block says its word without delay, and whether it was done could not be seen:
 * who was connected already is so whatever came of it, who does not block is not yet. */
static bool ends_soon(const struct broker_job *job)
{
	int flags = fcntl(job->on, F_GETFL);

	return (flags >= 0 && flags & O_NONBLOCK) || (job->connected && is_connected(job->on));
}

/* What the kernel says to who is interrupted: where there is a limit of time the call is not
 * made again, or it would never be reached. */
static int64_t interrupted(int on)
{
	struct timeval limit;
	socklen_t n = sizeof(limit);

	if (getsockopt(on, SOL_SOCKET, SO_SNDTIMEO, &limit, &n) == 0 &&
	    (limit.tv_sec || limit.tv_usec))
		return -EINTR;
	return -RESTART;
}

/* A signal waits for the caller. What is done is done, also by a job that had no time to say
 * so: connecting once more would fail. Else the caller makes its call again. */
static void interrupt(struct broker *b, size_t i)
{
	struct broker_job *job = b->jobs[i];
	int64_t value;
	int fd = -1;

	if (ends_soon(job))
		return;
	spawn_discard(&job->child);
	if (take_word(job, &value, &fd) != (ssize_t)sizeof(value))
		value = is_connected(job->on) ? 0 : interrupted(job->on);
	broker_answer(b, job->caller, value, given_by(job, fd));
	end_job(b, i);
}

void broker_check_jobs(struct broker *b)
{
	for (size_t i = b->n_jobs; i-- > 0;) {
		size_t before = b->n_jobs;
		const struct broker_job *job = b->jobs[i];
		bool waits = broker_waits(job->caller.id);

		if (waits && !call_has_signal(job->caller.tid))
			continue;
		broker_finish_job(b, i);
		if (b->n_jobs != before)
			continue;
		if (waits)
			interrupt(b, i);
		else
			end_job(b, i);
	}
}
