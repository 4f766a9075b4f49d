/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening on behalf: the file is opened here, judged by where it is, and put into the
 * caller's table. A terminal is never acquired, and what may block is opened by a job.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"

/* glibc says 0, the kernel knows it. */
#define LARGEFILE 0100000
/* What open knows; it drops other bits, where openat2 refuses them. */
#define KNOWN_FLAGS \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | \
	 O_DSYNC | O_ASYNC | O_DIRECT | LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | \
	 O_CLOEXEC | O_PATH | O_TMPFILE)
#define UNNAMED (O_TMPFILE & ~O_DIRECTORY)

#define TTY_MAJOR_ALTERNATE 5
#define PTS_MAJOR_FIRST 136
#define PTS_MAJOR_LAST 143

struct opening {
	const struct broker *broker;
	int flags;
	mode_t mode;
	struct object object;
};

static bool is_tty_alias(const struct object *o)
{
	return S_ISCHR(o->mode) && o->rdev == makedev(TTY_MAJOR_ALTERNATE, 0);
}

static int64_t give(struct call *c, int fd, int flags)
{
	if (fd < 0)
		return -errno;
	c->given.fd = fd;
	c->given.cloexec = flags & O_CLOEXEC;
	return 0;
}

/* --- terminals -------------------------------------------------------------------------- */

/* /dev/tty is whatever terminal its opener has, so it is the caller's that is opened: in
 * the sandbox's devpts, or ours, when the caller has been left in our session. */
static int64_t open_tty(struct call *c, const struct opening *q)
{
	int session, flags = q->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW);
	char path[32];
	struct stat st;
	unsigned tty, first;
	int fd, r = call_session(c, &session, &tty);

	if (r == 0)
		r = call_check(c);
	if (r < 0)
		return r;
	if (!tty)
		return -ENXIO;
	if (session == getsid(0))
		return give(c, open("/dev/tty", flags | O_NOCTTY), flags);
	first = major(tty);
	if (first < PTS_MAJOR_FIRST || first > PTS_MAJOR_LAST)
		return -ENXIO;
	snprintf(path, sizeof(path), "/dev/pts/%u", (first - PTS_MAJOR_FIRST) * 256 + minor(tty));
	fd = open(path, flags | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_rdev != makedev(first, minor(tty)))) {
		fd_close(&fd);
		return -ENXIO;
	}
	return give(c, fd, flags);
}

/* --- what may block --------------------------------------------------------------------- */

