/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's process: how it becomes what it is, and its loop.
 *
 * Order that matters: it enters the user namespace first, which gives the right to enter
 * the other; it gives capabilities up before it looks at anything; entering and giving up
 * both undo the tie to the supervisor's life, so that is made after; the filter comes last,
 * and none of the command's calls is looked at before.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/seccomp.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/linux_compat.h"
#include "base/num.h"
#include "base/spawn.h"
#include "run/notify.h"

#define STAGE "broker"
#define NONE (-1)
#define LOOK ((uint64_t)1 << CAP_SYS_PTRACE)
#define MOUNTS_BYTES_MAX ((size_t)16 << 20)
/* How often waiting jobs are looked after. */
#define JOBS_CHECK_MS 20

static const struct broker_row rows[] = {
#define BROKERED_CALL(name, how, ...) { __NR_##name, broker_##how, __VA_ARGS__ },
#include "run/broker_calls.def"
#undef BROKERED_CALL
};

/* --- answering ------------------------------------------------------------------------- */

bool broker_waits(uint64_t id)
{
	return notify_is_waiting(BROKER_FD_LISTENER, id);
}

int call_check(struct call *c)
{
	c->sure = c->sure || broker_waits(c->notif->id);
	return c->sure ? 0 : -ENOENT;
}

static void drop(struct broker_given *g)
{
	if (g->emptied != g->fd)
		fd_close(&g->emptied);
	fd_close(&g->fd);
}

