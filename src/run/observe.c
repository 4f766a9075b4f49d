/* SPDX-License-Identifier: Apache-2.0 */
/* Seeing refusals in advance; see observe.h for what is left out. */
#include "run/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

/* How often what is known of a directory is used before it is looked up again. */
#define USES_MAX 64

bool observer_init(struct observer *o, struct arena *a, const struct plan *plan)
{
	o->policy = plan->policy;
	/* What the backend does not do shapes nothing. */
	vec_each(op, &plan->ops)
		if (op_rows[op->kind].view != VIEW_NONE && !op->lost &&
		    !map_put(&o->shown, a, op->path, op))
			return false;
	return true;
}

/* What plan_shown_by says, found by the path's own prefixes: plans are long and paths
 * are not. */
static const struct op *shown_by(const struct observer *o, struct str path)
{
	const struct op *op = map_get(&o->shown, STR("/"));

	for (size_t i = 1; i <= path.n; i++)
		if (i == path.n || path.p[i] == '/') {
			const struct op *here = map_get(&o->shown, str_take(path, i));

			op = here ? here : op;
		}
	return op;
}

/* Below a tree of the plan that can be written, and below nothing that cannot? */
bool observer_writable(const struct observer *o, struct str path)
{
	const struct op *op = shown_by(o, path);

	return op && (op_view_of(op) == VIEW_WRITE || op_view_of(op) == VIEW_OWN);
}

static size_t read_base(const struct target *target, int dirfd, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	if (dirfd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", (int)target->tid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)target->tid, dirfd);
	n = readlink(link, path, PATH_MAX);
	return n > 0 && n < PATH_MAX && path[0] == '/' ? (size_t)n : 0;
}

static const struct observed_base *base_of(struct observer *o, const struct target *target,
					   int dirfd)
{
	size_t slot = ((size_t)target->tid + (size_t)dirfd * 7) & (OBSERVED_BASES - 1);
	struct observed_base *b = &o->bases[slot];

	if (!b->uses || b->tid != target->tid || b->dirfd != dirfd) {
		b->tid = target->tid;
		b->dirfd = dirfd;
		b->uses = USES_MAX;
		b->n = read_base(target, dirfd, b->path);
	}
	b->uses--;
	return b;
}

/* Is it, going by the text alone, in a tree that may be written? */
static bool is_ordinary(struct observer *o, const struct target *target, int dirfd,
			const char *path)
{
	const struct observed_base *base;
	size_t n = strlen(path);
	char text[2 * PATH_MAX];

	if (strstr(path, ".."))
		return false;
	if (path[0] == '/')
		return observer_writable(o, (struct str){ path, n });
	base = base_of(o, target, dirfd);
	memcpy(text, base->path, base->n);
	text[base->n] = '/';
	memcpy(text + base->n + 1, path, n);
	return base->n && observer_writable(o, (struct str){ text, base->n + 1 + n });
}

/* As the text says, where the sandbox shows nothing that could be resolved. */
static bool spell(const struct target *target, int dirfd, const char *path, char *text)
{
	autoarena struct arena a = { 0 };
	char base[PATH_MAX] = "/";
	size_t n = path[0] == '/' ? 1 : read_base(target, dirfd, base);
	char *normal;

	if (!n)
		return false;
	arena_init(&a, (size_t)64 << 10);
	normal = path_normalise(&a, (struct str){ base, n }, str_of(path));
	if (normal)
		memcpy(text, normal, strlen(normal) + 1);
	return normal;
}

static bool where(const struct target *target, int dirfd, const char *path, bool follow, char *text)
{
	struct target_place place;
	int r = target_resolve(target, dirfd, path, follow, &place);
	ssize_t n;

	if (r < 0)
		return spell(target, dirfd, path, text);
	n = target_path_of(place.dir, text);
	fd_close(&place.dir);
	if (n <= 0 || n + 1 + (ssize_t)strlen(place.name) > PATH_BYTES_MAX)
		return false;
	if (*place.name)
		snprintf(text + n, 2 * PATH_MAX - (size_t)n, "%s%s", n > 1 ? "/" : "", place.name);
	return true;
}

/* Would the caller's own permissions allow it? Asked on the host, where nothing is
 * covered. */
static bool would_work(enum observed what, const char *path)
{
	char parent[PATH_MAX];
	struct str up = path_parent(str_of(path));
	struct stat st;
	bool there = lstat(path, &st) == 0;

	if (there && what == OBSERVED_MAKE)
		return false;
	if (there && what == OBSERVED_OPEN)
		return !S_ISDIR(st.st_mode) && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
	memcpy(parent, up.p, up.n);
	parent[up.n] = '\0';
	return faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS) == 0;
}

bool observe_write(struct observer *o, const struct target *target, enum observed what, int dirfd,
		   const char *path, bool follow, char text[2 * PATH_MAX], struct str *ret_object,
		   struct decision *ret)
{
	if (is_ordinary(o, target, dirfd, path) || !where(target, dirfd, path, follow, text))
		return false;
	*ret_object = str_of(text);
	if (!path_is_normal(*ret_object) ||
	    policy_allows(o->policy, POLICY_WRITE, *ret_object, ret))
		return false;
	/* The sandbox's own devices and processes are nobody's files. */
	if (path_below(*ret_object, STR("/proc")) || path_below(*ret_object, STR("/dev")) ||
	    path_below(*ret_object, STR("/sys")))
		return false;
	return would_work(what, text);
}
