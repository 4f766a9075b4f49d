/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy when memory runs out: every allocation of loading the profiles, reading
 * the configuration and building the policy fails in turn. The result is an error
 * value or the very policy that comes out otherwise, never a wider one.
 */
#include <criterion/criterion.h>

#include "fail_alloc.h"
#include "policy/policy.h"
#include "policy/profiles.h"
#include "world_fake.h"

#define ARENA_MAX ((size_t)64 << 20)

static const char user_text[] = "[sandbox]\n"
				"read = [\"/opt/\\\\[x]/*.h\", \"/l/x\", \"~/.ssh/config\"]\n"
				"deny = [\"**/\\\\*/.env\", \"/l/*.key\"]\n"
				"hidden_writes = \"git\"\n"
				"network = [\"a.example.com\", \"*.b.example.com:443\"]\n"
				"[sandbox.profiles.mine]\n"
				"extends = \"moderate\"\n"
				"env = { set = { A = \"1\" }, unset = [\"X*\"] }\n";
static const char project_text[] = "[sandbox]\ndeny = [\"private\"]\nenv.unset = [\"A*\"]\n";

static void check_verdicts(const struct policy *p)
{
	static const struct {
		const char *object;
		enum access data;
	} rows[] = {
		{ "/w/a", ACCESS_WRITE },
		{ "/w/.x", ACCESS_READ },
		{ "/w/a/*/.env", ACCESS_NONE },
		{ "/w/a/b/.env", ACCESS_READ },
		{ "/data/real/k.key", ACCESS_NONE },
		{ "/w/private/x", ACCESS_NONE },
		{ "/home/u/.ssh/config", ACCESS_READ },
		{ "/home/u/.ssh/id", ACCESS_NONE },
		{ "/w/.git/index", ACCESS_WRITE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(policy_decide(p, str_of(rows[i].object)).data, rows[i].data, "%s",
			     rows[i].object);
}

static int build(struct arena *a, struct fake_world *fake, struct policy **ret,
		 struct cordon_error *err)
{
	struct config builtin, user, project;
	struct policy_input in = {
		.profile = "mine",
		.builtin = &builtin,
		.user = &user,
		.project = &project,
		.world = &fake->world,
		.places = { .workdir = STR("/w"),
			    .home = STR("/home/u"),
			    .tmp = STR("/tmp"),
			    .data = STR("/w"),
			    .cordon_home = STR("/home/u/.cordon"),
			    .git_dir = STR("/w/.git") },
	};
	int r = profiles_load(a, &builtin, err);

	if (r == 0)
		r = config_parse(a, str_of(user_text), "user", SOURCE_USER, &user, err);
	if (r == 0)
		r = config_parse(a, str_of(project_text), "project", SOURCE_PROJECT, &project, err);
	if (r == 0)
		r = policy_build(a, &in, ret, err);
	if (r == 0)
		check_verdicts(*ret);
	return r;
}

static bool make_world(struct fake_world *fake, struct arena *a)
{
	struct fake_entry *link;

	fake_world_init(fake, a);
	link = fake_world_add(fake, STR("/l"), NODE_SYMLINK);
	if (link)
		link->target = STR("/data/real");
	return link && fake_world_add(fake, STR("/data/real"), NODE_DIR);
}

static void build_step(void)
{
	struct cordon_error err = { 0 };
	struct policy *policy = NULL;
	struct fake_world fake;
	struct arena a;

	arena_init(&a, ARENA_MAX);
	if (make_world(&fake, &a)) {
		int r = build(&a, &fake, &policy, &err);

		cr_assert(r == 0 || (fail_alloc_failed() && r == -CORDON_E_NOMEM), "%s",
			  err.message);
		cr_assert_eq(r == 0, policy != NULL);
	}
	arena_free(&a);
}

Test(policy_faults, build)
{
	cr_assert_gt(fail_alloc_each(build_step, false), 50);
	cr_assert_gt(fail_alloc_each(build_step, true), 50);
}
