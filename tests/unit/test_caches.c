/* SPDX-License-Identifier: Apache-2.0 */
/* Private caches: which ones a policy has, and the directories they are kept in. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scratch.h"
#include "policy/caches.h"
#include "run/keep.h"
#include "policy_fixture.h"

static const char *top; /* a real directory, where a test needs one */

static void setup(void)
{
	fixture_setup();
	fake_world_add(&fake, STR("/home/u/.cordon"), NODE_DIR);
	fake_world_add(&fake, STR("/w"), NODE_DIR);
}

static void teardown(void)
{
	if (top)
		scratch_remove(top);
	fixture_teardown();
}

TestSuite(caches, .init = setup, .fini = teardown);

/* The cache a policy keeps in this directory; NULL: none. */
static const struct cache *kept_in(const struct policy *p, const char *directory)
{
	vec_each(c, &p->caches)
		if (strcmp(c->row->directory, directory) == 0)
			return c;
	return NULL;
}

static bool writable(const struct policy *p, const char *path)
{
	return policy_decide(p, str_of(path)).data == ACCESS_WRITE;
}

Test(caches, what_exists_is_covered_and_the_rest_is_named)
{
	const struct policy *p;
	const struct cache *npm, *cargo;

	fake_world_add(&fake, STR("/home/u/.npm"), NODE_DIR);
	p = built();
	npm = kept_in(p, "npm");
	cr_assert(npm && npm->covers);
	cr_assert(str_eq(npm->path, STR("/home/u/.npm")));
	cr_assert(str_starts(npm->source, STR("/home/u/.cordon/cache/project/")));
	cr_assert(str_ends(npm->source, STR("/npm")));
	cr_assert(writable(p, "/home/u/.npm/x"));
	cargo = kept_in(p, "cargo-registry");
	cr_assert(cargo && !cargo->covers && cargo->named);
	cr_assert_not(writable(p, "/home/u/.cargo/registry"), "there is nothing to write there");
}

Test(caches, only_its_own_directory_of_cordons_home_is_open)
{
	const struct policy *p = built();
	struct str own = p->cache_own.path;

	cr_assert(writable(p, own.p));
	cr_assert_eq(policy_decide(p, path_parent(own)).data, ACCESS_NONE);
	cr_assert_eq(policy_decide(p, STR("/home/u/.cordon/config.toml")).data, ACCESS_NONE);
	cr_assert_eq(policy_decide(p, STR("/home/u/.cordon")).data, ACCESS_NONE);
}

Test(caches, programs_and_settings_stay_as_they_are)
{
	static const char *const paths[] = {
		"/home/u/.cargo/bin",	  "/home/u/.cargo/config.toml", "/home/u/go/bin",
		"/home/u/.gradle/init.d", "/home/u/.m2/settings.xml",	"/home/u/.npmrc",
	};
	const struct policy *p;

	fake_world_add(&fake, STR("/home/u/.cargo/registry"), NODE_DIR);
	fake_world_add(&fake, STR("/home/u/.gradle/caches"), NODE_DIR);
	fake_world_add(&fake, STR("/home/u/.m2/repository"), NODE_DIR);
	fake_world_add(&fake, STR("/home/u/go/pkg"), NODE_DIR);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		fake_world_add(&fake, str_of(paths[i]), NODE_FILE);
	p = built();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		cr_assert_not(writable(p, paths[i]), "%s", paths[i]);
	cr_assert(writable(p, "/home/u/.cargo/registry/x"));
	cr_assert(writable(p, "/home/u/go/pkg/mod"));
}

/* As rustup leaves it: its programs are found by PATH. */
Test(caches, a_variable_moves_a_root_that_holds_no_settings)
{
	const struct cache *cargo;

	fake_world_add(&fake, STR("/home/u/.cargo/bin"), NODE_DIR);
	cargo = kept_in(built(), "cargo-registry");
	cr_assert(cargo && cargo->named && !cargo->covers);
}

