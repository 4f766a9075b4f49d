/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call is about: from its arguments to an object, and from the object to a verdict.
 * Nothing is changed here.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#define NONE (-1)
#define DELETED " (deleted)"

uint64_t call_argument(const struct call *c, int i)
{
	return i == NONE ? 0 : c->notif->data.args[i];
}

/* The kernel takes the low word of a descriptor. */
int call_dirfd(const struct call *c)
{
	return c->row->dirfd == NONE ? AT_FDCWD : (int)(uint32_t)call_argument(c, c->row->dirfd);
}

int call_read_path(struct call *c)
{
	ssize_t n = target_read_string(call_number(c), call_argument(c, c->row->path), c->path);

	return n < 0 ? (int)n : 0;
}

/* --- finding -------------------------------------------------------------------------- */

void object_close(struct object *o)
{
	if (o->borrowed)
		o->place.dir = -1;
	fd_close(&o->place.dir);
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_inside(const struct broker *b, const struct statx *st)
{
	uint64_t id = st->stx_mnt_id;

	return st->stx_mask & STATX_MNT_ID &&
	       bsearch(&id, b->mounts, b->n_mounts, sizeof(id), compare_ids);
}

static int look_at(int fd, struct statx *ret)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, ret) < 0 ? -errno : 0;
}

/* A pipe, a socket, a file in memory: it never had a name that a rule could be about. */
static bool is_nameless(int fd, const struct statx *st)
{
	struct statfs fs;

	if (!(st->stx_mode & S_IFMT) || (S_ISREG(st->stx_mode) && st->stx_nlink == 0))
		return true;
	if (!S_ISFIFO(st->stx_mode) && !S_ISSOCK(st->stx_mode))
		return false;
	return fstatfs(fd, &fs) == 0 && (fs.f_type == PIPEFS_MAGIC || fs.f_type == SOCKFS_MAGIC);
}

/* The kernel says so of a name that was taken away; the object may have others, of which
 * nothing is known. */
