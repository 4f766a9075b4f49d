/* SPDX-License-Identifier: Apache-2.0 */
/* run/git_edit: which changes of a git configuration go through. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/git_edit.h"

#define CORE "[core]\n\tbare = false\n"
#define ORIGIN "[remote \"origin\"]\n\turl = https://example.com/a.git\n"
#define BASE CORE ORIGIN

static bool harmless(const char *before, const char *after)
{
	struct str added;

	return git_edit_is_harmless(str_of(before), str_of(after), &added);
}

static const char *with(const char *added)
{
	static char text[512];

	snprintf(text, sizeof(text), BASE "%s", added);
	return text;
}

Test(git_edit, what_git_writes_for_branches_and_submodules)
{
	static const char *const added[] = {
		"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
		"[branch \"a/b.c\"]\n\tremote = .\n\tmerge = refs/heads/main\n\trebase = true\n",
		"[submodule \"lib/deep\"]\n\tactive = true\n\turl = ../lib\n",
		"[submodule \"x\"]\n\turl = https://example.com/x.git\n\tupdate = rebase\n",
		"[submodule \"x\"]\n\turl = git@example.com:x.git\n",
		"[branch \"empty\"]\n",
	};

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		cr_assert(harmless(BASE, with(added[i])), "%s", added[i]);
		cr_assert_not(harmless(with(added[i]), BASE), "%s", added[i]);
	}
	cr_assert(harmless(BASE, BASE));
	cr_assert(harmless("", "[branch \"b\"]\n\tremote = .\n"));
}

/* git makes a section by its first setting and adds the others one by one. */
Test(git_edit, the_last_section_goes_on)
{
	static const char begun[] = BASE "[branch \"b\"]\n\tremote = origin\n";
	static const char other[] = BASE "[branch \"b\"]\n\tpushRemote = .\n";

	cr_assert(harmless(begun, BASE "[branch \"b\"]\n\tremote = origin\n"
				       "\tmerge = refs/heads/b\n"));
	cr_assert(harmless(other, BASE "[branch \"b\"]\n\tpushRemote = .\n\trebase = true\n"));
	cr_assert_not(harmless(BASE, BASE "\turl = ../x\n"), "of a remote");
	cr_assert_not(harmless(BASE "[branch \"b\"]\n\t[core]\n",
			       BASE "[branch \"b\"]\n\t[core]\n\trebase = true\n"));
}

#define FOLLOWS "[branch \"b\"]\n\tremote = origin\n"
#define MERGE "\tmerge = refs/heads/b\n"

