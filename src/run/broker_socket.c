/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind: the one call on sockets that makes a name. All of them are carried out here,
 * because which kind it is stands in memory that can change; only those with a path are
 * judged.
 *
 * connect: carried out here likewise, for what the address says, and which socket it is, can
 * change; only to what the command has bound, what is named, and what only sandboxes see. In
 * the network of the host it is looked at, and the kernel goes on: there Landlock holds the
 * caller, and not us, back from sockets without a path. What a mount covers stays out of
 * reach, a socket that is not known by its name is guarded.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_storage room;
	} at;
	socklen_t n;
};

/* Its path; false when it has none. */
static bool has_path(const struct address *a, char path[PATH_MAX])
{
	size_t start = offsetof(struct sockaddr_un, sun_path), n;

	if (a->n <= start || a->n > sizeof(a->at.un) || a->at.any.sa_family != AF_UNIX ||
	    !a->at.un.sun_path[0])
		return false;
	n = strnlen(a->at.un.sun_path, a->n - start);
	memcpy(path, a->at.un.sun_path, n);
	path[n] = '\0';
	return true;
}

/* Others look for no path in an address, whatever it says. */
static bool is_unix(int fd)
{
	int domain;
	socklen_t size = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/* Of an object that is held: the link of /proc, where our working directory is, leads to it. */
static void address_of(int fd, struct address *ret)
{
	ret->at.un = (struct sockaddr_un){ .sun_family = AF_UNIX };
	object_link(fd, ret->at.un.sun_path);
	ret->n = sizeof(ret->at.un);
}

static int bind_in(int dir, int fd, const struct address *a)
{
	int r, errnum;

	if (fchdir(dir) < 0)
		return -errno;
	r = bind(fd, &a->at.any, a->n);
	errnum = errno;
	if (fchdir(BROKER_FD_PROC) < 0)
		_exit(1);
	return r < 0 ? -errnum : 0;
}

/* The text from this directory on leads to where the name was judged to be. */
static bool leads_to(int base, const char *path, const struct object *o)
{
	char above[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct stat a, b;

	snprintf(above, sizeof(above), "%.*s", (int)(slash - path + 1), path);
	return fstatat(base, above, &a, 0) == 0 && fstat(o->place.dir, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The socket remembers the text it was bound with, and servers tell it to others. A name alone
 * is bound in the directory that was judged. A longer text has to be looked up once more: who
 * swaps directories meanwhile gets a socket in the other one (SECURITY.md). */
static int bind_named(struct call *c, int fd, const struct object *o, struct address *a)
{
	size_t n = strlen(o->place.name);
	autoclose int base = -1;

	if (strcmp(c->path, o->place.name) == 0)
		return bind_in(o->place.dir, fd, a);
	base = strchr(c->path, '/') ? target_open_cwd(call_target(c)) : -ENOENT;
	if (base >= 0 && target_has_no_links(call_target(c), AT_FDCWD, c->path) &&
	    leads_to(base, c->path, o))
		return bind_in(base, fd, a);
	if (n > sizeof(a->at.un.sun_path))
		return -ENAMETOOLONG;
	memset(a->at.un.sun_path, 0, sizeof(a->at.un.sun_path));
	memcpy(a->at.un.sun_path, o->place.name, n);
	a->n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	return bind_in(o->place.dir, fd, a);
}

/* --- the command's own -------------------------------------------------------------------- */

/* So many that it has bound are known; it does not reach the ones before. */
#define OWN_MAX 1024

struct broker_sockets {
	struct statx known[OWN_MAX];
	size_t count;
};

/* A number that was given away again has another birth. */
static bool is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_mask & b->stx_mask & STATX_BTIME && a->stx_ino == b->stx_ino &&
	       a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor &&
	       a->stx_btime.tv_sec == b->stx_btime.tv_sec &&
	       a->stx_btime.tv_nsec == b->stx_btime.tv_nsec;
}

static int look_at(int dir, const char *name, struct statx *ret)
{
	return statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH,
		     STATX_INO | STATX_BTIME, ret);
}

/* What has the name by now need not be what was bound: somebody else may have moved an older
 * socket there. Those in private places need no note. Without memory it is not known, and not
 * reached. */
static void note_own(struct broker *b, const struct object *o, const struct timespec *before)
{
	struct statx st;

	if (!b->in->connects || observer_private(b->in->observer, o->path) ||
	    look_at(o->place.dir, o->place.name, &st) < 0 || !observer_born_since(&st, before))
		return;
	if (!b->sockets)
		b->sockets = calloc(1, sizeof(*b->sockets));
	if (b->sockets)
		b->sockets->known[b->sockets->count++ % OWN_MAX] = st;
}

static bool is_own(const struct broker *b, int fd)
{
	size_t n = b->sockets ? b->sockets->count : 0;
	struct statx st;

	if (!n || look_at(fd, "", &st) < 0)
		return false;
	for (size_t i = 0; i < n && i < OWN_MAX; i++)
		if (is_same(&b->sockets->known[i], &st))
			return true;
	return false;
}

static int64_t bind_path(struct call *c, int fd, struct address *a)
{
	autoobject o = { .place.dir = -1 };
	struct timespec before;
	int r = object_find(c, AT_FDCWD, c->path, false, &o);

	observer_now(&before);
	if (r == 0 && o.exists)
		r = -EADDRINUSE;
	/* Only a directory is made by a name with a slash after it. */
	if (r == 0 && o.place.slash)
		r = -ENOENT;
	if (r == 0)
		r = object_allow(c, &o, POLICY_CREATE);
	if (r == 0)
		r = call_take_umask(c);
	if (r == 0)
		r = call_check(c);
	if (r == 0)
		r = bind_named(c, fd, &o, a);
	if (r == 0)
		note_own(c->broker, &o, &before);
	return r;
}

/* The row's x: address, y: its length. 0 or -errno. */
static int read_address(struct call *c, struct address *ret)
{
	int32_t n = (int32_t)call_argument(c, c->row->y);
	int r;

	if (n < 0 || (size_t)n > sizeof(ret->at.room))
		return -EINVAL;
	ret->n = (socklen_t)n;
	r = n ? target_read(call_number(c), call_argument(c, c->row->x), &ret->at, (size_t)n) : 0;
	return r < 0 ? r : call_check(c);
}

int64_t broker_bind(struct call *c)
{
	struct address a = { .n = 0 };
	autoclose int fd = call_take_fd(c, call_dirfd(c));
	int type, r;
	socklen_t size = sizeof(type);

	if (fd < 0)
		return fd;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return -errno;
	r = read_address(c, &a);
	if (r < 0)
		return r;
	if (is_unix(fd) && has_path(&a, c->path))
		return bind_path(c, fd, &a);
	return bind(fd, &a.at.any, a.n) < 0 ? -errno : 0;
}

/* --- connect ------------------------------------------------------------------------------ */

/* The name alone could lead to another one by now: the command may have moved that there. */
static bool is_named(const struct broker *b, const struct object *o, int to)
{
	struct stat st;

	if (o->outside || fstat(to, &st) < 0)
		return false;
	vec_each(op, &b->in->plan->ops)
		if (op->kind == OP_SOCKET && str_eq(op->path, o->path) &&
		    op->node.dev == st.st_dev && op->node.ino == st.st_ino)
			return true;
	return false;
}

static int64_t connect_slowly(const struct broker_work *w, int *ret_fd)
{
	struct address a = { .n = w->address_n };

	(void)ret_fd;
	if (w->to < 0)
		memcpy(&a.at, w->address, w->address_n);
	else
		address_of(w->to, &a);
	return connect(w->fd, &a.at.any, a.n) < 0 ? -errno : 0;
}

/* to: what is connected to, -1: it is in the address. Closes both. Always by a job: whether the
 * socket blocks is not ours to change, and could change while we connect. */
static int64_t connect_for(struct call *c, int fd, int to, const struct address *a)
{
	struct broker_work work = {
		.work = connect_slowly, .fd = fd, .to = to, .address = a, .address_n = a->n
	};
	int r = call_check(c);

	if (r == 0)
		return broker_begin_job(c, &work);
	fd_close(&fd);
	fd_close(&to);
	return r;
}

static int allow_socket(struct call *c, const struct object *held, int to)
{
	if (is_named(c->broker, held, to) || is_own(c->broker, to) ||
	    (!held->outside && observer_private(c->broker->in->observer, held->path)))
		return 0;
	call_tell(c, BROKER_REFUSED, VIOLATION_connect, held->path, EACCES);
	return -EACCES;
}

/* The very socket that is judged is connected to, whatever its name leads to meanwhile. */
/* Nothing is there inside. A path that is no normal one is not looked into. */
static int is_missing(struct call *c, int r, const struct object *o)
{
	struct str path = r == 0 ? o->path : str_of(c->path);

	if ((r == 0 ? !o->exists : r == -ENOENT) &&
	    observer_may_miss_socket(c->broker->in->observer, path))
		call_tell(c, BROKER_SEEN, OBSERVED_SOCKET, path, 0);
	return r == 0 && !o->exists ? -ENOENT : r;
}

static int64_t connect_path_for(struct call *c, int fd, const struct address *a)
{
	autoclose int own = fd;
	autoclose int to = -1;
	autoobject o = { .place.dir = -1 };
	autoobject held = { .place.dir = -1 };
	int r = is_missing(c, object_find(c, AT_FDCWD, c->path, true, &o), &o);

	if (r == 0)
		r = to = object_hold(&o);
	if (r < 0)
		return r;
	r = object_of_fd(c, fcntl(to, F_DUPFD_CLOEXEC, BROKER_FD_END), &held);
	if (r < 0)
		return r;
	if (S_ISSOCK(held.mode))
		r = allow_socket(c, &held, to);
	else if (observer_covers_socket(c->broker->in->observer, held.path))
		call_tell(c, BROKER_SEEN, OBSERVED_SOCKET, held.path, 0);
	if (r < 0)
		return r;
	/* What is no socket leads nowhere: the kernel says why. */
	return connect_for(c, steal_fd(&own), steal_fd(&to), a);
}

static int64_t connect_on_behalf(struct call *c)
{
	struct address a = { .n = 0 };
	int fd = call_take_fd(c, call_dirfd(c)), r;

	if (fd < 0)
		return fd;
	r = read_address(c, &a);
	if (r == 0 && is_unix(fd) && has_path(&a, c->path))
		return connect_path_for(c, fd, &a);
	if (r == 0 && a.n)
		call_announce(c, &a.at, a.n);
	if (r == 0) {
		call_observe(c, BROKER_GO_ON);
		return connect_for(c, fd, -1, &a);
	}
	fd_close(&fd);
	return r;
}

static int64_t connect_path(struct call *c)
{
	autoobject o = { .place.dir = -1 };
	int r = is_missing(c, object_find(c, AT_FDCWD, c->path, true, &o), &o);

	if (r < 0)
		return r;
	if (observer_covers_socket(c->broker->in->observer, o.path))
		call_tell(c, BROKER_SEEN, OBSERVED_SOCKET, o.path, 0);
	/* A socket of the sandbox's own, or no socket at all. */
	if (!S_ISSOCK(o.mode) ||
	    (!o.outside &&
	     observer_owns_socket(c->broker->in->observer, o.path, &o.place)))
		return BROKER_GO_ON;
	call_tell(c, BROKER_REFUSED, VIOLATION_connect, o.path, EACCES);
	return -EACCES;
}

int64_t broker_connect(struct call *c)
{
	struct address a = { .n = 0 };
	int r;

	if (c->broker->in->connects)
		return connect_on_behalf(c);
	r = read_address(c, &a);
	if (r < 0)
		return r;
	if (has_path(&a, c->path))
		return connect_path(c);
	if (a.n)
		call_announce(c, &a.at, a.n);
	return BROKER_GO_ON;
}
