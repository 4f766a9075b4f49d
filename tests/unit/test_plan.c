/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "policy_fixture.h"

#define ROUNDS 2000

static const char *const variables[] = { "HOME=/home/u", "LANG=C", "PRIVATE=value-of-it", NULL };

static void setup(void)
{
	fixture_setup();
	fake_world_add(&fake, STR("/w/src"), NODE_DIR);
	fake_world_add(&fake, STR("/tmp"), NODE_DIR);
	fake_world_add(&fake, STR("/run"), NODE_DIR);
	fake_world_add(&fake, STR("/home/u/.ssh"), NODE_DIR);
	fake_world_add(&fake, STR("/usr/bin/sh"), NODE_FILE);
}

TestSuite(plan, .init = setup, .fini = fixture_teardown);

static const struct policy *build(const char *profile)
{
	in.profile = profile;
	return built();
}

static struct plan *compile(const struct policy *policy, const struct claims *claims)
{
	struct plan_input input = {
		.policy = policy,
		.claims = claims,
		.world = &fake.world,
		.environ = variables,
	};
	struct plan *plan;

	cr_assert_eq(plan_compile(&a, &input, &plan, &err), 0, "%s", err.message);
	return plan;
}

static struct claims everything(void)
{
	struct claims c = { .backend = "test" };

	for (unsigned i = 0; i < OP_KIND_COUNT; i++) {
		c.enforces[i] = true;
		c.missing[i] = CAP_COUNT;
	}
	return c;
}

/* --- capabilities ------------------------------------------------------------------ */

static void mask(struct caps *caps, const char *text, int wanted)
{
	cr_expect_eq(caps_mask(caps, str_of(text), &err), wanted, "'%s'", text);
}

Test(plan, a_mask_takes_away_or_lowers_and_never_raises)
{
	struct caps caps = { 0 };

	caps.value[CAP_LANDLOCK] = 7;
	caps.value[CAP_USERNS] = caps.value[CAP_SECCOMP] = 1;
	mask(&caps, "", 0);
	cr_expect_eq(caps.value[CAP_USERNS], 1);
	mask(&caps, "userns,landlock=3", 0);
	cr_expect_eq(caps.value[CAP_USERNS], 0);
	cr_expect_str_eq(caps.why[CAP_USERNS], "masked for a test");
	cr_expect_eq(caps.value[CAP_LANDLOCK], 3);
	mask(&caps, "landlock=5,userns=1", 0);
	cr_expect_eq(caps.value[CAP_LANDLOCK], 3);
	cr_expect_eq(caps.value[CAP_USERNS], 0);
	cr_expect_eq(caps.value[CAP_SECCOMP], 1);
	cr_expect_null(caps.why[CAP_SECCOMP]);
}

Test(plan, a_mask_that_names_nothing_is_an_error)
{
	static const char *const bad[] = { "nothing",	"userns,",     ",",
					   "landlock=", "landlock=x",  "userns =1",
					   "LANDLOCK",	"landlock=-1", "landlock=4294967296" };
	struct caps caps = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		mask(&caps, bad[i], -CORDON_E_USAGE);
	cr_expect(strstr(err.message, "landlock=4294967296"), "%s", err.message);
}

Test(plan, every_capability_is_found_by_its_name)
{
	for (unsigned i = 0; i < CAP_COUNT; i++) {
		enum cap cap;

		cr_expect(cap_from_string(str_of(cap_rows[i].name), &cap) && cap == i);
		cr_expect(cap_rows[i].purpose && *cap_rows[i].purpose && *cap_rows[i].fix);
	}
}

/* --- losses ------------------------------------------------------------------------ */

/* The one statement that must never be false: what is enforced is claimed, operation by
 * operation, and what is not enforced is either listed or was never promised. */
static void check_honest(const struct plan *plan, const struct claims *claims)
{
	bool lost[GUARANTEE_COUNT] = { false };

	vec_each(loss, &plan->degraded) {
		cr_assert(!lost[loss->guarantee], "listed twice");
		cr_assert_eq(loss->required, guarantee_rows[loss->guarantee].required);
		lost[loss->guarantee] = true;
	}
	vec_each(op, &plan->ops) {
		enum guarantee g = op_rows[op->kind].guarantee;

		cr_assert(claims->enforces[op->kind] || (!plan->enforced[g] && lost[g]),
			  "%s is not claimed but '%s' is enforced", op_rows[op->kind].name,
			  guarantee_rows[g].name);
	}
	for (unsigned g = 0; g < GUARANTEE_COUNT; g++) {
		cr_assert(!plan->enforced[g] || (plan->promised[g] && !lost[g]));
		cr_assert(!plan->promised[g] || plan->enforced[g] || lost[g]);
	}
}

static bool loses_required(const struct plan *plan)
{
	vec_each(loss, &plan->degraded)
		if (loss->required)
			return true;
	return false;
}

Test(plan, nothing_unclaimed_is_ever_enforced)
{
	static const char *const profiles[] = { "strict", "moderate", "permissive",
						"shell",  "agent",    "custom" };
	const struct policy *policies[6];

	for (size_t i = 0; i < 6; i++)
		policies[i] = build(profiles[i]);
	srandom(20240601);
	for (int round = 0; round < ROUNDS; round++) {
		struct claims claims = everything();
		long gaps = random() % 6;
		struct plan *plan;

		while (gaps--)
			claims.enforces[random() % OP_KIND_COUNT] = false;
		plan = compile(policies[round % 6], &claims);
		check_honest(plan, &claims);
		cr_assert_eq(plan_check(plan, &err) < 0, loses_required(plan));
	}
}

