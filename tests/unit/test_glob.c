/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "fmt/glob.h"

static bool match(const char *pattern, const char *name)
{
	cr_assert_null(glob_component_fault(str_of(pattern)), "%s", pattern);
	return glob_component_match(str_of(pattern), str_of(name));
}

Test(glob, stars_and_marks)
{
	cr_assert(match("*", ""));
	cr_assert(match("*", ".git"));
	cr_assert(match("a*b*c", "axxbyyc"));
	cr_assert(match("a*b*c", "abbc"));
	cr_assert_not(match("a*b*c", "axxbyyd"));
	cr_assert(match("?", "\xff"));
	cr_assert_not(match("?", ""));
	cr_assert_not(match("?", "ab"));
	cr_assert(match("**", "x"));
	cr_assert_not(match("", "x"));
	cr_assert(match("", ""));
}

Test(glob, brackets)
{
	cr_assert(match("[abc]", "b"));
	cr_assert_not(match("[abc]", "d"));
	cr_assert(match("[!abc]", "d"));
	cr_assert(match("[^abc]", "d"));
	cr_assert(match("[]]", "]"));
	cr_assert(match("[!]]", "x"));
	cr_assert_not(match("[!]]", "]"));
	cr_assert(match("[a-]", "-"));
	cr_assert(match("[-a]", "-"));
	cr_assert(match("[\\]a]", "]"));
	cr_assert(match("[a\\-z]", "-"));
	cr_assert_not(match("[a\\-z]", "m"));
	cr_assert(match("[\x80-\xff]", "\xc3"));
	cr_assert_not(match("[z-a]", "m"));
	cr_assert_not(match("[a]", ""));
}

Test(glob, quoting)
{
	cr_assert(match("\\*", "*"));
	cr_assert_not(match("\\*", "x"));
	cr_assert(match("a\\?*", "a?b"));
	cr_assert_not(glob_has_magic(STR("a\\*\\?\\[")));
	cr_assert(glob_has_magic(STR("\\\\*")));
	cr_assert_not(glob_has_magic(STR("a]b{c}")));
}

Test(glob, faults)
{
	cr_assert_str_eq(glob_component_fault(STR("a[b")), "a '[' without its ']'");
	cr_assert_str_eq(glob_component_fault(STR("[]")), "a '[' without its ']'");
	cr_assert_str_eq(glob_component_fault(STR("[!]")), "a '[' without its ']'");
	cr_assert_str_eq(glob_component_fault(STR("[a\\]")), "a '[' without its ']'");
	cr_assert_str_eq(glob_component_fault(STR("a\\")), "a backslash with nothing after it");
	cr_assert_null(glob_component_fault(STR("a]")));
}

Test(glob, quote_and_unquote)
{
	autobuf struct buf b;
	autobuf struct buf c;

	buf_init(&b, 100);
	buf_init(&c, 100);
	glob_quote(&b, STR("a*?[\\]"));
	cr_assert_str_eq(b.p, "a\\*\\?\\[\\\\]");
	glob_unquote(&c, buf_str(&b));
	cr_assert_str_eq(c.p, "a*?[\\]");
}

/* Exponential backtracking would not come back from this one. */
Test(glob, hostile_pattern_is_cheap, .timeout = 10)
{
	static char pattern[3000], name[3000];

	for (size_t i = 0; i + 2 < sizeof(pattern); i += 2) {
		pattern[i] = '*';
		pattern[i + 1] = 'a';
	}
	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = 'a';
	name[sizeof(name) - 2] = 'b';
	cr_assert_not(match(pattern, name));
}