Test(caches, a_variable_takes_no_settings_away)
{
	static const struct {
		const char *settings, *directory;
	} rows[] = {
		{ "/home/u/.cargo/config.toml", "cargo-registry" },
		{ "/home/u/go/src", "go-pkg" },
		{ "/home/u/.gradle/init.d", "gradle-caches" },
		{ "/home/u/.local/share/pnpm/pnpm", "pnpm-home" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert(kept_in(built(), rows[i].directory), "%s", rows[i].directory);
		fake_world_add(&fake, str_of(rows[i].settings), NODE_FILE);
		cr_assert_null(kept_in(built(), rows[i].directory), "%s", rows[i].settings);
	}
}

Test(caches, the_callers_variables_move_them)
{
	static const char *const moved[] = { "CARGO_HOME=/opt/cargo", "GOPATH=relative", NULL };
	const struct cache *cargo;

	fake_world_add(&fake, STR("/opt/cargo/registry"), NODE_DIR);
	in.environ = moved;
	cargo = kept_in(built(), "cargo-registry");
	cr_assert(cargo && cargo->covers);
	cr_assert(str_eq(cargo->path, STR("/opt/cargo/registry")));
	cr_assert(kept_in(built(), "go-pkg") && !kept_in(built(), "go-pkg")->covers);
}

/* A variable may say anything. */
Test(caches, no_place_of_the_run_is_covered)
{
	static const char *const all[] = { "XDG_CACHE_HOME=/home/u", NULL };
	static const char *const root[] = { "XDG_CACHE_HOME=/", NULL };
	static const char *const own[] = { "XDG_CACHE_HOME=/home/u/.cordon", NULL };
	static const char *const loop[] = { "XDG_CACHE_HOME=/w/loop", NULL };
	static const char *const *const environs[] = { all, root, own, loop };

	fake_world_add(&fake, STR("/w/loop"), NODE_SYMLINK)->target = STR("loop");
	for (size_t i = 0; i < sizeof(environs) / sizeof(environs[0]); i++) {
		const struct policy *p;

		in.environ = environs[i];
		p = built();
		cr_assert_not(writable(p, "/"), "%s", environs[i][0]);
		cr_assert_not(writable(p, "/home/u"), "%s", environs[i][0]);
		cr_assert_not(writable(p, "/home/u/.cordon"), "%s", environs[i][0]);
		cr_assert(!kept_in(p, "cache") || !kept_in(p, "cache")->covers, "%s",
			  environs[i][0]);
	}
}

Test(caches, a_secret_is_not_covered_by_one)
{
	static const char *const ssh[] = { "npm_config_cache=/home/u/.ssh", NULL };

	fake_world_add(&fake, STR("/home/u/.ssh"), NODE_DIR);
	in.environ = ssh;
	cr_assert_eq(policy_decide(built(), STR("/home/u/.ssh")).data, ACCESS_NONE);
}

Test(caches, what_somebody_said_stays_so)
{
	fake_world_add(&fake, STR("/home/u/.npm"), NODE_DIR);
	fake_world_add(&fake, STR("/home/u/.cache"), NODE_DIR);
	fake_world_add(&fake, STR("/home/u/.ccache"), NODE_DIR);
	with_flag("--allow-read", "~/.npm");
	with_flag("--allow-write", "~/.cache");
	with_flag("--deny", "~/.ccache");
	cr_assert_null(kept_in(built(), "npm"));
	cr_assert_null(kept_in(built(), "cache"));
	cr_assert_null(kept_in(built(), "ccache"));
	cr_assert_eq(policy_decide(built(), STR("/home/u/.npm")).data, ACCESS_READ);
	cr_assert_eq(policy_decide(built(), STR("/home/u/.ccache")).data, ACCESS_NONE);
}

Test(caches, one_below_another_needs_nothing)
{
	struct config user = { 0 };

	cr_assert_not_null(kept_in(built(), "cache"));
	cr_assert_null(kept_in(built(), "go-build"));
	cr_assert_null(kept_in(built(), "pip"));
	cr_assert_eq(config_parse(&a, STR("[sandbox]\ncaches = []\n"), "user.toml", SOURCE_USER,
				  &user, &err),
		     0, "%s", err.message);
	in.user = &user;
	with_flag("--caches", "pip");
	cr_assert_not_null(kept_in(built(), "pip"));
	cr_assert_eq(built()->caches.n, 1);
}

Test(caches, none_without_confinement_or_when_not_listed)
{
	in.profile = "strict";
	cr_assert_eq(built()->caches.n, 0);
	cr_assert_eq(built()->cache_own.path.n, 0);
	in.profile = NULL;
	in.no_sandbox = true;
	cr_assert_eq(built()->caches.n, 0);
}

Test(caches, an_unknown_name_is_an_error)
{
	struct policy *p = NULL;

	with_flag("--caches", "crago");
	cr_assert_eq(policy_build(&a, &in, &p, &err), -CORDON_E_CONFIG);
	cr_assert_str_eq(err.message, "--caches: there is no cache 'crago'");
	cr_assert_str_eq(err.hint, "did you mean 'cargo'?");
}

Test(caches, a_shared_tmp_has_a_plain_name_and_a_private_tmp)
{
	struct policy *p = NULL;

	with_flag("--share-tmp", "team");
	cr_assert(str_eq(built()->shared_tmp.source, STR("/home/u/.cordon/tmp/team")));
	with_flag("--tmp", "shared");
	cr_assert_eq(policy_build(&a, &in, &p, &err), -CORDON_E_CONFIG);
}

/* --- on disk ------------------------------------------------------------------------ */

/* A policy whose caches lie in a real directory. */
static struct policy *on_disk(void)
{
	struct policy *p;

	if (!top)
		cr_assert_eq(scratch_make(&a, "/tmp", &top, &err), 0, "%s", err.message);
	in.places.cordon_home = str_of(arena_printf(&a, "%s/home", top));
	p = built();
	cr_assert(p->cache_own.source.n);
	return p;
}

static bool is_directory(struct str path)
{
	struct stat st;

	return lstat(path.p, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700;
}

Test(caches, directories_are_made_once_for_the_owner_alone)
{
	struct policy *p;
	bool made = false;

	fake_world_add(&fake, STR("/home/u/.npm"), NODE_DIR);
	p = on_disk();
	cr_assert_eq(keep_make(&a, p, &made, &err), 0, "%s", err.message);
	cr_assert(made);
	cr_assert(is_directory(p->cache_own.source));
	cr_assert(is_directory(kept_in(p, "npm")->source));
	cr_assert(is_directory(p->cache_dir));
	for (size_t i = 0; i < p->caches.n; i++)
		p->caches.at[i].node.type = NODE_DIR;
	p->cache_own.node.type = NODE_DIR;
	made = false;
	cr_assert_eq(keep_make(&a, p, &made, &err), 0, "%s", err.message);
	cr_assert_not(made);
}

Test(caches, a_directory_of_another_project_is_not_shared)
{
	struct policy *p = on_disk();
	bool made;
	FILE *f;

	cr_assert_eq(keep_make(&a, p, &made, &err), 0, "%s", err.message);
	f = fopen(arena_printf(&a, "%s/project", p->cache_dir.p), "we");
	cr_assert(f && fputs("/somewhere/else", f) >= 0 && fclose(f) == 0);
	cr_assert_eq(keep_make(&a, p, &made, &err), -CORDON_E_IO);
	cr_assert(strstr(err.message, "belongs to another project"), "%s", err.message);
}

Test(caches, clearing_waits_for_no_run_and_follows_no_link)
{
	struct kept_list list = { 0 }, after = { 0 };
	struct policy *p = on_disk();
	const char *victim = arena_printf(&a, "%s/victim", top);
	bool made;
	int held = -1;

	cr_assert_eq(keep_make(&a, p, &made, &err), 0, "%s", err.message);
	cr_assert_eq(mkdir(victim, 0700), 0);
	cr_assert_eq(symlink(victim, arena_printf(&a, "%s/link", p->cache_own.source.p)), 0);
	cr_assert_eq(keep_hold(p, &held, &err), 0, "%s", err.message);
	cr_assert_geq(held, 0);
	cr_assert_eq(keep_list(&a, in.places.cordon_home, &list, &err), 0, "%s", err.message);
	cr_assert_eq(list.items.n, 1);
	cr_assert(list.items.at[0].busy);
	cr_assert(str_eq(list.items.at[0].project, STR("/w")));
	cr_assert_eq(keep_clear(&a, &list.items.at[0], &err), -CORDON_E_IO);
	close(held);
	cr_assert_eq(keep_clear(&a, &list.items.at[0], &err), 0, "%s", err.message);
	cr_assert_eq(access(victim, F_OK), 0);
	cr_assert_eq(keep_list(&a, in.places.cordon_home, &after, &err), 0, "%s", err.message);
	cr_assert_eq(after.items.n, 0);
}
