/* SPDX-License-Identifier: Apache-2.0 */
/* What a repository makes git run: its configuration, and where else that is decided. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/scratch.h"
#include "run/git_config.h"
#include "run/git_control.h"
#include "run/git_finder.h"

#define ARENA_MAX ((size_t)64 << 20)

static struct arena a;
static struct buf out;
static struct places places;
static const char *top;
static struct cordon_error err;

static void setup(void)
{
	arena_init(&a, ARENA_MAX);
	buf_init(&out, 1 << 20);
	unsetenv("XDG_CONFIG_HOME");
	cr_assert_eq(scratch_make(&a, "/tmp", &top, &err), 0, "%s", err.message);
	places = (struct places){
		.workdir = str_of(arena_printf(&a, "%s/w", top)),
		.home = str_of(arena_printf(&a, "%s/home", top)),
		.git_dir = str_of(arena_printf(&a, "%s/w/.git", top)),
	};
	cr_assert_eq(mkdir(places.home.p, 0700), 0);
}

static void teardown(void)
{
	scratch_remove(top);
	buf_free(&out);
	arena_free(&a);
}

TestSuite(git, .init = setup, .fini = teardown);

static void tell(void *data, struct str key, struct str value)
{
	(void)data;
	buf_addf(&out, "%.*s=%.*s\n", STR_ARG(key), STR_ARG(value));
}

static void reads(const char *text, const char *wanted)
{
	buf_clear(&out);
	cr_expect(git_config_read(str_of(text), tell, NULL), "%s", text);
	cr_expect_str_eq(out.p ? out.p : "", wanted, "%s", out.p);
}

Test(git, configuration_is_read_as_git_reads_it)
{
	reads("", "");
	reads("# nothing\n; at all\n", "");
	reads("[core]\n\tbare = false\n\thooksPath = .hooks\n",
	      "core.bare=false\ncore.hookspath=.hooks\n");
	reads("[Core] HooksPath=x", "core.hookspath=x\n");
	reads("[remote \"Or\\\"igin\"]\nurl = u\n", "remote.Or\"igin.url=u\n");
	reads("[a.B]\nc=1\n", "a.b.c=1\n");
	reads("[a]\nb\nc # x\n", "a.b=\na.c=\n");
	reads("[a]\nb =  two  words  ; x\n", "a.b=two  words\n");
	reads("[a]\nb = \" kept \" # x\n", "a.b= kept \n");
	reads("[a]\nb = \"# no\" comment\n", "a.b=# no comment\n");
	reads("[a]\nb = one\\\n two\n", "a.b=one two\n");
	reads("[a]\nb = \\\\\\\"\\t\n", "a.b=\\\"\t\n");
	reads("\xef\xbb\xbf[a]\r\nb = c\r\n", "a.b=c\n");
}

Test(git, what_git_refuses_is_refused)
{
	static const char *const texts[] = {
		"x = 1\n",	 "[a\nb=1\n",  "[a \"b]\nc=1\n", "[a] 1=2\n", "[]\na=1\n",
		"[a]\nb = \"\n", "[a]\nb=\\q", "[a]\nb c\n",	 "[a b]\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_not(git_config_read(str_of(texts[i]), tell, NULL), "%s", texts[i]);
}

Test(git, a_value_that_is_too_long_is_no_path)
{
	char *text = arena_alloc(&a, GIT_CONFIG_TEXT_MAX + 100);

	memset(text, 'x', GIT_CONFIG_TEXT_MAX + 99);
	memcpy(text, "[a]\nb=", 6);
	text[GIT_CONFIG_TEXT_MAX + 99] = '\0';
	reads(text, "");
}

/* --- what is found ------------------------------------------------------------------ */

/* Makes a file with its directories, all below the workdir unless it starts with "..". */
static void file(const char *path, const char *text)
{
	char *full = arena_printf(&a, "%s/w/%s", top, path);
	FILE *f;

	for (char *p = full + strlen(top) + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(full, 0700);
			*p = '/';
		}
	f = fopen(full, "we");
	cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", full);
}

static void git_dir(const char *dir)
{
	file(arena_printf(&a, "%s/HEAD", dir), "");
	file(arena_printf(&a, "%s/config", dir), "");
	file(arena_printf(&a, "%s/objects/x", dir), "");
	file(arena_printf(&a, "%s/refs/x", dir), "");
}

static bool found(const char *path)
{
	const char *full = arena_printf(&a, "%s/w/%s", top, path);

	for (size_t i = 0; i < places.git_control_count; i++)
		if (str_eq(places.git_control[i], str_of(full)))
			return true;
	return false;
}

/* Every workdir that is no repository itself has one: its HEAD. */
static bool found_only(size_t count)
{
	return found("HEAD") && places.git_control_count == count + 1;
}

static void look(void)
{
	cr_assert_eq(git_control_places(&a, &places, &err), 0, "%s", err.message);
}

