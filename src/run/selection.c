/* SPDX-License-Identifier: Apache-2.0 */
/* The table of guarded names. */
#include "run/selection.h"

#include "base/path.h"

#define stage "guard"

static uint64_t hash(struct str name)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ (uint8_t)name.p[i]) * 1099511628211u;
	return h ^ h >> 29;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct str *slot(const struct selection *s, struct str name)
{
	size_t i = hash(name) & (s->size - 1);

	while (s->table[i].n && !str_eq(s->table[i], name))
		i = (i + 1) & (s->size - 1);
	return &s->table[i];
}

static bool make_room(struct arena *a, struct selection *s)
{
	struct selection bigger = { .every = s->every, .size = s->size ? 2 * s->size : 64 };

	if (2 * s->used < s->size)
		return true;
	bigger.table = arena_array(a, bigger.size, sizeof(*bigger.table));
	if (!bigger.table)
		return false;
	for (size_t i = 0; i < s->size; i++)
		if (s->table[i].n)
			*slot(&bigger, s->table[i]) = s->table[i];
	bigger.used = s->used;
	*s = bigger;
	return true;
}

static bool add(struct arena *a, struct selection *s, struct str name)
{
	struct str *at;

	if (!make_room(a, s))
		return false;
	at = slot(s, name);
	s->used += !at->n;
	*at = name;
	return true;
}

/* The outermost tree around the path that the command may write: what is above it the
 * command cannot move. */
static size_t writable_depth(const struct plan *plan, struct str path)
{
	size_t least = path_depth(path);

	vec_each(op, &plan->ops)
		if (op_view_of(op) == VIEW_WRITE && path_below(path, op->path) &&
		    path_depth(op->path) < least)
			least = path_depth(op->path);
	return least;
}

static bool add_path(struct arena *a, const struct plan *plan, struct selection *s, struct str path)
{
	size_t skip = writable_depth(plan, path);
	struct str rest = path, part;

	for (size_t i = 0; path_next(&rest, &part); i++)
		if (i >= skip && !add(a, s, part))
			return false;
	return true;
}

int selection_from_plan(struct arena *a, const struct plan *plan, struct selection *ret,
			struct cordon_error *err)
{
	struct selection s = { 0 };

	vec_each(op, &plan->ops) {
		if (op->kind == OP_GUARD_GLOB || op->kind == OP_GUARD_HIDDEN)
			s.every = true;
		if (op->kind == OP_GUARD_NAME && !add_path(a, plan, &s, op->path))
			return err_nomem(err, stage);
	}
	*ret = s;
	return 0;
}

static struct str last_component(struct str path)
{
	size_t end = path.n, start;

	while (end && path.p[end - 1] == '/')
		end--;
	for (start = end; start && path.p[start - 1] != '/'; start--)
		;
	return (struct str){ path.p + start, end - start };
}

bool selection_has(const struct selection *s, struct str path)
{
	struct str name = last_component(path);

	if (!name.n || str_eq(name, STR(".")) || str_eq(name, STR("..")))
		return false;
	return s->every || (s->size && slot(s, name)->n);
}
