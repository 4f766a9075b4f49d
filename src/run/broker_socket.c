/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind: the one call on sockets that makes a name. All of them are carried out here,
 * because which kind it is stands in memory that can change; only those with a path are
 * judged.
 *
 * connect: whoever connects is seen by the other end, and held back by Landlock, so it has
 * to be the caller. It is looked at, and the kernel goes on: what a mount covers stays out
 * of reach, a socket that the host makes meanwhile is guarded.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
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

	if (a->n <= start || a->at.any.sa_family != AF_UNIX || !a->at.un.sun_path[0])
		return false;
	n = strnlen(a->at.un.sun_path, a->n - start);
	memcpy(path, a->at.un.sun_path, n);
	path[n] = '\0';
	return true;
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

/* The socket remembers the text it was bound with. Where no link is on the way, the very
 * text leads to the same place from the caller's directory. */
static int bind_named(struct call *c, int fd, const struct object *o, struct address *a)
{
	size_t n = strlen(o->place.name);
	autoclose int base = -1;

	if (target_has_no_links(call_target(c), AT_FDCWD, c->path)) {
		base = target_open_cwd(call_target(c));
		if (base < 0)
			return base;
		return bind_in(base, fd, a);
	}
	if (n > sizeof(a->at.un.sun_path))
		return -ENAMETOOLONG;
	memset(a->at.un.sun_path, 0, sizeof(a->at.un.sun_path));
	memcpy(a->at.un.sun_path, o->place.name, n);
	a->n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	return bind_in(o->place.dir, fd, a);
}

static int64_t bind_path(struct call *c, int fd, struct address *a)
{
	autoobject o = { .place.dir = -1 };
	int r = object_find(c, AT_FDCWD, c->path, false, &o);

	if (r == 0 && o.exists)
		r = -EADDRINUSE;
	if (r == 0)
		r = object_allow(c, &o, POLICY_CREATE);
	if (r == 0)
		r = call_take_umask(c);
	if (r == 0)
		r = call_check(c);
	return r < 0 ? r : bind_named(c, fd, &o, a);
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
	if (has_path(&a, c->path))
		return bind_path(c, fd, &a);
	return bind(fd, &a.at.any, a.n) < 0 ? -errno : 0;
}

/* --- connect ------------------------------------------------------------------------------ */

static int64_t connect_path(struct call *c)
{
	autoobject o = { .place.dir = -1 };
	int r = object_find(c, AT_FDCWD, c->path, true, &o);

	if (r < 0)
		return r;
	if (!o.exists)
		return -ENOENT;
	if (observer_covers_socket(c->broker->in->observer, o.path))
		call_tell(c, BROKER_SEEN, OBSERVED_SOCKET, o.path, 0);
	/* A socket of the sandbox's own, or no socket at all. */
	if (!S_ISSOCK(o.mode) ||
	    (!o.outside && observer_owns_socket(c->broker->in->observer, o.path)))
		return BROKER_GO_ON;
	call_tell(c, BROKER_REFUSED, VIOLATION_connect, o.path, EACCES);
	return -EACCES;
}

int64_t broker_connect(struct call *c)
{
	struct address a = { .n = 0 };
	int r = read_address(c, &a);

	if (r < 0)
		return r;
	if (has_path(&a, c->path))
		return connect_path(c);
	if (a.n)
		call_announce(c, &a.at, a.n);
	return BROKER_GO_ON;
}
