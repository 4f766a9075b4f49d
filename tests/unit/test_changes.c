/* SPDX-License-Identifier: Apache-2.0 */
/* report/changes: what counts as a change, what runs later, and how it is told. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "report/changes.h"

static struct arena a;
static struct snapshot before, after;
static struct changes changes;
static struct buf b;

static void setup(void)
{
	arena_init(&a, (size_t)64 << 20);
	before = after = (struct snapshot){ 0 };
	buf_init(&b, 1 << 20);
}

static void teardown(void)
{
	arena_free(&a);
	buf_free(&b);
}

TestSuite(changes, .init = setup, .fini = teardown);

static struct seen_file *file(struct snapshot *s, const char *path, uint32_t mode)
{
	struct seen_file *f = vec_push(&s->files, &a);

	*f = (struct seen_file){ .path = str_of(arena_dup(&a, str_of(path))), .mode = mode,
				 .ino = 1 };
	return f;
}

static void compare(void)
{
	struct cordon_error err;

	snapshot_sort(&before);
	snapshot_sort(&after);
	cr_assert_eq(changes_between(&a, &before, &after, &changes, &err), 0);
}

static const char *told(void)
{
	buf_clear(&b);
	changes_print(&b, &changes);
	return b.p;
}

Test(changes, none)
{
	file(&before, "/w/x", S_IFREG);
	file(&after, "/w/x", S_IFREG);
	compare();
	cr_assert_str_eq(told(), "changes: nothing was changed where the policy lets it write\n");
}

Test(changes, one_of_each_and_the_marked_first)
{
	file(&before, "/w/gone", S_IFREG);
	file(&before, "/w/same", S_IFREG);
	file(&before, "/w/touched", S_IFREG);
	file(&after, "/w/touched", S_IFREG)->mtime_ns = 7;
	file(&after, "/w/same", S_IFREG);
	file(&after, "/w/a", S_IFREG);
	file(&after, "/w/sub/Makefile", S_IFREG);
	compare();
	cr_assert_str_eq(told(), "changes: 2 created, 1 changed, 1 deleted\n"
				 "  created /w/sub/Makefile (runs later, outside: make)\n"
				 "  created /w/a\n"
				 "  changed /w/touched\n"
				 "  deleted /w/gone\n");
}

/* A directory is told only when nothing in it is. */
Test(changes, directories)
{
	file(&before, "/w/d", S_IFDIR);
	file(&before, "/w/d/x", S_IFREG);
	file(&after, "/w/e", S_IFDIR);
	file(&after, "/w/e-f", S_IFREG);
	file(&after, "/w/e/x", S_IFREG);
	file(&after, "/w/empty", S_IFDIR);
	compare();
	cr_assert_str_eq(told(), "changes: 3 created, 0 changed, 1 deleted\n"
				 "  created /w/e/x\n"
				 "  created /w/e-f\n"
				 "  created /w/empty\n"
				 "  deleted /w/d/x\n");
}

Test(changes, times_of_a_directory_are_no_change_its_mode_is)
{
	file(&before, "/w/d", S_IFDIR | 0755);
	file(&after, "/w/d", S_IFDIR | 0755)->mtime_ns = 9;
	file(&before, "/w/e", S_IFDIR | 0755);
	file(&after, "/w/e", S_IFDIR | 0777);
	compare();
	cr_assert_eq(changes.count[CHANGE_CHANGED], 1);
	cr_assert_str_eq(changes.lists[CHANGE_CHANGED].at[0].path.p, "/w/e");
}

Test(changes, are_bounded)
{
	char name[64];

	for (unsigned i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "/w/%u", i);
		file(&after, name, S_IFREG);
	}
	file(&after, "/w/zz/.envrc", S_IFREG);
	compare();
	cr_assert_eq(changes.lists[CHANGE_CREATED].n, CHANGES_MAX);
	cr_assert_eq(changes.count[CHANGE_CREATED], 3001);
	cr_assert(strstr(told(), "  created /w/zz/.envrc (runs later, outside: direnv)\n"));
	cr_assert(strstr(b.p, "  and 2991 more\n"));
}

Test(changes, names_are_escaped)
{
	file(&after, "/w/\033[2J", S_IFREG);
	compare();
	cr_assert_str_eq(told(), "changes: 1 created, 0 changed, 0 deleted\n"
				 "  created /w/\\x1b[2J\n");
}

Test(changes, too_many_to_compare_is_said)
{
	json_t *json;

	file(&after, "/w/x", S_IFREG);
	after.incomplete = true;
	compare();
	cr_assert_str_eq(told(),
			 "changes: too many files, or too deep, in the writable places to "
			 "compare them\n");
	json = changes_to_json(&changes);
	cr_assert(json_is_true(json_object_get(json, "incomplete")));
	cr_assert_eq(json_array_size(json_object_get(json, "created")), 0);
	json_decref(json);
}

Test(changes, json)
{
	json_t *json, *row;

	file(&after, "/w/caf\xe9", S_IFREG);
	file(&after, "/w/package.json", S_IFREG);
	compare();
	json = changes_to_json(&changes);
	row = json_array_get(json_object_get(json, "created"), 0);
	cr_assert_str_eq(json_string_value(json_object_get(row, "path")), "/w/package.json");
	cr_assert_str_eq(json_string_value(json_object_get(row, "later")), "npm scripts");
	row = json_array_get(json_object_get(json, "created"), 1);
	cr_assert_str_eq(json_string_value(json_object_get(row, "path")), "/w/caf\\xe9");
	cr_assert(json_is_true(json_object_get(row, "escaped")));
	json_decref(json);
	json = changes_to_json(NULL);
	cr_assert_eq(json_object_size(json), 0);
	json_decref(json);
}

Test(later, names)
{
	static const struct {
		const char *path, *who;
	} rows[] = {
		{ "/w/Makefile", "make" },
		{ "/w/a/b/rules.mk", "make" },
		{ "/w/.vscode/tasks.json", "an editor" },
		{ "/w/.vscode/deep/er", "an editor" },
		{ "/w/venv/bin/activate", "a virtual environment" },
		{ "/w/bin/activated", NULL },
		{ "/w/activate", NULL },
		{ "/w/x/.git/hooks/pre-commit", "git" },
		{ "/w/hooks/pre-commit", NULL },
		{ "/w/conftest.py", "pytest" },
		{ "/w/build.rs", "cargo" },
		{ "/w/node_modules/.bin/x", "npm" },
		{ "/w/Makefile.txt", NULL },
		{ "/w/.vscode", NULL },
		{ "/", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *who = later_run_by(str_of(rows[i].path));

		if (rows[i].who)
			cr_assert_str_eq(who ? who : "nobody", rows[i].who, "%s", rows[i].path);
		else
			cr_assert_null(who, "%s", rows[i].path);
	}
}
