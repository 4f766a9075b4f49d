/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that change what is known about a file: length, mode, owner, times, attributes;
 * by path, and by a descriptor, which need not have been opened for writing.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_compat.h"

static int64_t result(int r)
{
	return r < 0 ? -errno : r;
}

/* --- the object --------------------------------------------------------------------------- */

/* What is to be changed: a descriptor of the caller's itself, or an O_PATH one. */
struct subject {
	struct object object;
	int fd; /* with by_fd, the object's */
	bool by_fd;
	char link[32]; /* leads to it, below /proc */
};

static void subject_close(struct subject *s)
{
	object_close(&s->object);
	if (!s->by_fd)
		fd_close(&s->fd);
}
#define autosubject \
	__attribute__((cleanup(subject_close))) struct subject s = { .object.place.dir = -1, \
								     .fd = -1 }

static int judge(struct call *c, struct subject *s)
{
	int r = object_is_hosts(c, &s->object)
			? object_refuse(c, &s->object, s->object.path, VIOLATION_write)
			: object_allow(c, &s->object, POLICY_WRITE);

	object_link(s->fd, s->link);
	return r < 0 ? r : call_check(c);
}

static int take_subject(struct call *c, int fd, struct subject *s)
{
	int r;

	s->by_fd = true;
	s->fd = call_take_fd(c, fd);
	if (s->fd < 0)
		return s->fd;
	if (object_is_open_for_writing(c, s->fd)) {
		s->object.place.dir = s->fd;
		return call_check(c);
	}
	/* It may be a directory, and somebody's way. */
	place_drop(c->broker);
	/* Not before judge is it known to be the caller's: nothing is changed until then. */
	r = object_of_fd(c, s->fd, &s->object);
	return r < 0 ? r : judge(c, s);
}

/* By the row's path. flags: AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH, others are refused. */
static int find_subject(struct call *c, uint32_t flags, struct subject *s)
{
	int r = flags & ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -EINVAL
									 : call_read_path(c);

	if (r < 0)
		return r;
	if (!*c->path && flags & AT_EMPTY_PATH) {
		/* "." has no descriptor of its own. */
		if (call_dirfd(c) != AT_FDCWD)
			return take_subject(c, call_dirfd(c), s);
		memcpy(c->path, ".", 2);
	}
	r = object_find_existing(c, !(flags & AT_SYMLINK_NOFOLLOW), &s->object);
	if (r == 0)
		r = s->fd = object_hold(&s->object);
	return r < 0 ? r : judge(c, s);
}

/* --- length --------------------------------------------------------------------------------- */

/* The limit on what grows is the caller's, and so is the signal. */
static int check_length(struct call *c, int fd, uint64_t length)
{
	struct rlimit limit;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || length <= (uint64_t)st.st_size)
		return 0;
	if (prlimit(call_number(c), RLIMIT_FSIZE, NULL, &limit) < 0)
		return -EACCES;
	if (limit.rlim_cur == RLIM_INFINITY || length <= limit.rlim_cur)
		return call_check(c);
	if (call_check(c) == 0)
		kill(c->target.tid, SIGXFSZ);
	return -EFBIG;
}

/* x: length. */
int64_t broker_truncate(struct call *c)
{
	int64_t length = (int64_t)call_argument(c, c->row->x);
	autosubject;
	int r;

	if (length < 0)
		return -EINVAL;
	r = find_subject(c, 0, &s);
	if (r == 0)
		r = check_length(c, s.fd, (uint64_t)length);
	return r < 0 ? r : result(truncate(s.link, length));
}

/* --- mode and owner ----------------------------------------------------------------------- */

/* x: flags, y: mode. */
int64_t broker_chmod(struct call *c)
{
	mode_t mode = (mode_t)call_argument(c, c->row->y) & 07777;
	autosubject;
	int r = find_subject(c, (uint32_t)call_argument(c, c->row->x), &s);

	if (r < 0)
		return r;
	if (S_ISLNK(s.object.mode))
		return -EOPNOTSUPP;
	return result(*s.link ? chmod(s.link, mode) : fchmod(s.fd, mode));
}

