/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs truth tables through the policy itself, with the fake world, and prints TAP:
 * one point a row. The same files are run live through the backends elsewhere.
 */
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "policy/profiles.h"
#include "table.h"

#define ARENA_MAX ((size_t)256 << 20)
#define TABLE_BYTES_MAX ((size_t)1 << 20)

static unsigned points, failures;

static void point(bool ok, const char *table, unsigned line, struct str text)
{
	printf("%s %u - %s:%u %.*s\n", ok ? "ok" : "not ok", ++points, table, line, STR_ARG(text));
	failures += !ok;
}

static void run_rows(const struct table *t)
{
	size_t model = 0;

	vec_each(row, &t->rows) {
		const char *got;
		bool ok = table_row_holds(t, row, &got);

		point(ok, t->name, row->line, row->text);
		if (!ok)
			printf("# the policy says: %s\n", got);
		model += row->model_only;
	}
	printf("# %s: %zu rows, %zu of them for the model only, %zu policies\n", t->name, t->rows.n,
	       model, t->policies.n);
}

static void run_file(const struct config *builtin, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	autoarena struct arena a;
	struct cordon_error err;
	struct table t;
	struct str text;
	int r;

	arena_init(&a, ARENA_MAX);
	r = fd_read_file(&a, path, TABLE_BYTES_MAX, &text, &err);
	if (r == 0)
		r = table_read(&a, text, name, &t, &err);
	if (r == 0)
		r = table_build(&t, builtin, &err);
	if (r < 0) {
		point(false, name, 0, STR("is read and built"));
		printf("# %s\n", err.message);
		return;
	}
	run_rows(&t);
}

int main(int argc, char **argv)
{
	autoarena struct arena a;
	struct cordon_error err;
	struct config builtin;

	arena_init(&a, ARENA_MAX);
	if (profiles_load(&a, &builtin, &err) < 0) {
		printf("Bail out! %s\n", err.message);
		return 1;
	}
	for (int i = 1; i < argc; i++)
		run_file(&builtin, argv[i]);
	printf("1..%u\n", points);
	return failures || !points;
}
