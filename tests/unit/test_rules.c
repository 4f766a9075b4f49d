/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/rules.h"

#define ARENA_MAX ((size_t)256 << 20)

static struct arena a;
static struct ruleset *set;

static void setup(void)
{
	arena_init(&a, ARENA_MAX);
	set = ruleset_new(&a);
	cr_assert_not_null(set);
}

static void teardown(void)
{
	arena_free(&a);
}

TestSuite(rules, .init = setup, .fini = teardown);

static int add_rule(enum right right, enum rule_kind kind, const char *path, enum source source,
		    struct cordon_error *err)
{
	struct rule rule = { .right = right,
			     .kind = kind,
			     .path = str_of(path),
			     .spelled = str_of(path),
			     .origin = { source, "test", 0, 0 } };

	return ruleset_add(set, &rule, err);
}

static void add(enum right right, enum rule_kind kind, const char *path)
{
	struct cordon_error err;

	cr_assert_eq(add_rule(right, kind, path, SOURCE_USER, &err), 0);
}

static struct match match(const char *object)
{
	struct match m;

	ruleset_match(set, str_of(object), &m);
	return m;
}

Test(rules, empty_set_matches_nothing)
{
	struct match m = match("/a/b");

	cr_assert_null(m.data.rule);
	cr_assert_null(m.exec.rule);
	cr_assert_not(m.restricted_below);
	cr_assert_null(match("/").data.rule);
}

Test(rules, the_root)
{
	add(RIGHT_READ, RULE_SUBTREE, "/");
	cr_assert_eq(match("/").data.depth, 0);
	cr_assert_not_null(match("/x/y").data.rule);
}

Test(rules, depth_of_each_kind)
{
	add(RIGHT_READ, RULE_SUBTREE, "/a/b");
	add(RIGHT_WRITE, RULE_EXACT, "/a/b/c");
	add(RIGHT_DENY, RULE_GLOB, "/a/**/d");
	cr_assert_eq(match("/a/b/x").data.depth, 2);
	cr_assert_eq(match("/a/b/c").data.depth, 3);
	cr_assert_eq(match("/a/b/c/x").data.depth, 2);
	cr_assert_eq(match("/a/b/c/d/e/d").data.depth, 4);
	cr_assert_eq(match("/a/d").data.rule->right, RIGHT_DENY);
}

Test(rules, ties)
{
	struct cordon_error err;

	add(RIGHT_WRITE, RULE_SUBTREE, "/t");
	add(RIGHT_DENY, RULE_GLOB, "/[t]");
	add(RIGHT_READ, RULE_SUBTREE, "/t");
	cr_assert_eq(match("/t").data.rule->right, RIGHT_DENY);
	cr_assert_eq(add_rule(RIGHT_WRITE, RULE_SUBTREE, "/t", SOURCE_SYSTEM, &err), 0);
	cr_assert_eq(match("/t").data.rule->right, RIGHT_DENY);
	cr_assert_eq(add_rule(RIGHT_WRITE, RULE_SUBTREE, "/t", SOURCE_FLAGS, &err), 0);
	cr_assert_eq(match("/t").data.rule->right, RIGHT_WRITE);
}

Test(rules, secret_and_openers)
{
	struct rule secret = { .right = RIGHT_DENY,
			       .flags = RULE_SECRET,
			       .path = STR("/s"),
			       .spelled = STR("/s"),
			       .origin = { SOURCE_PROFILE, "t", 0, 0 } };
	struct cordon_error err;
	struct match m;

	cr_assert_eq(ruleset_add(set, &secret, &err), 0);
	cr_assert_eq(add_rule(RIGHT_READ, RULE_SUBTREE, "/s/a", SOURCE_SYSTEM, &err), 0);
	add(RIGHT_EXEC, RULE_SUBTREE, "/s/a");
	m = match("/s/a/x");
	cr_assert_eq(m.secret.depth, 1);
	cr_assert_null(m.opener.rule);
	cr_assert_eq(m.exec_opener.depth, 2);
	add(RIGHT_WRITE, RULE_SUBTREE, "/s");
	cr_assert_eq(match("/s/a/x").opener.depth, 1);
}

Test(rules, restricted_below)
{
	add(RIGHT_DENY, RULE_SUBTREE, "/a/b/c");
	add(RIGHT_WRITE, RULE_SUBTREE, "/w/x/y");
	add(RIGHT_READ, RULE_GLOB, "/g/*/k/l");
	cr_assert(match("/a").restricted_below);
	cr_assert(match("/a/b").restricted_below);
	cr_assert_not(match("/a/b/c").restricted_below);
	cr_assert_not(match("/a/x").restricted_below);
	cr_assert_not(match("/w/x").restricted_below);
	cr_assert(match("/g").restricted_below);
	cr_assert_not(match("/g/any").restricted_below, "a pattern names no directory");
	cr_assert(match("/g/any/k").restricted_below);
	cr_assert(match("/").restricted_below);
}