/* Nothing is written for any of these: what counts is that only those two are known. */
Test(git_edit, what_a_branch_follows_is_unset_and_set_again)
{
	static const struct {
		const char *before, *after;
		enum git_edit_merge wanted;
	} rows[] = {
		{ BASE FOLLOWS MERGE, BASE FOLLOWS, GIT_EDIT_UNSETS },
		{ FOLLOWS MERGE BASE, FOLLOWS BASE, GIT_EDIT_UNSETS },
		{ BASE FOLLOWS MERGE, BASE FOLLOWS MERGE MERGE, GIT_EDIT_REPEATS },
		{ FOLLOWS MERGE BASE, FOLLOWS MERGE MERGE BASE, GIT_EDIT_REPEATS },
		{ FOLLOWS MERGE "\trebase = true\n" BASE,
		  FOLLOWS MERGE "\trebase = true\n" MERGE BASE, GIT_EDIT_REPEATS },
		{ BASE, BASE, GIT_EDIT_OTHER },
		{ "", "", GIT_EDIT_OTHER },
		{ BASE FOLLOWS MERGE, BASE, GIT_EDIT_OTHER },
		{ BASE FOLLOWS, BASE "[branch \"b\"]\n", GIT_EDIT_OTHER },
		{ BASE FOLLOWS MERGE, BASE FOLLOWS MERGE "\tmerge = refs/heads/c\n",
		  GIT_EDIT_OTHER },
		{ BASE FOLLOWS MERGE, BASE FOLLOWS "\tmerge = refs/heads/c\n", GIT_EDIT_OTHER },
		{ BASE FOLLOWS, BASE FOLLOWS MERGE, GIT_EDIT_OTHER },
		{ BASE FOLLOWS MERGE, BASE MERGE FOLLOWS MERGE, GIT_EDIT_OTHER },
		{ BASE FOLLOWS MERGE, CORE FOLLOWS, GIT_EDIT_OTHER },
		{ BASE FOLLOWS MERGE, BASE FOLLOWS "\tmerge = refs/heads/b\r\n", GIT_EDIT_OTHER },
		{ BASE FOLLOWS "\tmerge = !x\n", BASE FOLLOWS, GIT_EDIT_OTHER },
		{ "[alias]\n" MERGE, "[alias]\n", GIT_EDIT_OTHER },
		{ "[alias]\n" MERGE, "[alias]\n" MERGE MERGE, GIT_EDIT_OTHER },
		{ FOLLOWS MERGE "[branch \"c\"]\n", FOLLOWS MERGE "[branch \"c\"]\n" MERGE,
		  GIT_EDIT_OTHER },
		{ BASE FOLLOWS MERGE, BASE FOLLOWS "\tmerge = refs/heads/b\\\n", GIT_EDIT_OTHER },
	};
	size_t line;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(git_edit_merge(str_of(rows[i].before), str_of(rows[i].after), &line),
			     rows[i].wanted, "row %zu", i);
	/* Both name the same line. */
	cr_assert_eq(git_edit_merge(STR(FOLLOWS MERGE BASE), STR(FOLLOWS BASE), &line),
		     GIT_EDIT_UNSETS);
	cr_assert_eq(line, strlen(FOLLOWS));
	line = 0;
	cr_assert_eq(git_edit_merge(STR(FOLLOWS MERGE BASE), STR(FOLLOWS MERGE MERGE BASE), &line),
		     GIT_EDIT_REPEATS);
	cr_assert_eq(line, strlen(FOLLOWS));
}

Test(git_edit, what_is_set_is_not_set_again)
{
	static const char set[] = BASE "[remote \"pub\"]\n\turl = p\n[Branch \"b\"]\n"
				       "\tRemote = origin\n[submodule \"x\"]\n\turl = ../x\n";
	static const char *const added[] = {
		"[branch \"b\"]\n\tremote = pub\n",
		"[branch \"b\"]\n\tmerge = refs/heads/b\n\tremote = pub\n",
		"\turl = ../y\n",
		"[submodule \"x\"]\n\turl = ../y\n",
	};
	char after[512];

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		snprintf(after, sizeof(after), "%s%s", set, added[i]);
		cr_assert_not(harmless(set, after), "%s", added[i]);
	}
	snprintf(after, sizeof(after), "%s[branch \"c\"]\n\tremote = pub\n", set);
	cr_assert(harmless(set, after));
}

Test(git_edit, what_runs_something_or_leads_elsewhere)
{
	static const char *const added[] = {
		"[core]\n\tfsmonitor = evil\n",
		"[alias]\n\tst = !evil\n",
		"[include]\n\tpath = evil\n",
		"[remote \"evil\"]\n\turl = https://evil.example\n",
		"[remote \"origin\"]\n\tuploadpack = evil\n",
		"[branch \"main\"]\n\tremote = https://evil.example\n",
		"[branch \"main\"]\n\tremote = evil\n",
		"[branch \"main\"]\n\tremote = ext::evil\n",
		"[branch \"main\"]\n\tpushRemote = origin\n",
		"[branch \"main\"]\n\tmerge = main\n",
		"[branch \"main\"]\n\tmergeoptions = -s evil\n",
		"[submodule \"x\"]\n\tupdate = !evil\n",
		"[submodule \"x\"]\n\turl = ext::evil\n",
		"[submodule \"x\"]\n\turl = https://a::b\n",
		"[submodule \"x\"]\n\turl = ssh://-oProxyCommand=evil/x\n",
		"[submodule \"x\"]\n\turl = git@-oProxyCommand=evil:x\n",
		"[submodule \"x\"]\n\turl = -u\n",
		"[submodule \"../x\"]\n\tactive = true\n",
		"[submodule]\n\trecurse = true\n",
		"[branch]\n\tautoSetupRebase = always\n",
	};

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
		cr_assert_not(harmless(BASE, with(added[i])), "%s", added[i]);
}

