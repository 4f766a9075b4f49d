/* SPDX-License-Identifier: Apache-2.0 */
/* policy/amend: lists of a profile grow, and nothing else moves. */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/amend.h"
#include "policy/config.h"

static struct arena a;
static struct buf b;

static void setup(void)
{
	arena_init(&a, (size_t)64 << 20);
	buf_init(&b, 1 << 20);
}

static void teardown(void)
{
	arena_free(&a);
	buf_free(&b);
}

TestSuite(amend, .init = setup, .fini = teardown);

static const struct amendment items[] = {
	{ KEY_READ, "/r", NULL },
	{ KEY_WRITE, "~/w", "git" },
};

static int amend(const char *text, const struct amendment *list, size_t n, struct cordon_error *err)
{
	memset(err, 0, sizeof(*err));
	buf_clear(&b);
	return config_amend(&a, str_of(text), "f.toml", "p", "moderate", list, n, &b, err);
}

static void becomes(const char *text, const char *wanted)
{
	struct cordon_error err;

	cr_assert_eq(amend(text, items, 2, &err), 0, "%s", err.message);
	cr_assert_str_eq(b.p, wanted, "%s", b.p);
}

static void refused(const char *text, const char *message)
{
	struct cordon_error err;

	cr_assert_lt(amend(text, items, 2, &err), 0, "accepted: %s", text);
	cr_assert_str_eq(err.message, message, "%s", err.message);
	cr_assert_eq(b.n, 0);
}

#define FRESH \
	"[sandbox.profiles.p]\nextends = \"moderate\"\nread = [\n\t\"/r\",\n]\nwrite = [\n" \
	"\t\"~/w\", # git\n]\n"

Test(amend, a_profile_that_is_not_there_is_put_at_the_end)
{
	becomes("", FRESH);
	becomes("# mine\n[sandbox]\nreport = \"all\" # all of it\n",
		"# mine\n[sandbox]\nreport = \"all\" # all of it\n\n" FRESH);
	becomes("# no line break", "# no line break\n\n" FRESH);
	becomes("[sandbox.profiles.q]\nextends = \"p\"\n[sandbox.profiles.q.limits]\nprocs = 3\n",
		"[sandbox.profiles.q]\nextends = \"p\"\n[sandbox.profiles.q.limits]\nprocs = 3\n"
		"\n" FRESH);
}

Test(amend, lists_grow_in_their_own_manner)
{
	becomes("[sandbox.profiles.p]\nextends = \"moderate\" # e\nread = [\"/a\"] # r\n"
		"write = [ # first\n  \"/b\", # why\n  # and\n]\n# end\n",
		"[sandbox.profiles.p]\nextends = \"moderate\" # e\nread = [\"/r\", \"/a\"] # r\n"
		"write = [\n\t\"~/w\", # git # first\n  \"/b\", # why\n  # and\n]\n# end\n");
	becomes("[sandbox.profiles.p]\nextends = \"moderate\"\nread = []\nwrite = [\n]\n",
		"[sandbox.profiles.p]\nextends = \"moderate\"\nread = [\"/r\"]\nwrite = [\n"
		"\t\"~/w\", # git\n]\n");
	becomes("[sandbox.profiles.p]\nextends = \"moderate\"\n\"read\" = [ \"/\xc3\xa9[x\" ]\n"
		"'write' = [\t\"/b\"]",
		"[sandbox.profiles.p]\nextends = \"moderate\"\n"
		"\"read\" = [\"/r\",  \"/\xc3\xa9[x\" ]\n"
		"'write' = [\"~/w\", \t\"/b\"]");
}

Test(amend, a_list_that_is_missing_comes_below_the_header)
{
	becomes("[sandbox.profiles.p] # head\nextends = \"moderate\"\nread = [\"/r\"]\n",
		"[sandbox.profiles.p] # head\nwrite = [\n\t\"~/w\", # git\n]\n"
		"extends = \"moderate\"\nread = [\"/r\"]\n");
}

