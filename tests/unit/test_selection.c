/* SPDX-License-Identifier: Apache-2.0 */
/* Which names the guard looks at. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "run/selection.h"

static struct arena arena;
static struct plan plan;
static struct selection selection;

static void start(void)
{
	arena_init(&arena, 1 << 20);
	plan = (struct plan){ 0 };
}

static void stop(void)
{
	arena_free(&arena);
}

TestSuite(selection, .init = start, .fini = stop);

static void op(enum op_kind kind, const char *path)
{
	struct op *o = vec_push(&plan.ops, &arena);

	cr_assert_not_null(o);
	o->kind = kind;
	o->path = str_of(path);
}

static void select_now(void)
{
	struct cordon_error err;

	cr_assert_eq(selection_from_plan(&arena, &plan, &selection, &err), 0);
}

static bool has(const char *path)
{
	return selection_has(&selection, str_of(path));
}

Test(selection, goes_by_the_last_component)
{
	op(OP_BIND_RW, "/w");
	op(OP_GUARD_NAME, "/w/.claude");
	select_now();
	cr_assert(has(".claude"));
	cr_assert(has("/any/where/.claude"));
	cr_assert(has("x/../.claude///"));
	cr_assert_not(has(".claud"));
	cr_assert_not(has(".claudee"));
	cr_assert_not(has("w"));
}

Test(selection, has_the_directories_that_lead_to_a_name)
{
	op(OP_BIND_RW, "/w");
	op(OP_BIND_RW, "/w/.git");
	op(OP_GUARD_NAME, "/w/.git/info/attributes");
	select_now();
	/* From the outermost tree down: an inner mount may be missing elsewhere. */
	cr_assert(has(".git"));
	cr_assert(has("info"));
	cr_assert(has("attributes"));
	cr_assert_not(has("w"));
}

/* Somebody may make it on the host meanwhile. */
Test(selection, has_what_lies_below_a_guarded_name)
{
	op(OP_BIND_RW, "/w");
	op(OP_GUARD_NAME, "/w/.git/hooks");
	select_now();
	cr_assert(has("hooks/x"));
	cr_assert(has("/a/.git/hooks/b/c"));
	/* A directory that only leads to one is no reason. */
	cr_assert_not(has(".git/x"));
	cr_assert_not(has(".git/objects/12/34"));
	cr_assert_not(has("hooks/.."));
}

Test(selection, takes_all_where_names_fold)
{
	static struct policy policy;

	policy = (struct policy){ 0 };
	*vec_push(&policy.folding, &arena) = STR("/w");
	plan.policy = &policy;
	op(OP_BIND_RW, "/w");
	op(OP_GUARD_NAME, "/w/.claude");
	select_now();
	cr_assert(has(".CLAUDE"));
}

Test(selection, never_takes_what_makes_nothing)
{
	op(OP_BIND_RW, "/w");
	op(OP_GUARD_HIDDEN, "/w");
	select_now();
	cr_assert(has("x"));
	cr_assert_not(has(""));
	cr_assert_not(has("/"));
	cr_assert_not(has("x/."));
	cr_assert_not(has("x/.."));
	cr_assert_not(has("../"));
}

Test(selection, is_empty_without_guarded_names)
{
	op(OP_BIND_RW, "/w");
	select_now();
	cr_assert_not(has("x"));
}

Test(selection, holds_many)
{
	static char names[500][32];

	op(OP_BIND_RW, "/w");
	for (int i = 0; i < 500; i++) {
		snprintf(names[i], sizeof(names[i]), "/w/name%d", i);
		op(OP_GUARD_NAME, names[i]);
	}
	select_now();
	for (int i = 0; i < 500; i++)
		cr_assert(has(names[i]));
	cr_assert_not(has("name500"));
}

Test(selection, takes_all_where_what_exists_is_not_held)
{
	op(OP_BIND_RW, "/w");
	op(OP_BIND_RO, "/w/.git/hooks");
	select_now();
	cr_assert_not(has("pre-commit"));
	plan.ops.at[1].lost = true;
	select_now();
	cr_assert(has("pre-commit"));
	cr_assert(selection.unheld);
}