Test(rules, limits_are_errors)
{
	struct cordon_error err = { 0 };
	int r = 0;

	for (int i = 0; i < RULES_MAX; i++)
		add(RIGHT_READ, RULE_SUBTREE, arena_printf(&a, "/d%d", i));
	cr_assert_eq(ruleset_count(set), RULES_MAX);
	r = add_rule(RIGHT_READ, RULE_SUBTREE, "/more", SOURCE_USER, &err);
	cr_assert_eq(r, -CORDON_E_LIMIT);
	cr_assert_str_eq(err.message, "more than 20000 rules");
}

Test(rules, too_many_globs)
{
	struct cordon_error err = { 0 };
	int r = 0, i = 0;

	for (; i <= GLOB_STATES_MAX && r == 0; i++)
		r = add_rule(RIGHT_DENY, RULE_GLOB, arena_printf(&a, "/*%d", i), SOURCE_USER, &err);
	cr_assert_eq(r, -CORDON_E_LIMIT);
	cr_assert_eq(i, GLOB_STATES_MAX + 1);
	cr_assert_str_eq(err.message, "glob '/*512': the globs of one policy have more than 512 "
				      "parts together");
}

/* As many globs as there may be, all on one node, and then a plain rule. */
Test(rules, plain_rule_after_the_last_glob)
{
	struct cordon_error err = { 0 };

	for (int i = 0; i < GLOB_STATES_MAX; i++)
		add(RIGHT_READ, RULE_GLOB, "/a*");
	add(RIGHT_DENY, RULE_SUBTREE, "/ab");
	cr_assert_eq(add_rule(RIGHT_READ, RULE_GLOB, "/a*", SOURCE_USER, &err), -CORDON_E_LIMIT);
	cr_assert_eq(match("/ab/c").data.rule->right, RIGHT_DENY);
}

/* All states alive on every component of a long object. */
Test(rules, worst_case_stays_cheap, .timeout = 20)
{
	autobuf struct buf b;

	buf_init(&b, 8192);
	for (int i = 0; i < GLOB_STATES_MAX / 2 - 1; i++)
		buf_adds(&b, "/**/a");
	add(RIGHT_DENY, RULE_GLOB, arena_dup(&a, buf_str(&b)));
	buf_clear(&b);
	for (int i = 0; i < 2000; i++)
		buf_adds(&b, "/a");
	for (int i = 0; i < 20; i++)
		cr_assert_eq(match(b.p).data.depth, GLOB_STATES_MAX / 2 - 1);
}

Test(rules, thousands_of_siblings_are_found)
{
	for (int i = 0; i < 5000; i++)
		add(i % 2 ? RIGHT_READ : RIGHT_DENY, RULE_SUBTREE,
		    arena_printf(&a, "/p%d/q%d", i % 70, i));
	for (int i = 0; i < 5000; i++) {
		struct match m = match(arena_printf(&a, "/p%d/q%d/r", i % 70, i));

		cr_assert_eq(m.data.rule->right, i % 2 ? RIGHT_READ : RIGHT_DENY);
	}
	cr_assert_null(match("/p1/q0").data.rule);
}

Test(rules, names_of_enums)
{
	cr_assert_str_eq(right_to_string(RIGHT_EXEC), "exec");
	cr_assert_str_eq(access_to_string(ACCESS_WRITE), "write");
	for (enum source s = SOURCE_PROFILE; s <= SOURCE_CORDON; s++)
		cr_assert_not_null(source_to_string(s));
}

Test(rules, errors_say_where)
{
	struct origin file = { SOURCE_USER, "dir/\x1b.toml", 3, 7 };
	struct origin flag = { SOURCE_FLAGS, "--deny", 0, 0 };
	struct cordon_error err;

	cr_assert_eq(origin_error(&err, CORDON_E_PATH, "s", &file, "bad %d", 1), -CORDON_E_PATH);
	cr_assert_str_eq(err.message, "dir/\\x1b.toml:3:7: bad 1");
	origin_error(&err, CORDON_E_PATH, "s", &flag, "bad");
	cr_assert_str_eq(err.message, "--deny: bad");
	err_set(&err, CORDON_E_IO, 2, "read", "x");
	err_hint(&err, "try y");
	cr_assert_eq(origin_wrap(&err, &file), -CORDON_E_IO);
	cr_assert_eq(err.sys_errno, 2);
	cr_assert_str_eq(err.hint, "try y");
	cr_assert_str_eq(err.message, "dir/\\x1b.toml:3:7: x: No such file or directory");
}
