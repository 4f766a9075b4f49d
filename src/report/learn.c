/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals to rules. */
#include "report/learn.h"

#include <stdlib.h>

#include "base/path.h"
#include "policy/sets.h"
#include "report/changes.h"

#define stage "learn"

static bool is_path_key(enum key key)
{
	return key == KEY_READ || key == KEY_WRITE || key == KEY_EXEC;
}

/* Everything of the machine or of a user lies in it. */
static bool is_broad(struct str place, const struct places *places)
{
	for (size_t i = 0; i < places->other_home_count; i++)
		if (path_below(places->other_homes[i], place))
			return true;
	return path_depth(place) < 2 || path_below(places->home, place) ||
	       (places->own_home.n && path_below(places->own_home, place)) ||
	       (path_below(places->workdir, place) && !str_eq(places->workdir, place));
}

bool learn_is_system(struct str place)
{
	static const struct str trees[] = {
		STR("/usr"),   STR("/etc"),   STR("/bin"),    STR("/sbin"), STR("/lib"),
		STR("/lib32"), STR("/lib64"), STR("/libx32"), STR("/boot"),
	};

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (path_below(place, trees[i]))
			return true;
	return false;
}

const char *learn_unfit(enum key key, struct str place, const struct places *places)
{
	if (!is_path_key(key))
		return NULL;
	if (key == KEY_WRITE && learn_is_system(place))
		return "a system's file decides what everybody runs";
	if (is_broad(place, places))
		return "the rule would have to open everything there; make a directory for it "
		       "first, and learn again";
	if (key == KEY_WRITE && str_eq(path_last(place), STR(".git")))
		return "hooks and configuration of that repository would be open; use -C there";
	if (key == KEY_WRITE && !path_below(place, places->workdir) &&
	    (later_run_by(place) ||
	     path_set_holds(&path_sets[PATH_SET_TOOLCHAINS], places->home, place)))
		return "it is executed later, outside";
	return NULL;
}

/* --- rules ------------------------------------------------------------------------------ */

static bool covers(const struct learn_rule *rule, enum key key, struct str place)
{
	bool grants = rule->key == key || (rule->key == KEY_WRITE && key == KEY_READ);

	if (!grants)
		return false;
	return is_path_key(key) ? path_below(place, rule->place) : str_eq(place, rule->place);
}

bool learn_answers(const struct learn_rule *rule, const struct learn_refusal *refusal)
{
	return covers(rule, refusal->key, refusal->place);
}

static int leave_out(struct arena *a, struct learned *l, const struct learn_refusal *r,
		     const char *why, struct cordon_error *err)
{
	struct learn_refusal *slot;

	vec_each(known, &l->left_out)
		if (known->key == r->key && str_eq(known->object, r->object))
			return 0;
	slot = vec_push(&l->left_out, a);
	if (!slot)
		return err_nomem(err, stage);
	*slot = *r;
	slot->left_out = why;
	return 0;
}

static int add(struct arena *a, struct learned *l, const struct learn_refusal *r,
	       struct cordon_error *err)
{
	struct learn_rule *slot;

	vec_each(rule, &l->rules)
		if (rule->key == r->key && str_eq(rule->place, r->place)) {
			rule->refusals++;
			return 0;
		}
	slot = vec_push(&l->rules, a);
	if (!slot)
		return err_nomem(err, stage);
	*slot = (struct learn_rule){ r->key, r->place, r->program, 1 };
	return 0;
}

static void drop(struct learned *l, const struct learn_rule *rule)
{
	size_t i = (size_t)(rule - l->rules.at);

	l->rules.n--;
	for (; i < l->rules.n; i++)
		l->rules.at[i] = l->rules.at[i + 1];
}

/* --- collapsing --------------------------------------------------------------------------- */

static size_t siblings(const struct learned *l, enum key key, struct str dir)
{
	size_t n = 0;

	vec_each(rule, &l->rules)
		n += rule->key == key && str_eq(path_parent(rule->place), dir);
	return n;
}

/* The first rule becomes that of the directory; what it covers is dropped later. */
static bool collapse_one(struct learned *l, const struct places *places)
{
	vec_each(rule, &l->rules) {
		struct str dir;

		if (!is_path_key(rule->key))
			continue;
		dir = path_parent(rule->place);
		if (learn_unfit(rule->key, dir, places) ||
		    siblings(l, rule->key, dir) < LEARN_SIBLINGS)
			continue;
		rule->place = dir;
		return true;
	}
	return false;
}

/* What another one grants. */
static void drop_covered(struct learned *l)
{
	for (size_t i = 0; i < l->rules.n; i++)
		for (size_t j = 0; j < l->rules.n; j++) {
			const struct learn_rule *one = &l->rules.at[i], *other = &l->rules.at[j];

			if (i == j || !covers(one, other->key, other->place))
				continue;
			l->rules.at[i].refusals += other->refusals;
			drop(l, other);
			i -= j < i;
			j--;
		}
}

static int compare(const void *x, const void *y)
{
	const struct learn_rule *one = x, *other = y;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return str_cmp(one->place, other->place);
}

int learn_rules(struct arena *a, const struct learn_refusal *refusals, size_t n,
		const struct places *places, struct learned *ret, struct cordon_error *err)
{
	struct learned l = { 0 };
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const struct learn_refusal *refusal = &refusals[i];
		const char *why = refusal->left_out;

		if (!why)
			why = learn_unfit(refusal->key, refusal->place, places);
		r = why ? leave_out(a, &l, refusal, why, err) : add(a, &l, refusal, err);
	}
	if (r < 0)
		return r;
	drop_covered(&l);
	while (collapse_one(&l, places))
		drop_covered(&l);
	if (l.rules.n)
		qsort(l.rules.at, l.rules.n, sizeof(*l.rules.at), compare);
	*ret = l;
	return 0;
}