Test(git, hooks_and_configuration_of_submodules)
{
	git_dir(".git");
	git_dir(".git/modules/lib");
	git_dir(".git/modules/deep/name");
	git_dir(".git/modules/lib/modules/inner");
	look();
	cr_assert(found(".git/modules/lib/hooks"));
	cr_assert(found(".git/modules/lib/config"));
	cr_assert(found(".git/modules/deep/name/hooks"));
	cr_assert(found(".git/modules/lib/modules/inner/config"));
	cr_assert_not(found(".git/modules"));
}

Test(git, a_submodule_is_one_by_any_of_its_names)
{
	git_dir(".git");
	file(".git/modules/a/config", "");
	file(".git/modules/b/hooks/x", "");
	file(".git/modules/c/HEAD", "");
	file(".git/worktrees/tree/modules/d/config", "");
	file(".git/modules/a/worktrees/e/x", "");
	look();
	cr_assert(found(".git/modules/a/hooks"));
	cr_assert(found(".git/modules/a/commondir"));
	cr_assert(found(".git/modules/b/config"));
	cr_assert(found(".git/modules/c/config"));
	cr_assert(found(".git/worktrees/tree/modules/d/hooks"));
	cr_assert(found(".git/modules/a/worktrees/e/commondir"));
	cr_assert_not(found(".git/modules"));
}

Test(git, the_checkout_of_a_submodule)
{
	git_dir(".git");
	git_dir(".git/modules/lib");
	file(".git/modules/lib/config", "[core]\nhooksPath = h\nworktree = ../../../lib\n");
	git_dir(".git/modules/top");
	file(".git/modules/top/config", "[core]\nworktree = ../../..\n");
	look();
	cr_assert(found("lib/.git"));
	cr_assert(found("lib/h"));
	cr_assert_not(found(".git"));
}

Test(git, a_git_file_and_the_directory_it_names)
{
	places.git_dir = (struct str){ 0 };
	places.git_top = places.workdir;
	places.git_link = str_of(arena_printf(&a, "%s/w/.git", top));
	places.git_named = str_of(arena_printf(&a, "%s/w/store", top));
	file(".git", "gitdir: store\n");
	git_dir("store");
	git_dir("common");
	file("store/commondir", "../common\n");
	file("common/config", "[core]\nhooksPath = h\n");
	look();
	cr_assert(found(".git"));
	cr_assert(found("store/config"));
	cr_assert(found("store/commondir"));
	cr_assert(found("common/hooks"));
	cr_assert(found("h"));
}

Test(git, too_many_submodules_are_all_meant)
{
	git_dir(".git");
	for (unsigned i = 0; i < 520; i++)
		file(arena_printf(&a, ".git/modules/m%u/x", i), "");
	look();
	cr_assert(found(".git/modules"));
}

/* Names that are no directories count as well: they cost as much. */
Test(git, too_many_files_among_submodules_are_all_meant)
{
	git_dir(".git");
	for (unsigned i = 0; i < 4200; i++)
		file(arena_printf(&a, ".git/modules/f%u", i), "");
	look();
	cr_assert(found(".git/modules"));
}

/* A configuration that was planted may name what it likes. */
static const char *naming(unsigned names, unsigned levels)
{
	autobuf struct buf b = buf_make(4 << 20);

	buf_adds(&b, "[core]\nworktree = ../../..\n[x \"y\"]\n");
	for (unsigned i = 0; i < names; i++) {
		buf_addf(&b, "cmd = ./n%u", i);
		for (unsigned level = 1; level < levels; level++)
			buf_adds(&b, "/d");
		buf_addc(&b, '\n');
	}
	cr_assert_not(b.failed);
	return arena_dup(&a, buf_str(&b));
}

static void plants(unsigned names, unsigned levels)
{
	git_dir(".git");
	git_dir(".git/modules/lib");
	file(".git/modules/lib/config", naming(names, levels));
	look();
}

Test(git, names_that_a_submodule_has_in_its_configuration)
{
	plants(300, 3);
	cr_assert(found("n299/d/d"));
	cr_assert_not(found(".git/modules"));
}

Test(git, submodules_that_name_too_much_are_all_meant)
{
	plants(GIT_PLANTED_LEVELS_MAX + 10, 1);
	cr_assert(found(".git/modules"));
	cr_assert_lt(places.git_control_count, GIT_PLANTED_LEVELS_MAX + 100);
}

Test(git, or_too_deep)
{
	plants(20, 300);
	cr_assert(found(".git/modules"));
	cr_assert_lt(places.git_control_count, 100);
}

Test(git, or_have_too_long_configurations)
{
	const char *text = naming(0, 0);

	git_dir(".git");
	for (unsigned i = 0; i < 40; i++)
		file(arena_printf(&a, ".git/modules/m%u/config", i),
		     arena_printf(&a, "%s#%0*d\n", text, 250000, 0));
	look();
	cr_assert(found(".git/modules"));
}

Test(git, what_the_user_wrote_has_no_such_bounds)
{
	git_dir(".git");
	file(".git/config", naming(GIT_PLANTED_LEVELS_MAX + 10, 1));
	look();
	cr_assert(found(arena_printf(&a, "n%u", GIT_PLANTED_LEVELS_MAX + 9)));
}