/* y: mode. */
int64_t broker_fchmod(struct call *c)
{
	autosubject;
	int r = take_subject(c, call_dirfd(c), &s);

	return r < 0 ? r : result(fchmod(s.fd, (mode_t)call_argument(c, c->row->y) & 07777));
}

static int64_t change_owner(struct call *c, uint32_t flags)
{
	uid_t uid = (uid_t)call_argument(c, c->row->y);
	gid_t gid = (gid_t)call_argument(c, c->row->z);
	autosubject;
	int r = find_subject(c, flags, &s);

	return r < 0 ? r : result(fchownat(s.fd, "", uid, gid, AT_EMPTY_PATH));
}

/* x: flags, y: user, z: group. */
int64_t broker_chown(struct call *c)
{
	return change_owner(c, (uint32_t)call_argument(c, c->row->x));
}

int64_t broker_lchown(struct call *c)
{
	return change_owner(c, AT_SYMLINK_NOFOLLOW);
}

int64_t broker_fchown(struct call *c)
{
	autosubject;
	int r = take_subject(c, call_dirfd(c), &s);

	if (r < 0)
		return r;
	return result(fchown(s.fd, (uid_t)call_argument(c, c->row->y),
			     (gid_t)call_argument(c, c->row->z)));
}

/* x: mode bits. Nobody else can set it. */
int64_t broker_umask(struct call *c)
{
	broker_changes_umask(c->broker, c->target.tid,
			     (int)call_argument(c, c->row->x) & 0777);
	return BROKER_GO_ON;
}

/* --- times ---------------------------------------------------------------------------------- */

/* times NULL: now. */
static int64_t set_times(struct call *c, uint32_t flags, const struct timespec *times)
{
	autosubject;
	int r;

	/* Without a path the descriptor itself is meant. */
	if (c->row->dirfd >= 0 && call_argument(c, c->row->path) == 0) {
		if (call_dirfd(c) == AT_FDCWD)
			return -EFAULT;
		if (flags)
			return -EINVAL;
		r = take_subject(c, call_dirfd(c), &s);
		return r < 0 ? r : result(futimens(s.fd, times));
	}
	r = find_subject(c, flags, &s);
	if (r < 0)
		return r;
	return result((int)syscall(SYS_utimensat, s.fd, "", times, AT_EMPTY_PATH));
}

