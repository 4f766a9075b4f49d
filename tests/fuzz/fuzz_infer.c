/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of complaints. Whatever is found is marked inferred, is refused by
 * the policy, and is bounded; the summary of it holds nothing a terminal would act on.
 */
#include "fuzz.h"
#include "policy/profiles.h"
#include "report/infer.h"
#include "report/summary.h"
#include "world_fake.h"

static struct arena a;
static struct fake_world fake;
static struct policy *policy;

static void set_up(void)
{
	static struct config builtin;
	static struct layer flags;
	struct cordon_error err;
	struct policy_input in = {
		.builtin = &builtin, .flags = &flags, .world = &fake.world,
		.places = { .workdir = STR("/w"), .home = STR("/home/u"), .tmp = STR("/tmp"),
			    .data = STR("/w"), .cordon_home = STR("/home/u/.cordon") },
	};

	arena_init(&a, (size_t)128 << 20);
	fake_world_init(&fake, &a);
	fake_world_add(&fake, STR("/home/u/.ssh/id"), NODE_FILE);
	fake_world_add(&fake, STR("/w/.git/hooks"), NODE_DIR);
	CHECK(profiles_load(&a, &builtin, &err) == 0);
	CHECK(policy_build(&a, &in, &policy, &err) == 0);
}

static void check_one(const struct violation *v)
{
	enum policy_op op = v->op == VIOLATION_read  ? POLICY_READ :
			    v->op == VIOLATION_write ? POLICY_WRITE :
						       POLICY_EXEC;
	struct decision d;

	CHECK(v->source == VIOLATION_BY_inferred);
	if (v->op != VIOLATION_resolve)
		CHECK(!policy_allows(policy, op, v->object, &d));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct violations *all = violations_new();
	autoarena struct arena scratch = { .max = (size_t)64 << 20 };
	autobuf struct buf b = buf_make((size_t)4 << 20);
	struct infer in = { .arena = &scratch, .violations = all };

	if (!policy)
		set_up();
	in.policy = policy;
	in.world = fake.world;
	infer_text(&in, (struct str){ (const char *)data, size });
	CHECK(in.complaints <= INFER_COMPLAINTS_MAX);
	for (size_t i = 0; i < violations_count(all); i++)
		check_one(violations_at(all, i));
	violations_summary(&b, all, NULL, NULL);
	CHECK(!b.failed);
	for (size_t i = 0; i < b.n; i++)
		CHECK((unsigned char)b.p[i] >= 0x20 || b.p[i] == '\n');
	violations_free(all);
	return 0;
}