/* Reading what /proc has may take it away from others. */
Test(git, a_submodule_includes_nothing_of_another_file_system)
{
	git_dir(".git");
	git_dir(".git/modules/lib");
	file(".git/modules/lib/config", "[core]\nworktree = ../../..\n"
					"[include]\npath = ../../../more\npath = ../../../link\n");
	file("more", "[x \"y\"]\ncmd = ./here\n");
	cr_assert_eq(symlink("/dev/shm/cordon-test-included",
			     arena_printf(&a, "%s/w/link", top)),
		     0);
	file("../../../dev/shm/cordon-test-included", "[x \"y\"]\ncmd = ./there\n");
	look();
	unlink("/dev/shm/cordon-test-included");
	cr_assert(found("here"));
	cr_assert_not(found("there"));
}

Test(git, worktrees)
{
	git_dir(".git");
	file(".git/worktrees/tree/commondir", "../..\n");
	look();
	cr_assert(found(".git/worktrees/tree/commondir"));
	cr_assert(found(".git/worktrees/tree/config.worktree"));
}

Test(git, a_bare_layout)
{
	places.git_dir = (struct str){ 0 };
	git_dir(".");
	look();
	cr_assert(found("hooks"));
	cr_assert(found("config"));
	cr_assert(found("commondir"));
	cr_assert_not(found("HEAD"));
}

Test(git, a_bare_layout_without_one_of_its_names)
{
	places.git_dir = (struct str){ 0 };
	file("HEAD", "");
	look();
	cr_assert(found("HEAD"));
	cr_assert(found("config"));
	git_dir(".");
	unlink(arena_printf(&a, "%s/w/HEAD", top));
	look();
	cr_assert(found("HEAD"));
	cr_assert(found("config"));
}

Test(git, what_the_configuration_names_in_the_workdir)
{
	git_dir(".git");
	file("tools/filter.sh", "");
	file(".git/config", "[core]\nhooksPath = .hooks\nfsmonitor = ./tools/filter.sh now\n"
			    "editor = ./absent\n[include]\npath = ../shared.cfg\n"
			    "[filter \"x\"]\nclean = cat\nsmudge = /etc/passwd\n");
	file("../home/.gitconfig", arena_printf(&a, "[core]\nhooksPath = %s/w/global\n", top));
	look();
	cr_assert(found(".hooks"));
	cr_assert(found("shared.cfg"));
	cr_assert(found("tools/filter.sh"));
	cr_assert(found("global"));
	cr_assert(found("absent"));
	cr_assert(found_only(5));
}

Test(git, what_an_included_configuration_names)
{
	git_dir(".git");
	file(".git/config", "[include]\npath = ../one.cfg\n"
			    "[includeIf \"gitdir:/elsewhere/\"]\npath = ~/two.cfg\n");
	file("one.cfg", "[include]\npath = deep/one.cfg\n");
	file("deep/one.cfg", "[core]\nhooksPath = one\n[include]\npath = ../one.cfg\n");
	file("../home/two.cfg", "[core]\nhooksPath = two\n");
	look();
	cr_assert(found("one.cfg"));
	cr_assert(found("deep/one.cfg"));
	cr_assert(found("one"));
	cr_assert(found("two"));
}

Test(git, where_the_user_keeps_a_configuration)
{
	git_dir(".git");
	file("../home/.config/git/config", "[core]\nhooksPath = usual\n");
	file("../xdg/git/config", "[core]\nhooksPath = chosen\n");
	look();
	cr_assert(found("usual"));
	setenv("XDG_CONFIG_HOME", arena_printf(&a, "%s/xdg", top), 1);
	look();
	cr_assert(found("chosen"));
	cr_assert_not(found("usual"));
}

Test(git, files_that_a_program_is_given)
{
	git_dir(".git");
	file("tools/filter.py", "");
	file("tools/alias.sh", "");
	file("alone.sh", "");
	file("data", "");
	file(".git/config", "[filter \"x\"]\nclean = python3 'tools/filter.py' --to out/put\n"
			    "[pager]\nlog = sh -e alone.sh data\n"
			    "[interactive]\ndiffFilter = sh scripts/absent\n"
			    "[alias]\na = !./tools/alias.sh $1\nb = log ./tools/filter.py\n"
			    "[core]\npager = ./tools\n");
	look();
	cr_assert(found("tools/filter.py"));
	cr_assert(found("tools/alias.sh"));
	cr_assert(found("alone.sh"));
	cr_assert(found("scripts/absent"));
	cr_assert(found_only(4));
}

Test(git, nothing_outside_and_never_all_of_the_workdir)
{
	git_dir(".git");
	file(".git/config", "[core]\nhooksPath = .\n[core]\nhooksPath = ..\n[core]\n"
			    "hooksPath = ~/hooks\n[include]\npath = /etc/gitconfig\n");
	look();
	cr_assert(found_only(0));
}
