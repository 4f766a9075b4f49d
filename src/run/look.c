/* SPDX-License-Identifier: Apache-2.0 */
/* Walking the writable places. */
#include "run/look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

struct look {
	struct arena *arena;
	struct snapshot *ret;
};

static int64_t in_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* False: no more can be taken in. */
static bool take(struct look *l, const char *path, const struct stat *st)
{
	struct seen_file *slot = NULL;

	if (path && l->ret->files.n < LOOK_FILES_MAX)
		slot = vec_push(&l->ret->files, l->arena);
	if (!slot) {
		l->ret->incomplete = true;
		return false;
	}
	*slot = (struct seen_file){
		.path = str_of(path),
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = in_ns(fd_mtime(st)),
		.ctime_ns = in_ns(fd_ctime(st)),
		.mode = st->st_mode,
	};
	return true;
}

/* Many of them are as bad as too many files. */
static void leave_out(struct look *l, struct str path)
{
	size_t n = l->ret->unseen.n;
	struct str *slot = NULL;

	if (n && l->ret->unseen.at[n - 1].p == path.p)
		return;
	if (n < CHANGES_UNSEEN_MAX)
		slot = vec_push(&l->ret->unseen, l->arena);
	if (slot)
		*slot = path;
	else
		l->ret->incomplete = true;
}

static void walk(struct look *l, int fd, struct str path, unsigned depth);

static void enter(struct look *l, int parent, const char *name, struct str path, unsigned depth)
{
	int fd;

	if (str_ends(path, STR("/.git/objects")))
		return;
	if (depth >= LOOK_DEPTH_MAX) {
		leave_out(l, path);
		return;
	}
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		walk(l, fd, path, depth + 1);
	else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		leave_out(l, path);
}

static void look_at(struct look *l, int dir, const char *name, struct str above, unsigned depth)
{
	struct stat st;
	char *path;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		/* Listed, and not to be looked at: a directory without the right to search. */
		if (errno == EACCES)
			leave_out(l, above);
		return;
	}
	path = arena_printf(l->arena, "%.*s/%s", above.n > 1 ? (int)above.n : 0, above.p, name);
	if (take(l, path, &st) && S_ISDIR(st.st_mode))
		enter(l, dir, name, str_of(path), depth);
}

/* Owns fd. */
static void walk(struct look *l, int fd, struct str path, unsigned depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *entry;

	if (!d) {
		fd_close(&fd);
		return;
	}
	while (!l->ret->incomplete && (entry = readdir(d)))
		look_at(l, dirfd(d), entry->d_name, path, depth);
	closedir(d);
}

static bool is_place(const struct op *op)
{
	return op->path.n && op_view_of(op) == VIEW_WRITE && op->kind != OP_ROOT_HOST;
}

/* What lies in another place is seen there. */
static bool lies_within(const struct plan *plan, const struct op *place)
{
	vec_each(op, &plan->ops)
		if (op != place && is_place(op) && path_below(place->path, op->path) &&
		    (!str_eq(op->path, place->path) || op < place))
			return true;
	return false;
}

static void look_at_place(struct look *l, struct str path)
{
	char *copy = arena_dup(l->arena, path);
	struct stat st;

	if (!copy) {
		l->ret->incomplete = true;
		return;
	}
	if (lstat(copy, &st) < 0)
		return;
	if (S_ISDIR(st.st_mode))
		enter(l, AT_FDCWD, copy, str_of(copy), 0);
	else
		take(l, copy, &st);
}

void look_at_plan(struct arena *a, const struct plan *plan, struct snapshot *ret)
{
	struct look l = { .arena = a, .ret = ret };
	bool any = false;

	*ret = (struct snapshot){ 0 };
	vec_each(op, &plan->ops) {
		/* The whole machine is writable: nobody waits for that to be walked. */
		ret->incomplete |= op->kind == OP_ROOT_HOST && op_view_of(op) == VIEW_WRITE;
		if (is_place(op) && !lies_within(plan, op)) {
			look_at_place(&l, op->path);
			any = true;
		}
	}
	/* Without a boundary no operation names the places. */
	if (!any && !plan->policy->confined)
		look_at_place(&l, plan->policy->places.workdir);
	snapshot_sort(ret);
}
