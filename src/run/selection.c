/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are guarded, as texts. */
#include "run/selection.h"

#include "base/path.h"

#define stage "guard"

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

static bool add_path(struct arena *a, const struct plan *plan, struct selection *s,
		     const struct op *op)
{
	size_t skip = writable_depth(plan, op->path);
	struct str rest = op->path, part;

	for (size_t i = 0; path_next(&rest, &part); i++)
		if (i >= skip && !map_put(&s->names, a, part, op))
			return false;
	return map_put(&s->whole, a, path_last(op->path), op);
}

/* Something that exists and is protected inside a writable tree, where only mounts or a broker
 * hold that: what is done to it can be anywhere, too. */
static bool is_unheld(const struct plan *plan, const struct op *op)
{
	return op->lost && !op->twin &&
	       (op->kind == OP_BIND_RO || op->kind == OP_HIDE_FILE || op->kind == OP_HIDE_DIR) &&
	       (!plan->policy || policy_number(plan->policy, KEY_PROTECT) != PROTECT_OFF) &&
	       plan_is_in_writable(plan, op->path);
}

int selection_from_plan(struct arena *a, const struct plan *plan, struct selection *ret,
			struct cordon_error *err)
{
	struct selection s = { .every = plan->policy && plan->policy->folding.n };

	vec_each(op, &plan->ops) {
		if (op->kind == OP_GUARD_GLOB || op->kind == OP_GUARD_HIDDEN)
			s.every = true;
		if (is_unheld(plan, op))
			s.every = s.unheld = true;
		if (op->kind == OP_GUARD_NAME && !add_path(a, plan, &s, op))
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

/* Is it below something that is called like a guarded name? */
static bool leads_through(const struct selection *s, struct str path)
{
	struct str part;

	while (path.n) {
		str_cut(path, '/', &part, &path);
		if (map_get(&s->whole, part))
			return true;
	}
	return false;
}

bool selection_has(const struct selection *s, struct str path)
{
	struct str name = last_component(path);

	if (!name.n || str_eq(name, STR(".")) || str_eq(name, STR("..")))
		return false;
	return s->every || map_get(&s->names, name) || leads_through(s, path);
}