static int64_t put_in_place(struct broker *b, struct broker_waiting to,
			    const struct broker_given *g)
{
	struct seccomp_notif_addfd add = {
		.id = to.id,
		.srcfd = (uint32_t)g->fd,
		.newfd_flags = g->cloexec ? O_CLOEXEC : 0,
	};
	struct broker_near near;
	int64_t r;
	int got;

	broker_draw_near(b, to.tid, &near);
	got = ioctl(BROKER_FD_LISTENER, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	r = got < 0 ? -errno : got;
	broker_let_go(b, &near);
	return r;
}

/* Our own copy is closed before the caller goes on: it would be one that is open for
 * writing when the caller executes the file. */
static int64_t inject(struct broker *b, struct broker_waiting to, struct broker_given *g)
{
	int64_t r = put_in_place(b, to, g);

	if (r >= 0 && g->emptied >= 0 && ftruncate(g->emptied, 0) < 0)
		r = -errno;
	drop(g);
	return r;
}

/* Who would wait for an answer in vain gets it from the kernel, when the listener is closed. */
static void send_answer(const union notify_answer *out)
{
	if (notify_send(BROKER_FD_LISTENER, out) < 0)
		_exit(1);
}

static void let_go_on(uint64_t id)
{
	union notify_answer out;

	memset(&out, 0, sizeof(out));
	out.answer.id = id;
	out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	send_answer(&out);
}

void broker_answer(struct broker *b, struct broker_waiting to, int64_t value,
		   struct broker_given given)
{
	union notify_answer out;

	if (given.fd >= 0 && value >= 0)
		value = inject(b, to, &given);
	else
		drop(&given);
	memset(&out, 0, sizeof(out));
	out.answer.id = to.id;
	if (value < 0)
		out.answer.error = (int32_t)value;
	else
		out.answer.val = value;
	send_answer(&out);
}

static const struct broker_row *row_of(int nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

/* Its path is written before it is read: there is no need to clear a page for each call. */
static void call_init(struct call *c, struct broker *b, const struct seccomp_notif *notif)
{
	c->broker = b;
	c->notif = notif;
	c->row = row_of(notif->data.nr);
	c->target = (struct target){ .view = &b->view, .tid = (pid_t)notif->pid };
	c->path[0] = '\0';
	c->cwd = -1;
	c->given = BROKER_NOTHING;
	c->does = OBSERVED_CHANGE;
	c->sure = c->told = c->allowed = false;
}

static void serve(struct broker *b, const struct seccomp_notif *notif)
{
	struct call c;
	int64_t value = -ENOSYS;

	call_init(&c, b, notif);
	place_begin(&c);
	/* Without a number it is in no pid namespace of ours. */
	if (c.target.tid > 0)
		value = c.row ? c.row->how(&c) : broker_refused(&c);
	call_observe(&c, value);
	fd_close(&c.cwd);
	if (value == BROKER_GO_ON)
		let_go_on(notif->id);
	else if (value != BROKER_LATER)
		broker_answer(b, (struct broker_waiting){ notif->id, c.target.tid }, value,
			      c.given);
}

/* --- the loop -------------------------------------------------------------------------- */

static void end(bool done)
{
	struct broker_message m = { .word = BROKER_DONE };

	if (done)
		send(BROKER_FD_CONTROL, &m, offsetof(struct broker_message, object), MSG_NOSIGNAL);
	_exit(done ? 0 : 1);
}

static bool is_over(void)
{
	struct pollfd listener = { .fd = BROKER_FD_LISTENER, .events = POLLIN };

	return poll(&listener, 1, 0) > 0 && !(listener.revents & POLLIN);
}

/* Waits for a call. False when nothing more can come. */
static bool receive(struct broker *b)
{
	union notify_call in;

	if (notify_receive(BROKER_FD_LISTENER, &in) == 0) {
		notify_came(&b->pace, BROKER_FD_LISTENER, &in.call);
		if (!b->pace.hurries)
			broker_roam(b);
		serve(b, &in.call);
		notify_went(&b->pace, BROKER_FD_LISTENER);
		return true;
	}
	/* The process was killed before we looked; or it was the last one. */
	if (errno == ENOENT && is_over())
		end(true);
	return errno == ENOENT || errno == EINTR;
}

/* While jobs are under way; otherwise waiting for a call is all there is to do: the
 * supervisor's end is ours by a signal. */
static void run(struct broker *b)
{
	struct pollfd fds[2 + BROKER_JOBS_MAX];

	for (;;) {
		size_t jobs = b->n_jobs;

		if (!jobs) {
			if (!receive(b))
				end(false);
			continue;
		}
		fds[0] = (struct pollfd){ .fd = BROKER_FD_LISTENER, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = BROKER_FD_CONTROL };
		for (size_t i = 0; i < jobs; i++)
			fds[2 + i] = (struct pollfd){ .fd = broker_job_fd(b->jobs[i]),
						      .events = POLLIN };
		if (poll(fds, 2 + jobs, JOBS_CHECK_MS) < 0 && errno != EINTR)
			end(false);
		/* From the last, because finishing one moves the last into its place. */
		for (size_t i = jobs; i-- > 0;)
			if (fds[2 + i].revents)
				broker_finish_job(b, i);
		if (b->n_jobs)
			broker_check_jobs(b);
		if (fds[1].revents || (fds[0].revents & POLLIN && !receive(b)))
			end(false);
		if (fds[0].revents && !(fds[0].revents & POLLIN))
			end(true);
	}
}

/* --- becoming it ----------------------------------------------------------------------- */

int broker_fail(int error_fd, const char *what)
{
	return spawn_child_fail(error_fd, CORDON_E_INIT, errno, STAGE, what, NULL, NULL);
}

/* Beside a process and below none, not everywhere may one look at another. */
static int try_to_look(const struct broker *b, int error_fd)
{
	pid_t command = b->in->command, seen;

	/* Its memory is as ours was when we began. */
	if (target_read(command, (uint64_t)(uintptr_t)&b->in->command, &seen, sizeof(seen)) == 0)
		return 0;
	errno = EPERM;
	return broker_fail(error_fd, "cannot look at the command");
}

static int enter(const struct broker *b, int error_fd)
{
	if (b->in->unmounted)
		return try_to_look(b, error_fd);
	if (setns(BROKER_FD_USER_NS, CLONE_NEWUSER) < 0)
		return broker_fail(error_fd, "cannot enter the sandbox's user namespace");
	if (setns(BROKER_FD_MOUNT_NS, CLONE_NEWNS) < 0)
		return broker_fail(error_fd, "cannot enter the sandbox's mount namespace");
	close(BROKER_FD_USER_NS);
	close(BROKER_FD_MOUNT_NS);
	return 0;
}

static int set_caps(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)effective, (uint32_t)permitted, 0 },
		{ (uint32_t)(effective >> 32), (uint32_t)(permitted >> 32), 0 },
	};

	return (int)syscall(SYS_capset, &header, data);
}

