/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which directories compare names folded (DESIGN 4, "Paths"): asked of the world where
 * rules stand, once, when the policy is built. Everything below one counts as folding.
 */
#include "base/path.h"
#include "fmt/glob.h"
#include "policy/build_in.h"

static bool is_below_one(const struct policy *p, struct str dir)
{
	vec_each(top, &p->folding)
		if (path_below(dir, *top))
			return true;
	return false;
}

static int ask(struct builder *b, struct str dir)
{
	const struct world *world = b->in->world;
	struct policy *p = b->policy;
	struct str top, *slot;

	if (is_below_one(p, dir) || !world->folds(world, b->arena, dir, &top))
		return 0;
	slot = vec_push(&p->folding, b->arena);
	if (!slot)
		return err_nomem(b->err, "policy");
	*slot = top;
	return 0;
}

/* Where the first name is looked up that the rule could mean. */
static struct str first_looked_in(const struct rule *rule)
{
	struct str rest = rule->path, part;
	size_t end = 0;

	if (rule->kind != RULE_GLOB)
		return path_parent(rule->path);
	/* A quoted name is seldom, and the directory above it asked for instead. */
	while (path_next(&rest, &part) && !glob_has_magic(part) && str_find(part, '\\') == part.n)
		end = (size_t)(part.p + part.n - rule->path.p);
	return end ? str_take(rule->path, end) : STR("/");
}

static int ask_rules(struct builder *b, const struct ruleset *rules)
{
	struct str last = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ruleset_count(rules); i++) {
		struct str place = first_looked_in(ruleset_at(rules, i));

		if (str_eq(place, last))
			continue;
		last = place;
		r = ask(b, place);
	}
	return r;
}

int build_folding(struct builder *b)
{
	struct policy *p = b->policy;
	int r;

	if (!b->in->world->folds)
		return 0;
	r = ask(b, p->places.workdir);
	if (r == 0)
		r = ask_rules(b, p->trusted.rules);
	vec_each(o, &p->narrowing)
		if (r == 0)
			r = ask_rules(b, (*o)->settings.rules);
	return r < 0 ? r : ask_rules(b, p->own);
}