Test(amend, an_old_name_of_the_key_is_used)
{
	becomes("[sandbox.profiles.p]\nextends = \"moderate\"\nreadonly_paths = [\"/a\"]\n"
		"writable_paths = [\"/b\"]\n",
		"[sandbox.profiles.p]\nextends = \"moderate\"\nreadonly_paths = [\"/r\", \"/a\"]\n"
		"writable_paths = [\"~/w\", \"/b\"]\n");
}

Test(amend, what_is_there_is_not_put_twice)
{
	static const char text[] = "[sandbox.profiles.p]\nextends = \"moderate\"\n"
				   "read = [\"/r\"]\nwrite = ['~/w']\n";

	becomes(text, text);
	becomes(FRESH, FRESH);
}

Test(amend, characters_of_several_bytes_before_the_list)
{
	becomes("[sandbox.profiles.p]\nextends = \"moderate\"\nread = [\"/r\"]\n"
		"write = [\"/\xe2\x82\xac\"]\n# \xe2\x82\xac\n",
		"[sandbox.profiles.p]\nextends = \"moderate\"\nread = [\"/r\"]\n"
		"write = [\"~/w\", \"/\xe2\x82\xac\"]\n# \xe2\x82\xac\n");
}

Test(amend, other_forms_are_refused)
{
	refused("[sandbox]\nprofiles.p.extends = \"moderate\"\n",
		"f.toml:2:10: the profile is not written as [sandbox.profiles.NAME]");
	refused("[sandbox.profiles]\np = { extends = \"moderate\" }\n",
		"f.toml:2:5: the profile is not written as [sandbox.profiles.NAME]");
	refused("[sandbox.profiles.p]\nextends = \"strict\"\n",
		"f.toml:1:19: the profile there starts from another one than this was learned on");
	refused("[sandbox.profiles.p]\nread = [\"/a\"]\n",
		"f.toml:1:19: the profile there starts from another one than this was learned on");
	refused("[sandbox]\nprofiles = { q = { extends = \"p\" } }\n",
		"f.toml:4:10: 'profiles' cannot be extended here: it is an inline table; first "
		"defined at line 2");
}

Test(amend, a_file_that_is_wrong_is_refused)
{
	refused("[sandbox\n",
		"f.toml:1:9: expected . or ] in a table header, found the end of the line");
	refused("[sandbox]\nreports = \"all\"\n", "f.toml:2:1: unknown key 'reports'");
}

Test(amend, a_header_of_a_part_is_not_taken_for_the_profile)
{
	becomes("[sandbox.profiles.p.limits]\nprocs = 3\n[sandbox.profiles.p]\n"
		"extends = \"moderate\"\nread = [\"/r\"]\n",
		"[sandbox.profiles.p.limits]\nprocs = 3\n[sandbox.profiles.p]\n"
		"write = [\n\t\"~/w\", # git\n]\nextends = \"moderate\"\nread = [\"/r\"]\n");
}

Test(amend, nothing_to_add_changes_nothing)
{
	struct cordon_error err;

	cr_assert_eq(amend("# x\n" FRESH, NULL, 0, &err), 0);
	cr_assert_str_eq(b.p, "# x\n" FRESH);
}

Test(amend, names_and_texts_are_quoted)
{
	static const struct amendment odd[] = { { KEY_READ, "/a\"b\n", NULL } };
	struct cordon_error err;
	struct config config;

	buf_clear(&b);
	cr_assert_eq(config_amend(&a, STR(""), "f", "a.b c", "moderate", odd, 1, &b, &err), 0, "%s",
		     err.message);
	cr_assert_eq(config_parse(&a, buf_str(&b), "f", SOURCE_USER, &config, &err), 0);
	cr_assert_eq(config.profiles.n, 1);
	cr_assert(str_eq(config.profiles.at[0].name, STR("a.b c")));
}
