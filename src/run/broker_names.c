/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that make, move and remove names. Each is answered as the kernel would: what is
 * there already before what may not be made.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/rename.h"
#include "run/git_rewrite.h"
#include "run/guard_tree.h"

static int64_t result(int r)
{
	return r < 0 ? -errno : r;
}

/* A name that is to be made, or taken away. Where that is allowed, the kernel says whether
 * there is one; otherwise that is looked at, as it comes before the refusal. */
static int judge_name(struct call *c, struct object *o, enum policy_op op, bool exists)
{
	int r = 0;

	if (!object_may(c, o, op)) {
		r = object_look(o);
		if (r == 0 && o->exists != exists)
			r = exists ? -ENOENT : -EEXIST;
		if (r == 0)
			r = object_allow(c, o, op);
	}
	return r < 0 ? r : call_check(c);
}

/* The place where a name is to be made; it may be made when this is 0. */
static int find_new(struct call *c, enum policy_op op, struct object *ret)
{
	int r = call_read_path(c);

	if (r == 0)
		r = object_find_name(c, call_dirfd(c), c->path, ret);
	if (r == 0 && ret->exists)
		r = -EEXIST;
	return r < 0 ? r : judge_name(c, ret, op, false);
}

/* x: mode. */
int64_t broker_mkdir(struct call *c)
{
	mode_t mode = (mode_t)call_argument(c, c->row->x) & 07777;
	autoobject o = { .place.dir = -1 };
	int r;

	c->does = OBSERVED_MKDIR;
	r = find_new(c, POLICY_WRITE, &o);
	if (r == 0)
		r = call_take_umask(c);
	return r < 0 ? r : result(mkdirat(o.place.dir, o.name, mode));
}

/* x: mode, y: device. */
int64_t broker_mknod(struct call *c)
{
	mode_t mode = (mode_t)(call_argument(c, c->row->x) & 0xffff);
	autoobject o = { .place.dir = -1 };
	int r;

	/* The filter has refused devices already. */
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return -EPERM;
	r = find_new(c, POLICY_CREATE, &o);
	if (r == 0)
		r = call_take_umask(c);
	return r < 0 ? r : result(mknodat(o.place.dir, o.name, mode, 0));
}

/* x: what it leads to. */
int64_t broker_symlink(struct call *c)
{
	char to[PATH_MAX];
	ssize_t n = target_read_string(call_number(c), call_argument(c, c->row->x), to);
	autoobject o = { .place.dir = -1 };
	int r;

	if (n < 0)
		return n;
	if (n == 0)
		return -ENOENT;
	r = find_new(c, POLICY_CREATE, &o);
	return r < 0 ? r : result(symlinkat(to, o.place.dir, o.name));
}

/* --- two names -------------------------------------------------------------------------- */

static int from_dirfd(const struct call *c)
{
	return c->row->x < 0 ? AT_FDCWD : (int)(uint32_t)call_argument(c, c->row->x);
}

/* The path from which; with AT_SYMLINK_FOLLOW it is looked at. */
static int find_source(struct call *c, const char *path, uint32_t flags, struct object *ret)
{
	int fd;

	if (!*path && flags & AT_EMPTY_PATH) {
		fd = call_take_fd(c, from_dirfd(c));
		return fd < 0 ? fd : object_of_fd(c, fd, ret);
	}
	if (flags & AT_SYMLINK_FOLLOW)
		return object_find(c, from_dirfd(c), path, true, ret);
	return object_find_name(c, from_dirfd(c), path, ret);
}

/* Both ends, as the kernel goes about it. */
static int find_both(struct call *c, uint32_t flags, struct object *from, struct object *to)
{
	char text[PATH_MAX];
	struct target_string paths[] = {
		{ .address = call_argument(c, c->row->y), .text = text },
		{ .address = call_argument(c, c->row->path), .text = c->path },
	};
	int r;

	target_read_strings(call_number(c), paths, 2);
	if (paths[0].n < 0)
		return (int)paths[0].n;
	r = find_source(c, text, flags, from);
	if (r == 0 && paths[1].n < 0)
		r = (int)paths[1].n;
	return r < 0 ? r : object_find_name(c, call_dirfd(c), c->path, to);
}

/* What is there, for a call that is refused: what the kernel says of that comes first. */
static int look_at_both(struct object *from, struct object *to)
{
	int r = object_look(from);

	if (r == 0 && !from->exists)
		r = -ENOENT;
	return r < 0 ? r : object_look(to);
}

static int do_link(const struct object *from, const struct object *to)
{
	char link[32];

	if (*from->place.name)
		return linkat(from->place.dir, from->name, to->place.dir, to->name, 0);
	object_link(from->place.dir, link);
	return linkat(BROKER_FD_PROC, link, to->place.dir, to->name, AT_SYMLINK_FOLLOW);
}