static int64_t open_slowly(const struct broker_work *w, int *ret_fd)
{
	char link[32];
	int fd;

	object_link(w->fd, link);
	fd = openat(BROKER_FD_PROC, link, w->flags);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/* A named pipe waits for its other end, a device for whatever it likes. */
static bool may_block(const struct opening *q)
{
	const struct object *o = &q->object;

	if (!o->exists || q->flags & O_NONBLOCK)
		return false;
	if (S_ISFIFO(o->mode))
		return (q->flags & O_ACCMODE) != O_RDWR;
	if (!S_ISCHR(o->mode) && !S_ISBLK(o->mode))
		return false;
	/* Memory, the terminals of a devpts and their makers do not. */
	return major(o->rdev) != 1 && major(o->rdev) != TTY_MAJOR_ALTERNATE &&
	       (major(o->rdev) < PTS_MAJOR_FIRST || major(o->rdev) > PTS_MAJOR_LAST);
}

static int64_t begin_slowly(struct call *c, const struct opening *q)
{
	struct broker_work work = {
		.work = open_slowly,
		.to = -1,
		.flags = (q->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_NOCTTY,
	};

	if ((q->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	work.fd = object_hold(&q->object);
	if (work.fd < 0)
		return work.fd;
	c->given.cloexec = q->flags & O_CLOEXEC;
	return broker_begin_job(c, &work);
}

/* --- opening ----------------------------------------------------------------------------- */

static int open_named(const struct opening *q)
{
	struct open_how how = {
		.flags = (uint64_t)(q->flags | O_NOCTTY),
		.mode = q->flags & (O_CREAT | UNNAMED) ? q->mode : 0,
		/* Whatever was a link has been followed. */
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, q->object.place.dir, q->object.name, &how, sizeof(how));
}

/* The object itself, which a link of /proc has led to, or which has no name of its own. */
static int open_itself(const struct opening *q)
{
	char link[32];

	if ((q->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
		errno = EEXIST;
		return -1;
	}
	if (q->flags & O_CREAT && S_ISDIR(q->object.mode)) {
		errno = EISDIR;
		return -1;
	}
	/* Then it is no link of /proc that leads here, and the flag shows. */
	if (q->flags & O_NOFOLLOW && S_ISDIR(q->object.mode)) {
		int fd = openat(q->object.place.dir, ".", q->flags & ~O_CREAT, q->mode);

		if (fd >= 0 || errno != EACCES)
			return fd;
	}
	object_link(q->object.place.dir, link);
	return openat(BROKER_FD_PROC, link, (q->flags & ~(O_CREAT | O_NOFOLLOW)) | O_NOCTTY,
		      q->mode);
}

/* Below /proc, being allowed to look at every process is more than the caller may. */
static int open_as_caller(const struct opening *q)
{
	bool process = path_below(q->object.path, STR("/proc"));
	int fd;

	if (process && broker_look(q->broker, false) < 0)
		return -1;
	fd = *q->object.place.name ? open_named(q) : open_itself(q);
	if (process && broker_look(q->broker, true) < 0)
		_exit(1);
	return fd;
}

/* Is there something that would be lost if there were no room for a descriptor? Not in what the
 * kernel keeps below /proc, and a file in memory may be sealed, which is seen by trying. */
static bool holds_something(const struct object *o)
{
	return o->exists && S_ISREG(o->mode) && o->path.n && !path_below(o->path, STR("/proc"));
}

/* By what an open file may be emptied: the kernel says no to one that may not be written, that is
 * executed, or that may only be appended to. */
static int open_to_empty(int fd, int flags)
{
	int access = flags & O_ACCMODE;
	char link[32];

	if ((access == O_WRONLY || access == O_RDWR) && !(flags & O_APPEND))
		return fd;
	object_link(fd, link);
	return openat(BROKER_FD_PROC, link, O_WRONLY | O_CLOEXEC);
}

/* It is emptied last, where that fails no more: who has no room for its descriptor keeps it. */
static int64_t open_and_empty(struct call *c, struct opening *q)
{
	int64_t r;

	q->flags &= ~O_TRUNC;
	r = give(c, open_as_caller(q), q->flags);
	if (r < 0)
		return r;
	c->given.emptied = open_to_empty(c->given.fd, q->flags);
	return c->given.emptied < 0 ? -errno : 0;
}

/* Mounts and Landlock have rules for reading; only patterns are not known to them. */
static bool is_kernels(const struct call *c, int flags)
{
	return !c->broker->in->hides && !(flags & (O_ACCMODE | O_CREAT | O_TRUNC));
}

static enum policy_op needs(const struct opening *q)
{
	if (!q->object.exists)
		return POLICY_CREATE;
	if ((q->flags & O_ACCMODE) != O_RDONLY || q->flags & O_TRUNC)
		return POLICY_WRITE;
	return POLICY_READ;
}

static bool makes_anew(const struct opening *q)
{
	return (q->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) && !(q->flags & UNNAMED);
}

/* A file that must not be there is made by the kernel, or it says that there is one: it is
 * looked for only where it must not be made. */
static int find(struct call *c, bool follow, struct opening *q)
{
	int r;

	if (!makes_anew(q))
		return object_find(c, call_dirfd(c), c->path, follow, &q->object);
	r = object_find_name(c, call_dirfd(c), c->path, &q->object);
	if (r == 0 && !object_may(c, &q->object, POLICY_CREATE))
		r = object_look(&q->object);
	return r;
}

static int judge(struct call *c, const struct opening *q)
{
	const struct object *o = &q->object;

	if (o->place.slash && q->flags & O_CREAT)
		return -EISDIR;
	if (!o->exists && (!(q->flags & O_CREAT) || q->flags & UNNAMED))
		return -ENOENT;
	if (o->exists && makes_anew(q))
		return -EEXIST;
	if (o->exists && q->flags & O_DIRECTORY && !S_ISDIR(o->mode))
		return -ENOTDIR;
	/* The kernel says that it is one, or that it was not to be followed. */
	if (o->exists && S_ISLNK(o->mode))
		return -ELOOP;
	/* Only a file can be written. */
	if (o->exists && S_ISDIR(o->mode) && !(q->flags & UNNAMED) && needs(q) == POLICY_WRITE)
		return -EISDIR;
	return c->allowed ? 0 : object_allow(c, o, needs(q));
}

static int64_t act(struct call *c, struct opening *q)
{
	int r = q->flags & (O_CREAT | UNNAMED) ? call_take_umask(c) : call_check(c);

	if (r < 0)
		return r;
	if (is_tty_alias(&q->object))
		return open_tty(c, q);
	if (may_block(q))
		return begin_slowly(c, q);
	if (q->flags & O_TRUNC && holds_something(&q->object))
		return open_and_empty(c, q);
	return give(c, open_as_caller(q), q->flags);
}

/* Flags that do not go together are refused before anything is looked at; which ones, the kernels
 * do not agree on. */
static bool are_refused(int flags)
{
	return (flags & UNNAMED || (flags & O_CREAT && flags & O_DIRECTORY)) &&
	       openat(BROKER_FD_PROC, "", flags & ~O_PATH, 0) < 0 && errno == EINVAL;
}

static int64_t open_for(struct call *c, int flags, mode_t mode)
{
	struct opening q = { .broker = c->broker,
			     .flags = flags & KNOWN_FLAGS,
			     .mode = mode & 07777 };
	bool follow = !(flags & O_NOFOLLOW);
	size_t n;
	int64_t r;

	c->does = makes_anew(&q) ? OBSERVED_OPEN_NEW : OBSERVED_OPEN;
	q.object.place.dir = -1;
	if (is_kernels(c, flags))
		return BROKER_GO_ON;
	if (are_refused(flags))
		return -EINVAL;
	r = call_read_path(c);
	if (r < 0)
		return r;
	/* Such a descriptor cannot be put into place, and the filter lets it pass. */
	if (flags & O_PATH)
		return -EACCES;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		follow = false;
	n = strlen(c->path);
	if (!(flags & O_CREAT) && n && c->path[n - 1] == '/')
		follow = true;
	r = find(c, follow, &q);
	if (r == 0)
		r = judge(c, &q);
	if (r == 0)
		r = act(c, &q);
	object_close(&q.object);
	return r;
}

/* x: flags, y: mode. */
int64_t broker_open(struct call *c)
{
	return open_for(c, (int)call_argument(c, c->row->x), (mode_t)call_argument(c, c->row->y));
}

/* y: mode. */
int64_t broker_creat(struct call *c)
{
	return open_for(c, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)call_argument(c, c->row->y));
}