Test(plan, a_backend_that_claims_all_loses_nothing)
{
	struct claims claims = everything();
	struct plan *plan = compile(build("shell"), &claims);

	cr_expect_eq(plan->degraded.n, 0);
	cr_expect_eq(plan_check(plan, &err), 0);
	cr_expect(plan->enforced[GUARANTEE_EXEC] && plan->enforced[GUARANTEE_EXACT]);
	cr_expect_not(plan->enforced[GUARANTEE_LISTEN]);
}

Test(plan, shared_processes_are_neither_private_nor_ended)
{
	struct claims claims = everything();
	struct plan *plan;

	with_flag("--share-pid", "true");
	plan = compile(build("moderate"), &claims);
	cr_expect_not(plan->promised[GUARANTEE_PROCESSES]);
	cr_expect_not(plan->enforced[GUARANTEE_PROCESSES]);
	cr_expect_not(plan->enforced[GUARANTEE_SURVIVORS]);
	cr_expect_eq(plan->degraded.n, 1);
	cr_expect_eq(plan_check(plan, &err), 0);
}

Test(plan, a_refusal_names_backend_promise_operation_and_the_way_out)
{
	struct claims claims = everything();
	struct plan *plan;

	claims.enforces[OP_UNSHARE_NET] = false;
	claims.missing[OP_UNSHARE_NET] = CAP_NETNS;
	plan = compile(build("moderate"), &claims);
	cr_assert_eq(plan_check(plan, &err), -CORDON_E_UNAVAILABLE);
	cr_expect_str_eq(err.message, "the test backend cannot promise 'network' "
				      "(the network rules) without netns (a network of its own)");
	cr_expect(strstr(err.hint, cap_rows[CAP_NETNS].fix), "%s", err.hint);
	cr_expect(strstr(err.hint, "--fallback degrade"), "%s", err.hint);

	claims.missing[OP_UNSHARE_NET] = CAP_COUNT;
	plan = compile(build("moderate"), &claims);
	cr_assert_eq(plan_check(plan, &err), -CORDON_E_UNAVAILABLE);
	cr_expect(strstr(err.hint, "--backend"), "%s", err.hint);
}

Test(plan, the_hint_of_every_capability_fits)
{
	struct claims claims = everything();

	for (unsigned i = 0; i < CAP_COUNT; i++) {
		struct plan *plan;

		claims.enforces[OP_UNSHARE_NET] = false;
		claims.missing[OP_UNSHARE_NET] = i;
		plan = compile(build("moderate"), &claims);
		cr_assert(plan_check(plan, &err) < 0);
		cr_expect(strstr(err.hint, "--fallback degrade"), "%s: cut off: %s",
			  cap_rows[i].name, err.hint);
	}
}

Test(plan, a_best_effort_loss_is_listed_and_no_refusal)
{
	autobuf struct buf text = buf_make(4096);
	struct claims claims = everything();
	struct plan *plan;

	claims.enforces[OP_REPORT] = claims.enforces[OP_GUARD_NAME] = false;
	plan = compile(build("moderate"), &claims);
	cr_expect_eq(plan_check(plan, &err), 0);
	plan_print_degraded(&text, plan);
	cr_expect_str_eq(text.p, "guard, report");
}

/* --- what the plan says ------------------------------------------------------------- */

Test(plan, values_of_variables_are_in_neither_form)
{
	autobuf struct buf text = buf_make(1 << 20);
	struct claims claims = everything();
	struct plan *plan = compile(build("moderate"), &claims);
	json_t *json = plan_to_json(plan);
	char *dump = json_dumps(json, 0);

	plan_print(&text, plan);
	cr_expect(strstr(text.p, "env-set         PRIVATE\n"));
	cr_expect_null(strstr(text.p, "value-of-it"));
	cr_expect(strstr(dump, "\"PRIVATE\""));
	cr_expect_null(strstr(dump, "value-of-it"));
	free(dump);
	json_decref(json);
}

static void expect_failure(const char *what, enum cordon_code code, const char *message)
{
	const struct policy *policy = build("moderate");
	struct claims claims = everything();
	struct plan_input input = { .policy = policy, .claims = &claims, .world = &fake.world };
	struct plan *plan = NULL;

	cr_assert_eq(plan_compile(&a, &input, &plan, &err), -(int)code, "%s", what);
	cr_expect(strstr(err.message, message), "%s: %s", what, err.message);
	cr_expect_null(plan);
	memset(&flags, 0, sizeof(flags));
}

Test(plan, what_cannot_be_expressed_is_an_error)
{
	with_flag("--allow-write", "/w/*.log");
	expect_failure("a glob that grants", CORDON_E_CONFIG, "/w/*.log");
	with_flag("--deny", "**/.env");
	expect_failure("a glob that hides, without exact", CORDON_E_CONFIG, "**/.env");
	with_flag("--allow-write", "/gone");
	expect_failure("a grant on nothing", CORDON_E_PATH, "/gone");
	with_flag("--allow-write", "=/home/u");
	expect_failure("one directory without what is below", CORDON_E_CONFIG, "=/home/u");
	with_flag("--allow-unix", "/gone.sock");
	expect_failure("a socket that is not there", CORDON_E_PATH, "/gone.sock");
	with_flag("--allow-unix", "/usr/bin/sh");
	expect_failure("a socket that is none", CORDON_E_PATH, "/usr/bin/sh");
}