static int judge_link(struct call *c, struct object *from, struct object *to)
{
	bool outside = from->outside || to->outside;
	struct rename_decision d;
	int r;

	/* What has no name cannot be made. */
	if (to->exists)
		return -EEXIST;
	/* The file gets its first name. */
	if (!from->path.n && !from->outside)
		return judge_name(c, to, POLICY_CREATE, false);
	c->allowed = !outside &&
		     policy_allows_link(c->broker->in->policy, from->path, to->path, &d);
	if (c->allowed)
		return call_check(c);
	r = look_at_both(from, to);
	if (r == 0 && to->exists)
		r = -EEXIST;
	if (r < 0)
		return r;
	if (outside)
		return object_refuse(c, from->outside ? from : to, STR(""), VIOLATION_write);
	return object_refuse(c, d.why == RENAME_FROM ? from : to, str_of(d.object),
			     VIOLATION_write);
}

/* x: old directory, y: old path, z: flags. */
int64_t broker_link(struct call *c)
{
	uint32_t flags = (uint32_t)call_argument(c, c->row->z);
	autoobject from = { .place.dir = -1 };
	autoobject to = { .place.dir = -1 };
	int r;

	if (flags & ~(uint32_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = find_both(c, flags, &from, &to);
	if (r == 0 && flags & AT_SYMLINK_FOLLOW && !from.exists)
		r = -ENOENT;
	if (r == 0)
		r = judge_link(c, &from, &to);
	return r < 0 ? r : result(do_link(&from, &to));
}

static int judge_rename(struct call *c, struct object *from, struct object *to, uint32_t flags)
{
	struct tree tree = guard_tree(&c->broker->view.root);
	bool outside = from->outside || to->outside;
	struct rename_decision d;
	int r;

	/* "." and "..", and what has no name at all. */
	if (!*from->place.name || !*to->place.name)
		return -EBUSY;
	c->allowed = !outside && policy_decide_rename(c->broker->in->policy, from->path, to->path,
						      flags & RENAME_EXCHANGE, &tree, &d);
	if (c->allowed)
		return call_check(c);
	r = look_at_both(from, to);
	if (r == 0 && flags & RENAME_EXCHANGE && !to->exists)
		r = -ENOENT;
	if (r == 0 && flags & RENAME_NOREPLACE && to->exists)
		r = -EEXIST;
	if (r < 0)
		return r;
	if (outside)
		return object_refuse(c, from->outside ? from : to, STR(""), VIOLATION_write);
	return object_refuse(c, d.why == RENAME_FROM ? from : to, str_of(d.object),
			     VIOLATION_write);
}

/* git puts its lock file in the place of a configuration that is protected. */
static bool is_configuration(struct object *from, const struct object *to, uint32_t flags)
{
	size_t extra = sizeof(GIT_REWRITE_LOCK) - 1;

	return flags == 0 && !from->outside && !to->outside &&
	       str_ends(to->path, STR(GIT_REWRITE_NAME)) &&
	       from->path.n == to->path.n + extra && str_starts(from->path, to->path) &&
	       str_ends(from->path, STR(GIT_REWRITE_LOCK)) && object_look(from) == 0 &&
	       S_ISREG(from->mode);
}

/* x: old directory, y: old path, z: flags. */
int64_t broker_rename(struct call *c)
{
	uint32_t flags = (uint32_t)call_argument(c, c->row->z);
	autoobject from = { .place.dir = -1 };
	autoobject to = { .place.dir = -1 };
	struct decision d;
	int r;

	if (flags & ~(uint32_t)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
	    flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	r = find_both(c, 0, &from, &to);
	if (r == 0 && is_configuration(&from, &to, flags) &&
	    policy_allows(c->broker->in->policy, POLICY_WRITE, from.path, &d) &&
	    call_configures(c, to.path))
		return result(unlinkat(from.place.dir, from.name, 0));
	if (r == 0)
		r = judge_rename(c, &from, &to, flags);
	if (r < 0)
		return r;
	return result((int)syscall(SYS_renameat2, from.place.dir, from.name, to.place.dir, to.name,
				   flags));
}

/* --- removing ---------------------------------------------------------------------------- */

/* What the kernel says to a path whose last component is no name. */
static int no_name(const char *path, bool directory)
{
	size_t n = strlen(path);

	if (!directory)
		return -EISDIR;
	while (n && path[n - 1] == '/')
		n--;
	if (n >= 2 && path[n - 1] == '.' && path[n - 2] == '.')
		return -ENOTEMPTY;
	return n && path[n - 1] == '.' ? -EINVAL : -EBUSY;
}

static int64_t take_away(struct call *c, bool directory)
{
	autoobject o = { .place.dir = -1 };
	int r = call_read_path(c);

	if (r == 0)
		r = object_find_name(c, call_dirfd(c), c->path, &o);
	if (r == 0 && !*o.place.name)
		return no_name(c->path, directory);
	c->does = OBSERVED_REMOVE;
	if (r == 0)
		r = judge_name(c, &o, POLICY_WRITE, true);
	return r < 0 ? r : result(unlinkat(o.place.dir, o.name, directory ? AT_REMOVEDIR : 0));
}

/* x: flags. */
int64_t broker_unlink(struct call *c)
{
	uint32_t flags = (uint32_t)call_argument(c, c->row->x);

	if (flags & ~(uint32_t)AT_REMOVEDIR)
		return -EINVAL;
	return take_away(c, flags & AT_REMOVEDIR);
}

int64_t broker_rmdir(struct call *c)
{
	return take_away(c, true);
}