static bool lost_its_name(const struct broker *b, const struct object *o)
{
	struct stat named, held;

	if (!str_ends(o->path, STR(DELETED)))
		return false;
	return fstatat(b->view.root, o->text + 1, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
	       fstat(o->place.dir, &held) < 0 || named.st_dev != held.st_dev ||
	       named.st_ino != held.st_ino;
}

/* A directory that was removed has no second name and gets none: nobody is about it any more. Not
 * every file system counts names, though, and then it may well be there. */
static int forget_name(const struct broker *b, struct object *o)
{
	if (!lost_its_name(b, o))
		return -ENOENT;
	o->path.n = 0;
	return 0;
}

/* The object is what the descriptor is, not a name in it. */
static int name_itself(const struct broker *b, struct object *o)
{
	struct statx st;
	ssize_t n;
	int r = look_at(o->place.dir, &st);

	if (r < 0)
		return r;
	o->exists = true;
	o->mode = st.stx_mode;
	o->rdev = makedev(st.stx_rdev_major, st.stx_rdev_minor);
	if (is_nameless(o->place.dir, &st))
		return 0;
	if (st.stx_nlink == 0 && !S_ISDIR(st.stx_mode))
		return -ENOENT;
	o->outside = !is_inside(b, &st);
	n = target_name_of(o->place.dir, o->text);
	if (n < 0)
		return (int)n;
	o->path.n = (size_t)n;
	if (st.stx_nlink == 0)
		return forget_name(b, o);
	o->outside |= lost_its_name(b, o);
	return 0;
}

/* The path of the directory, of which the length is returned, or -errno. */
static ssize_t name_place(const struct broker *b, struct object *o)
{
	struct statx st;
	int r = look_at(o->place.dir, &st);

	if (r < 0)
		return r;
	o->outside = !is_inside(b, &st);
	/* Nothing can be made in a directory that was removed. */
	return st.stx_nlink ? target_name_of(o->place.dir, o->text) : -ENOENT;
}

static int name_in(const struct broker *b, struct object *o)
{
	size_t length = strlen(o->place.name);
	ssize_t n = o->borrowed ? (ssize_t)strlen(o->text) : name_place(b, o);

	if (n < 0)
		return (int)n;
	if (n > 1)
		o->text[n++] = '/';
	memcpy(o->text + n, o->place.name, length + 1);
	o->path.n = (size_t)n + length;
	memcpy(o->name, o->place.name, length);
	o->name[length] = o->place.slash ? '/' : '\0';
	o->name[length + 1] = '\0';
	return 0;
}

/* The name in the place as it is, a link as a link. */
int object_look(struct object *o)
{
	struct stat st;

	if (!*o->place.name)
		return 0;
	if (fstatat(o->place.dir, o->place.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	o->exists = true;
	o->mode = st.st_mode;
	o->rdev = st.st_rdev;
	return 0;
}

/* Without a /proc of the sandbox's own the broker is in the command's. What it may look at of
 * itself is not the command's to see. */
static bool is_brokers_own(const struct broker *b, struct str path)
{
	char own[32];
	int n;

	if (!b->in->unmounted)
		return false;
	n = snprintf(own, sizeof(own), "/proc/%d", (int)getpid());
	return path_below(path, (struct str){ own, (size_t)n });
}

static int name_object(const struct broker *b, struct object *o)
{
	int r = *o->place.name ? name_in(b, o) : name_itself(b, o);

	if (r == 0 && is_brokers_own(b, o->path))
		return -EACCES;

	/* No path of a rule is longer than this, nor can the kernel open one. */
	return r == 0 && o->path.n > PATH_BYTES_MAX ? -ENAMETOOLONG : r;
}

static void object_init(struct object *o)
{
	o->place.dir = -1;
	o->place.name[0] = '\0';
	o->place.slash = false;
	o->borrowed = o->outside = o->exists = false;
	o->mode = 0;
	o->rdev = 0;
	o->text[0] = o->name[0] = '\0';
	o->path = (struct str){ o->text, 0 };
}

/* A directory of the caller's, for who may look at it but not take from it. */
static int look_up_fd(struct call *c, int dirfd)
{
	char what[32];
	int fd;

	snprintf(what, sizeof(what), "fd/%d", dirfd);
	fd = call_open(c, what);
	if (fd < 0)
		return errno == ENOENT ? -EBADF : -errno;
	return fd;
}

/* Where a path starts: a descriptor of its own, or -errno. */
static int open_base(struct call *c, int dirfd, bool absolute)
{
	int fd;

	if (!absolute && dirfd != AT_FDCWD) {
		fd = call_take_fd(c, dirfd);
		return fd == -EACCES ? look_up_fd(c, dirfd) : fd;
	}
	fd = absolute ? openat(c->broker->view.root, ".", O_PATH | O_CLOEXEC) : call_open(c, "cwd");
	return fd < 0 ? -errno : fd;
}

/* The same, to be looked at only; *ret_own is to be closed. Of the two paths of a call both
 * may start in the working directory. */
static int use_base(struct call *c, int dirfd, bool absolute, int *ret_own)
{
	if (absolute)
		return c->broker->view.root;
	if (dirfd != AT_FDCWD)
		return *ret_own = open_base(c, dirfd, false);
	if (c->cwd < 0)
		c->cwd = open_base(c, dirfd, false);
	return c->cwd;
}

/* The directory at the text below the base, or -errno. *ret_own as in use_base. */
static int open_parent(struct call *c, struct place_found *f, int *ret_own)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };
	char parent[PATH_MAX];
	int fd;

	if (!f->parent.n)
		return open_base(c, f->dirfd, f->absolute);
	f->base = use_base(c, f->dirfd, f->absolute, ret_own);
	if (f->base < 0)
		return f->base;
	memcpy(parent, f->parent.p, f->parent.n);
	parent[f->parent.n] = '\0';
	fd = (int)syscall(SYS_openat2, f->base, parent, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

#define NOT_QUICKLY 1

enum last_part {
	LAST_FOLLOWED,
	LAST_LOOKED_AT,
	LAST_NAMED, /* object_find_name */
};

/* The directory in which the last part is a name; its path is the text. 0 or -errno. */
static int find_place(struct call *c, int dirfd, bool absolute, struct str parent,
		      struct object *ret)
{
	struct place_found found = {
		.dirfd = dirfd, .absolute = absolute, .parent = parent, .base = -1
	};
	autoclose int own = -1;
	ssize_t n;
	int r;

	if (place_recall(c, dirfd, absolute, parent, ret))
		return 0;
	r = ret->place.dir = open_parent(c, &found, &own);
	if (r < 0 || !c->keeps_place)
		return r < 0 ? r : 0;
	n = name_place(c->broker, ret);
	if (n < 0)
		return (int)n;
	found.path_n = (size_t)n;
	place_remember(c, &found, ret);
	return 0;
}

/* In one step, where no link is on the way: the usual case. */
static int find_quickly(struct call *c, int dirfd, const char *path, enum last_part last,
			struct object *ret)
{
	size_t end = strlen(path), start;
	const char *from = path + strspn(path, "/");
	struct str parent;
	int r;

	if (end == 0 || end >= PATH_MAX)
		return NOT_QUICKLY;
	ret->place.slash = path[end - 1] == '/';
	while (end && path[end - 1] == '/')
		end--;
	for (start = end; start && path[start - 1] != '/'; start--)
		;
	if (end == start || end - start > NAME_MAX || path[end - 1] == '.')
		return NOT_QUICKLY;
	parent = (struct str){ from, path + start > from ? (size_t)(path + start - from) : 0 };
	r = find_place(c, dirfd, path[0] == '/', parent, ret);
	if (r < 0)
		return r == -ELOOP ? NOT_QUICKLY : r;
	memcpy(ret->place.name, path + start, end - start);
	ret->place.name[end - start] = '\0';
	r = last == LAST_NAMED ? 0 : object_look(ret);
	return r == 0 && last == LAST_FOLLOWED && S_ISLNK(ret->mode) ? NOT_QUICKLY : r;
}

static int find(struct call *c, int dirfd, const char *path, enum last_part last,
		struct object *ret)
{
	int r;

	object_init(ret);
	r = find_quickly(c, dirfd, path, last, ret);
	if (r == NOT_QUICKLY) {
		object_close(ret);
		object_init(ret);
		r = target_resolve(call_target(c), dirfd, path, last == LAST_FOLLOWED, &ret->place);
		if (r == 0 && last != LAST_NAMED)
			r = object_look(ret);
	}
	return r < 0 ? r : name_object(c->broker, ret);
}

int object_find(struct call *c, int dirfd, const char *path, bool follow, struct object *ret)
{
	return find(c, dirfd, path, follow ? LAST_FOLLOWED : LAST_LOOKED_AT, ret);
}

int object_find_name(struct call *c, int dirfd, const char *path, struct object *ret)
{
	return find(c, dirfd, path, LAST_NAMED, ret);
}

int object_find_existing(struct call *c, bool follow, struct object *ret)
{
	size_t n = strlen(c->path);
	int r;

	/* A slash after a link means what it leads to. */
	follow |= n && c->path[n - 1] == '/';
	r = object_find(c, call_dirfd(c), c->path, follow, ret);
	return r == 0 && !ret->exists ? -ENOENT : r;
}

int object_of_fd(struct call *c, int fd, struct object *ret)
{
	object_init(ret);
	ret->place.dir = fd;
	return name_object(c->broker, ret);
}

/* Where there are mounts, one of the sandbox's own is what only the broker opens for writing. */
bool object_is_open_for_writing(struct call *c, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statx st;

	if (c->broker->in->unmounted || flags < 0 || flags & O_PATH || !fd_mode_writes(flags) ||
	    look_at(fd, &st) < 0 || !is_inside(c->broker, &st))
		return false;
	return c->allowed = true;
}

int object_hold(const struct object *o)
{
	int fd;

	if (!*o->place.name)
		fd = fcntl(o->place.dir, F_DUPFD_CLOEXEC, BROKER_FD_END);
	else
		fd = openat(o->place.dir, o->place.name,
			    O_PATH | O_NOFOLLOW | O_CLOEXEC | (o->place.slash ? O_DIRECTORY : 0));
	return fd < 0 ? -errno : fd;
}

void object_link(int fd, char text[32])
{
	snprintf(text, 32, "self/fd/%d", fd);
}

/* --- judging -------------------------------------------------------------------------- */

/* Would it have worked without cordon? What is read-only only here says EROFS, and it
 * says so after it has looked at the caller's own rights. */
static bool would_work(const struct object *o, enum violation_op op)
{
	int flags = AT_EACCESS | AT_SYMLINK_NOFOLLOW, r;

	if (op == VIOLATION_read)
		r = (int)syscall(SYS_faccessat2, o->place.dir, o->place.name, R_OK,
				 flags | AT_EMPTY_PATH);
	else if (o->exists && !S_ISDIR(o->mode))
		r = (int)syscall(SYS_faccessat2, o->place.dir, o->place.name, W_OK,
				 flags | AT_EMPTY_PATH);
	else
		r = (int)syscall(SYS_faccessat2, o->place.dir, "", W_OK | X_OK,
				 flags | AT_EMPTY_PATH);
	return r == 0 || errno == EROFS;
}

int object_refuse(struct call *c, const struct object *o, struct str path, enum violation_op op)
{
	bool mounted = !c->broker->in->unmounted;
	int errnum = op == VIOLATION_read || o->outside || !mounted ? EACCES : EROFS;

	if (!would_work(o, op))
		return -EACCES;
	/* What leads outside has no name here that could be allowed. */
	call_tell(c, BROKER_REFUSED, op, o->outside ? STR("") : path, errnum);
	return -errnum;
}

/* A directory that no rule speaks of only leads to what is shown below it. */
static bool only_leads(const struct object *o, enum policy_op op, const struct decision *d)
{
	return op == POLICY_READ && S_ISDIR(o->mode) && !d->data_rule;
}

bool object_is_hosts(const struct call *c, const struct object *o)
{
	const struct broker_input *in = c->broker->in;
	const struct op *op;

	if (!in->unmounted || !o->path.n || (in->tmp.n && path_below(o->path, in->tmp)))
		return false;
	/* Whatever the policy calls it: here there is no other. */
	if (path_below(o->path, STR("/proc")))
		return true;
	op = plan_shown_by(in->plan, o->path, NULL);
	if (!op || (op->kind == OP_CACHE && str_eq(op->path, op->source)))
		return !op;
	return op_rows[op->kind].view == VIEW_OWN;
}

bool object_may(struct call *c, const struct object *o, enum policy_op op)
{
	struct decision d;

	c->allowed = !o->outside &&
		     (!o->path.n || policy_allows(c->broker->in->policy, op, o->path, &d) ||
		      only_leads(o, op, &d));
	return c->allowed;
}

int object_allow(struct call *c, const struct object *o, enum policy_op op)
{
	if (object_may(c, o, op))
		return 0;
	return object_refuse(c, o, o->path, op == POLICY_READ ? VIOLATION_read : VIOLATION_write);
}
