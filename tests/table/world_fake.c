/* SPDX-License-Identifier: Apache-2.0 */
/* The fake file system: follows symlinks in the list and reports what it finds. */
#include "world_fake.h"

#include <errno.h>

#include "base/path.h"

#define LINKS_MAX 40

static const struct fake_entry *find(const struct fake_world *fake, struct str path)
{
	vec_each(e, &fake->entries)
		if (str_eq(e->path, path))
			return e;
	return NULL;
}

static enum node_type type_of(const struct fake_world *fake, struct str path)
{
	const struct fake_entry *e = find(fake, path);

	if (e)
		return e->type;
	vec_each(below, &fake->entries)
		if (path_below(below->path, path))
			return NODE_DIR;
	return NODE_ABSENT;
}

static uint64_t inode_of(struct str path)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < path.n; i++)
		h = (h ^ (unsigned char)path.p[i]) * 1099511628211u;
	return h;
}

/* The first prefix of path that is a symlink or closed; its end in *ret_end. */
static const struct fake_entry *first_obstacle(const struct fake_world *fake, struct str path,
					       size_t *ret_end)
{
	struct str rest = path, part;

	while (path_next(&rest, &part)) {
		size_t end = (size_t)(part.p + part.n - path.p);
		const struct fake_entry *e = find(fake, str_take(path, end));

		*ret_end = end;
		if (e && (e->type == NODE_SYMLINK || (e->closed && end < path.n)))
			return e;
	}
	return NULL;
}

static int fake_resolve(const struct world *world, struct arena *a, struct str path,
			struct str *ret_real, struct node *ret_node, struct cordon_error *err)
{
	const struct fake_world *fake = world->data;
	struct str now = path;

	for (int links = 0; links < LINKS_MAX; links++) {
		size_t end = 0;
		const struct fake_entry *e = first_obstacle(fake, now, &end);
		const char *next;

		if (!e) {
			*ret_real = now;
			*ret_node = (struct node){ type_of(fake, now), 1, inode_of(now) };
			return 0;
		}
		if (e->closed)
			return err_set(err, CORDON_E_PATH, EACCES, "policy", "%s", e->path.p);
		next = arena_printf(a, "%.*s%.*s", STR_ARG(e->target), STR_ARG(str_skip(now, end)));
		if (next)
			next = path_normalise(a, path_parent(e->path), str_of(next));
		if (!next)
			return err_nomem(err, "policy");
		now = str_of(next);
	}
	return err_set(err, CORDON_E_PATH, ELOOP, "policy", "%s", path.p);
}

static bool fake_folds(const struct world *world, struct arena *a, struct str dir,
		       struct str *ret_top)
{
	const struct fake_world *fake = world->data;
	const struct fake_entry *e;
	bool found = false;

	(void)a;
	while (type_of(fake, dir) != NODE_DIR && dir.n > 1)
		dir = path_parent(dir);
	for (; (e = find(fake, dir)) && e->folds; dir = path_parent(dir)) {
		*ret_top = dir;
		found = true;
		if (dir.n == 1)
			break;
	}
	return found;
}

static enum node_type fake_type(const struct tree *tree, struct str path)
{
	return type_of(tree->data, path);
}

/* The path of what entry i stands for directly in dir; false where an earlier one does too. */
static bool child_of(const struct fake_world *fake, struct str dir, size_t i, struct str *ret)
{
	struct str path = fake->entries.at[i].path, rest, part;

	if (!path_below(path, dir) || str_eq(path, dir))
		return false;
	rest = str_skip(path, dir.n == 1 ? 0 : dir.n);
	path_next(&rest, &part);
	*ret = str_take(path, (size_t)(part.p + part.n - path.p));
	for (size_t k = 0; k < i; k++)
		if (path_below(fake->entries.at[k].path, *ret))
			return false;
	return true;
}

static bool walk_dir(const struct fake_world *fake, struct str top, struct str dir,
		     tree_visit_fn *visit, void *data)
{
	const struct fake_entry *self = find(fake, dir);

	if (self && self->closed)
		return false;
	for (size_t i = 0; i < fake->entries.n; i++) {
		struct str child;
		enum tree_next next;

		if (!child_of(fake, dir, i, &child))
			continue;
		next = visit(data, str_skip(child, top.n == 1 ? 1 : top.n + 1),
			     type_of(fake, child));
		if (next == TREE_STOP || (next == TREE_INTO && type_of(fake, child) == NODE_DIR &&
					  !walk_dir(fake, top, child, visit, data)))
			return false;
	}
	return true;
}

static bool fake_walk(const struct tree *tree, struct str dir, tree_visit_fn *visit, void *data)
{
	return walk_dir(tree->data, dir, dir, visit, data);
}

void fake_world_init(struct fake_world *fake, struct arena *a)
{
	*fake = (struct fake_world){ .arena = a };
	fake->world.resolve = fake_resolve;
	fake->world.folds = fake_folds;
	fake->world.data = fake;
	fake->tree = (struct tree){ fake_type, fake_walk, fake };
}

struct fake_entry *fake_world_add(struct fake_world *fake, struct str path, enum node_type type)
{
	struct fake_entry *e = vec_push(&fake->entries, fake->arena);
	char *copy = arena_dup(fake->arena, path);

	if (!e || !copy)
		return NULL;
	e->path = str_of(copy);
	e->type = type;
	return e;
}