int broker_look(const struct broker *b, bool may)
{
	uint64_t files = b->in->file_caps, all = files | LOOK;

	if (b->in->unmounted)
		return 0;
	return set_caps(all, may ? all : files);
}

/* For links below /proc, which lead wherever another process is. */
static void look(const void *whose, bool may)
{
	if (broker_look(whose, may) < 0)
		_exit(1);
}

static int lock_down(const struct broker *b, int error_fd)
{
	struct pollfd control = { .fd = BROKER_FD_CONTROL };

	if (broker_look(b, true) < 0)
		return broker_fail(error_fd, "cannot give capabilities up");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return broker_fail(error_fd, "cannot protect itself");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return broker_fail(error_fd, "cannot be tied to the supervisor's life");
	/* It may have died before. */
	if (poll(&control, 1, 0) != 0)
		_exit(1);
	return 0;
}

/* The first number of each line. */
static bool parse_mounts(struct broker *b, struct str text)
{
	struct str line, number, rest = text;
	size_t lines = 0;

	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	b->mounts = calloc(lines + 1, sizeof(*b->mounts));
	if (!b->mounts)
		return false;
	while (rest.n) {
		str_cut(rest, '\n', &line, &rest);
		str_cut(line, ' ', &number, &line);
		if (!num_parse_u64(number, UINT64_MAX, &b->mounts[b->n_mounts]))
			return false;
		b->n_mounts++;
	}
	return b->n_mounts;
}

static int compare_ids(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static int read_mounts(struct broker *b, int error_fd)
{
	autoclose int fd = openat(BROKER_FD_PROC, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	autobuf struct buf text = buf_make(MOUNTS_BYTES_MAX);

	if (fd < 0)
		return broker_fail(error_fd, "cannot read the sandbox's mounts");
	while (buf_read(&text, fd, 16384) > 0)
		;
	if (text.failed || !parse_mounts(b, buf_str(&text)))
		return broker_fail(error_fd, "cannot understand the sandbox's mounts");
	qsort(b->mounts, b->n_mounts, sizeof(*b->mounts), compare_ids);
	return 0;
}

static int become(struct broker *b, int error_fd)
{
	int r = notify_fits() ? 0 : broker_fail(error_fd, "cannot take this kernel's records");

	if (r == 0)
		r = enter(b, error_fd);
	if (r == 0)
		r = lock_down(b, error_fd);
	if (r < 0)
		return r;
	if (!target_use_proc(BROKER_FD_PROC))
		return broker_fail(error_fd, "cannot look at its own descriptors");
	/* Links below /proc are named from here. */
	b->view.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->view.root < 0 || fchdir(BROKER_FD_PROC) < 0)
		return broker_fail(error_fd, "cannot open the sandbox's root");
	r = read_mounts(b, error_fd);
	if (r < 0)
		return r;
	errno = -seccomp_install(seccomp_program(b->in->connects ? SECCOMP_FILTER_broker_connects
								 : SECCOMP_FILTER_broker,
						 SECCOMP_ARCH_NATIVE),
				 0);
	return errno ? broker_fail(error_fd, "cannot confine itself") : 0;
}

int broker_child(void *data, int error_fd)
{
	struct broker b = { .in = data, .view = { .root = -1, .look = look }, .umask = -1,
			    .place = { .dir = -1, .base = -1 } };
	int r;

	b.view.whose = &b;
	r = become(&b, error_fd);

	for (size_t i = 0; i < BROKER_CALLERS; i++)
		b.callers[i].proc = b.callers[i].pidfd = -1;
	if (r < 0)
		return r;
	b.in->observer->inside = true;
	broker_near_init(&b);
	close(error_fd);
	run(&b);
	return 0;
}