/* Other ways to write the same, where two readers could differ. */
Test(git_edit, what_git_would_not_write)
{
	static const char *const added[] = {
		"[branch \"b\"] fsmonitor = evil\n",
		"[branch \"b\"]\n\tremote = . [core] fsmonitor = evil\n",
		"[branch \"b\"]\n\t[core]\n\tfsmonitor = evil\n",
		"[branch \"b\"]\n [core]\n\tfsmonitor = evil\n",
		"[branch \"b\"]\n\tremote = .\\\n\tfsmonitor = evil\n",
		"[branch \"b\"]\n\tremote = \".\"\n",
		"[branch \"b\"]\n\tremote = . # x\n",
		"[branch \"b\"]\n\tremote = . ; x\n",
		"[branch \"b\"]\n\tremote=.\n",
		"[branch \"b\"]\n\tremote\n",
		"[branch \"b\"]\n\tremote = .\r\n",
		"[branch \"b\"]\n\n",
		"[branch \"b\\\"c\"]\n\tremote = .\n",
		"[branch.b]\n\tremote = .\n",
		"[BRANCH \"b\"]\n\tremote = .\n",
		"[branch \"b\"]\n\tRemote = .\n",
		"[branch \"b\"]\n\tremote = .",
		" [branch \"b\"]\n\tremote = .\n",
	};

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
		cr_assert_not(harmless(BASE, with(added[i])), "%s", added[i]);
}

Test(git_edit, what_was_there_stays)
{
	static const char *const after[] = {
		"",
		CORE,
		ORIGIN,
		ORIGIN CORE,
		BASE ORIGIN,
		"#\n" BASE,
		BASE "#\n",
		"[core]\n\tbare = true\n" ORIGIN,
		"[core]\n[branch \"b\"]\n\tremote = .\n\tbare = false\n" ORIGIN,
		CORE "[branch \"b\"]\n\tremote = .\n" ORIGIN,
	};

	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		cr_assert_not(harmless(BASE, after[i]), "%s", after[i]);
	/* What was set up by hand is nobody's to take away. */
	cr_assert_not(harmless(BASE "[branch \"b\"]\n\tpushRemote = origin\n", BASE));
}

Test(git_edit, lines_that_would_swallow_what_is_added)
{
	cr_assert_not(harmless("[a]\n\tb = c\\\n", "[a]\n\tb = c\\\n[branch \"b\"]\n"));
	cr_assert_not(harmless("[a]\n\tb = c", "[a]\n\tb = c\n[branch \"b\"]\n"));
	cr_assert_not(harmless("[a]\n\tb = c\\\r\n", "[a]\n\tb = c\\\r\n[branch \"b\"]\n"));
}

Test(git_edit, size)
{
	size_t n = GIT_EDIT_BYTES_MAX;
	char *text = malloc(n + 1);
	struct str added;

	memset(text, '#', n);
	text[n - 1] = '\n';
	cr_assert(git_edit_is_harmless((struct str){ text, n }, (struct str){ text, n }, &added));
	text[n - 1] = '#';
	text[n] = '\n';
	cr_assert_not(git_edit_is_harmless((struct str){ text, n + 1 }, (struct str){ text, n + 1 },
					   &added));
	free(text);
}
