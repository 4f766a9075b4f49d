/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls: what of it stands in /proc, its descriptors, and what is kept of it from one
 * call to the next.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

static bool read_of(pid_t tid, const char *what, char *text, size_t size)
{
	char path[64];
	autoclose int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%d/%s", (int)tid, what);
	fd = openat(BROKER_FD_PROC, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* The number in a line of /proc/PID/status; 0 when there is no such line. */
static uint64_t field(const char *status, const char *name, int base)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

static int read_umask(pid_t tid)
{
	char text[4096];
	const char *at;

	if (!read_of(tid, "status", text, sizeof(text)))
		return -EACCES;
	at = strstr(text, "\nUmask:");
	return at ? (int)strtoul(at + sizeof("\nUmask:") - 1, NULL, 8) & 0777 : -EACCES;
}

pid_t call_number(struct call *c)
{
	c->sure = false;
	return c->target.tid;
}

const struct target *call_target(struct call *c)
{
	c->sure = false;
	return &c->target;
}

/* --- what is kept of a caller ---------------------------------------------------------- */

static void forget(struct broker_caller *k)
{
	fd_close(&k->proc);
	fd_close(&k->pidfd);
	*k = (struct broker_caller){ .proc = -1, .pidfd = -1, .umask = -1 };
}

static struct broker_caller *caller_of(const struct call *c)
{
	struct broker *b = c->broker;
	struct broker_caller *k = &b->callers[c->target.tid % BROKER_CALLERS];
	char path[16];

	if (k->tid == c->target.tid)
		return k;
	forget(k);
	snprintf(path, sizeof(path), "%d", (int)c->target.tid);
	k->tid = c->target.tid;
	k->proc = openat(BROKER_FD_PROC, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return k;
}

/* It is there, still: but a thread that executes a program takes its number over, and what is
 * kept with it. */
static void found(struct call *c, struct broker_caller *k)
{
	k->seen = c->notif->id;
	c->sure = false;
}

/* What is kept belongs to one process, for good: when that has ended, nothing can be
 * opened there, even if another one has got its number. */
int call_open(struct call *c, const char *what)
{
	struct broker_caller *k = caller_of(c);
	int fd = openat(k->proc, what, O_PATH | O_CLOEXEC);

	if (fd < 0 && (errno == ESRCH || errno == ENOENT || errno == EBADF)) {
		forget(k);
		k = caller_of(c);
		fd = openat(k->proc, what, O_PATH | O_CLOEXEC);
	}
	if (fd >= 0)
		found(c, k);
	return fd;
}

int call_look_at_cwd(struct call *c, struct statx *ret)
{
	struct broker_caller *k = caller_of(c);
	int r = statx(k->proc, "cwd", 0, STATX_INO | STATX_MNT_ID, ret);

	if (r == 0)
		found(c, k);
	return r;
}

static bool is_there(const struct call *c, const struct broker_caller *k)
{
	struct stat st;

	return k->seen == c->notif->id || fstatat(k->proc, "status", &st, 0) == 0;
}

/* Calls of umask that may still be under way, because they were let go on: they have no
 * argument in memory. As long as there is one, umasks are read anew each time. */
static bool is_settled(struct broker *b)
{
	for (size_t i = b->n_changing; i-- > 0;) {
		int now = read_umask(b->changing[i].tid);

		if (now < 0 || now == b->changing[i].umask)
			b->changing[i] = b->changing[--b->n_changing];
	}
	return b->n_changing == 0 && !b->never_settles;
}

void broker_changes_umask(struct broker *b, pid_t tid, int mask)
{
	for (size_t i = 0; i < BROKER_CALLERS; i++)
		b->callers[i].umask = -1;
	if (b->n_changing == BROKER_CALLERS)
		b->never_settles = true;
	else
		b->changing[b->n_changing++] = (struct broker_umask){ tid, mask };
}

int call_take_umask(struct call *c)
{
	struct broker_caller *k = caller_of(c);
	bool settled = is_settled(c->broker);
	bool known = settled && k->umask >= 0 && is_there(c, k);
	int mask = known ? k->umask : read_umask(call_number(c));
	int r = mask < 0 ? mask : call_check(c);

	if (r < 0)
		return r;
	if (settled && k->proc >= 0)
		k->umask = mask;
	if (mask != c->broker->umask)
		umask((mode_t)mask);
	c->broker->umask = mask;
	return 0;
}

bool call_has_signal(pid_t tid)
{
	autobuf struct buf text = buf_make(TARGET_STATUS_MAX);
	uint64_t pending;

	if (!target_status(tid, &text))
		return false;
	pending = field(text.p, "\nSigPnd:", 16) | field(text.p, "\nShdPnd:", 16);
	return pending & ~field(text.p, "\nSigBlk:", 16) & ~field(text.p, "\nSigIgn:", 16);
}

int call_session(struct call *c, int *ret_session, unsigned *ret_tty)
{
	char text[1024], *at;
	int session, tty;

	if (!read_of(call_number(c), "stat", text, sizeof(text)))
		return -EACCES;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %d %d", &session, &tty) != 2)
		return -EACCES;
	*ret_session = session;
	*ret_tty = (unsigned)tty;
	return 0;
}

/* *ret_own: it ends with the thread itself, so that one which still works is still the
 * caller's. */
static int open_pidfd(pid_t tid, bool *ret_own)
{
	char text[4096];
	/* PIDFD_THREAD, 6.9: before it only the first thread of a process has one. */
	int fd = (int)syscall(SYS_pidfd_open, tid, O_EXCL);

	*ret_own = true;
	if (fd >= 0 || errno != EINVAL)
		return fd;
	fd = (int)syscall(SYS_pidfd_open, tid, 0);
	if (fd >= 0 || errno != EINVAL || !read_of(tid, "status", text, sizeof(text)))
		return fd;
	*ret_own = false;
	return (int)syscall(SYS_pidfd_open, (pid_t)field(text, "\nTgid:", 10), 0);
}

static int take_fd(struct broker_caller *k, int fd)
{
	bool own = true;
	int got;

	if (k->pidfd < 0)
		k->pidfd = open_pidfd(k->tid, &own);
	got = k->pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, k->pidfd, fd, 0);
	if (got < 0)
		got = -errno;
	/* The number of a thread can become another process's while its own process lives. */
	if (!own)
		fd_close(&k->pidfd);
	return got;
}

int call_take_fd(struct call *c, int fd)
{
	struct broker_caller *k = caller_of(c);
	int got = take_fd(k, fd);

	/* What is kept was another's, who has ended. */
	if (got == -ESRCH) {
		forget(k);
		k = caller_of(c);
		got = take_fd(k, fd);
	}
	if (got >= 0 && k->pidfd >= 0)
		found(c, k);
	return got < 0 && got != -EBADF ? -EACCES : got;
}
