/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that close something hold for the other paths that mounts give it, too (H31). */
#include "base/path.h"
#include "policy/build_in.h"

static bool closes(const struct rule *rule)
{
	return rule->kind != RULE_GLOB && !(rule->flags & RULE_VIA_LINK) &&
	       (rule->right == RIGHT_DENY || rule->flags & (RULE_CONTROL | RULE_CAP));
}

static int add_alias(struct builder *b, struct ruleset *set, struct rule rule, struct str path)
{
	struct str real;
	int r;

	/* Who works in there said so. */
	if (str_eq(path, b->policy->places.workdir))
		return 0;
	r = b->in->world->resolve(b->in->world, b->arena, path, &real, &rule.node, b->err);
	if (r < 0)
		return r;
	rule.path = real;
	rule.flags |= RULE_ALIAS | RULE_OPTIONAL;
	return ruleset_add(set, &rule, b->err);
}

static int add_aliases(struct builder *b, struct ruleset *set)
{
	const struct world *world = b->in->world;
	size_t count = set ? ruleset_count(set) : 0;

	for (size_t i = 0; i < count; i++) {
		/* A copy: adding rules moves them. */
		struct rule rule = *ruleset_at(set, i);
		struct world_paths paths = { 0 };
		int r = 0;

		if (closes(&rule))
			r = world->aliases(world, b->arena, rule.path, &paths, b->err);
		vec_each(path, &paths.at)
			if (r == 0)
				r = add_alias(b, set, rule, *path);
		if (r < 0)
			return r;
	}
	return 0;
}

int build_aliases(struct builder *b)
{
	int r;

	if (!b->in->world->aliases)
		return 0;
	r = add_aliases(b, b->policy->trusted.rules);
	vec_each(o, &b->policy->narrowing)
		if (r == 0)
			r = add_aliases(b, (*o)->settings.rules);
	return r < 0 ? r : add_aliases(b, b->policy->own);
}
