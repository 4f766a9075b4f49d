/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that cordon does on every system, from the embedded profiles to the text for
 * Seatbelt, as one program: it links wherever the sources that claim to build there hold
 * together, and prints the same on each.
 */
#include <stdio.h>

#include "backend/seatbelt.h"
#include "policy/profiles.h"
#include "world_fake.h"

#define ARENA_MAX ((size_t)64 << 20)

static const char *const names[] = {
	"strict", "moderate", "permissive", "shell", "agent", "custom"
};

static int print_profile(struct arena *a, const struct config *builtin, const char *name,
			 struct cordon_error *err)
{
	autobuf struct buf text = buf_make(SEATBELT_BYTES_MAX);
	struct claims claims = { .backend = "seatbelt" };
	struct policy_input in = {
		.profile = name,
		.builtin = builtin,
		.places = { .workdir = STR("/w"),
			    .home = STR("/home/u"),
			    .tmp = STR("/tmp"),
			    .data = STR("/w"),
			    .cordon_home = STR("/home/u/.cordon") },
	};
	struct plan_input plan_in = { .claims = &claims };
	struct fake_world fake;
	struct policy *policy;
	struct plan *plan;
	int r;

	fake_world_init(&fake, a);
	fake_world_add(&fake, STR("/w/src"), NODE_DIR);
	fake_world_add(&fake, STR("/tmp"), NODE_DIR);
	in.world = plan_in.world = &fake.world;
	r = policy_build(a, &in, &policy, err);
	plan_in.policy = policy;
	if (r == 0)
		r = plan_compile(a, &plan_in, &plan, err);
	if (r == 0)
		r = seatbelt_profile(a, plan, &text, err);
	if (r == 0)
		fputs(text.p, stdout);
	return r;
}

int main(void)
{
	struct cordon_error err = { 0 };
	autoarena struct arena a;
	struct config builtin;
	int r;

	arena_init(&a, ARENA_MAX);
	r = profiles_load(&a, &builtin, &err);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && r == 0; i++)
		r = print_profile(&a, &builtin, names[i], &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.message);
	return r < 0;
}