/* x: flags, y: two struct timespec. */
int64_t broker_utimensat(struct call *c)
{
	uint64_t at = call_argument(c, c->row->y);
	struct timespec times[2];
	int r = at ? target_read(call_number(c), at, times, sizeof(times)) : 0;

	if (r < 0)
		return r;
	/* Nothing is to change, and nothing is looked at. */
	if (at && times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
		return 0;
	return set_times(c, (uint32_t)call_argument(c, c->row->x), at ? times : NULL);
}

/* y: two struct timeval. */
int64_t broker_utimes(struct call *c)
{
	uint64_t at = call_argument(c, c->row->y);
	struct timespec times[2];
	struct timeval given[2];
	int r = at ? target_read(call_number(c), at, given, sizeof(given)) : 0;

	for (int i = 0; r == 0 && at && i < 2; i++) {
		if (given[i].tv_usec < 0 || given[i].tv_usec >= 1000000)
			return -EINVAL;
		times[i] = (struct timespec){ given[i].tv_sec, given[i].tv_usec * 1000 };
	}
	return r < 0 ? r : set_times(c, 0, at ? times : NULL);
}

/* y: struct utimbuf. */
int64_t broker_utime(struct call *c)
{
	uint64_t at = call_argument(c, c->row->y);
	int64_t given[2];
	struct timespec times[2];
	int r = at ? target_read(call_number(c), at, given, sizeof(given)) : 0;

	if (r < 0)
		return r;
	for (int i = 0; at && i < 2; i++)
		times[i] = (struct timespec){ .tv_sec = given[i] };
	return set_times(c, 0, at ? times : NULL);
}

/* --- attributes ------------------------------------------------------------------------------ */

struct attribute {
	char name[XATTR_NAME_MAX + 1];
	void *value;
	size_t n;
	int flags;
};

static void free_value(struct attribute *a)
{
	free(a->value);
}
#define autoattribute __attribute__((cleanup(free_value))) struct attribute a = { .value = NULL }

static int read_name(struct call *c, struct attribute *a)
{
	char text[PATH_MAX];
	ssize_t n = target_read_string(call_number(c), call_argument(c, 1), text);

	if (n == -ENAMETOOLONG || n == 0 || n > XATTR_NAME_MAX)
		return -ERANGE;
	if (n < 0)
		return (int)n;
	memcpy(a->name, text, (size_t)n + 1);
	return 0;
}

static int read_attribute(struct call *c, struct attribute *a)
{
	uint64_t n = call_argument(c, 3);
	int r;

	a->flags = (int)call_argument(c, 4);
	if (a->flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	r = read_name(c, a);
	if (r < 0)
		return r;
	if (n > XATTR_SIZE_MAX)
		return -E2BIG;
	a->n = n;
	a->value = malloc(n + 1);
	if (!a->value)
		return -ENOMEM;
	return n ? target_read(call_number(c), call_argument(c, 2), a->value, n) : 0;
}

/* There is no call that takes a link by descriptor, so it is named in its directory. */
static int on_link(const struct subject *s, const struct attribute *a)
{
	int r;

	if (fchdir(s->object.place.dir) < 0)
		return -1;
	r = a->value ? lsetxattr(s->object.place.name, a->name, a->value, a->n, a->flags)
		     : lremovexattr(s->object.place.name, a->name);
	if (fchdir(BROKER_FD_PROC) < 0)
		_exit(1);
	return r;
}

static int64_t change_attribute(const struct subject *s, const struct attribute *a)
{
	if (S_ISLNK(s->object.mode))
		return result(on_link(s, a));
	if (!a->value)
		return result(s->by_fd ? fremovexattr(s->fd, a->name)
				       : removexattr(s->link, a->name));
	return result(s->by_fd ? fsetxattr(s->fd, a->name, a->value, a->n, a->flags)
			       : setxattr(s->link, a->name, a->value, a->n, a->flags));
}

/* The arguments of all of these are: file, name, value, size, flags. */
static int64_t attribute_by_path(struct call *c, uint32_t flags, bool removes)
{
	autosubject;
	autoattribute;
	int r = removes ? read_name(c, &a) : read_attribute(c, &a);

	if (r == 0)
		r = find_subject(c, flags, &s);
	return r < 0 ? r : change_attribute(&s, &a);
}

static int64_t attribute_by_fd(struct call *c, bool removes)
{
	autosubject;
	autoattribute;
	int r = removes ? read_name(c, &a) : read_attribute(c, &a);

	if (r == 0)
		r = take_subject(c, call_dirfd(c), &s);
	return r < 0 ? r : change_attribute(&s, &a);
}

int64_t broker_setxattr(struct call *c)
{
	return attribute_by_path(c, 0, false);
}

int64_t broker_lsetxattr(struct call *c)
{
	return attribute_by_path(c, AT_SYMLINK_NOFOLLOW, false);
}

int64_t broker_removexattr(struct call *c)
{
	return attribute_by_path(c, 0, true);
}

int64_t broker_lremovexattr(struct call *c)
{
	return attribute_by_path(c, AT_SYMLINK_NOFOLLOW, true);
}

int64_t broker_fsetxattr(struct call *c)
{
	return attribute_by_fd(c, false);
}

int64_t broker_fremovexattr(struct call *c)
{
	return attribute_by_fd(c, true);
}

/* x: request, y: argument. The filter asks for these alone: they need no descriptor that
 * was opened for writing. */
int64_t broker_ioctl(struct call *c)
{
	uint32_t request = (uint32_t)call_argument(c, c->row->x);
	size_t n = request == FS_IOC_FSSETXATTR ? sizeof(struct fsxattr) : sizeof(int);
	char value[sizeof(struct fsxattr)] __attribute__((aligned(8))) = { 0 };
	autosubject;
	int r;

	if (request != FS_IOC_SETFLAGS && request != FS_IOC_FSSETXATTR)
		return -EPERM;
	r = target_read(call_number(c), call_argument(c, c->row->y), value, n);
	if (r == 0)
		r = take_subject(c, call_dirfd(c), &s);
	return r < 0 ? r : result(ioctl(s.fd, request, value));
}
