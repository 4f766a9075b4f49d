/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of policies start from: the built-in profiles, an empty fake world, the usual
 * places and no flags. A test fills in what it is about, then asks for the policy. Every
 * test program is one file, so all of this is its own.
 */
#ifndef CORDON_TESTS_POLICY_FIXTURE_H
#define CORDON_TESTS_POLICY_FIXTURE_H

#include <criterion/criterion.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/profiles.h"
#include "world_fake.h"

static struct arena a;
static struct fake_world fake;
static struct config builtin;
static struct layer flags;
static struct policy_input in;
static struct cordon_error err;

static inline void fixture_setup(void)
{
	arena_init(&a, (size_t)256 << 20);
	fake_world_init(&fake, &a);
	memset(&flags, 0, sizeof(flags));
	cr_assert_eq(profiles_load(&a, &builtin, &err), 0, "%s", err.message);
	in = (struct policy_input){
		.builtin = &builtin,
		.flags = &flags,
		.world = &fake.world,
		.places = { .workdir = STR("/w"),
			    .home = STR("/home/u"),
			    .tmp = STR("/tmp"),
			    .data = STR("/w"),
			    .cordon_home = STR("/home/u/.cordon") },
	};
}

static inline void fixture_teardown(void)
{
	arena_free(&a);
}

static inline void with_flag(const char *flag, const char *value)
{
	struct origin origin = { SOURCE_FLAGS, flag, 0, 0 };
	enum key key;

	cr_assert(key_from_flag(str_of(flag), &key));
	cr_assert_eq(layer_add_text(&a, &flags, key, str_of(value), &origin, &err), 0, "%s",
		     err.message);
}

static inline struct policy *built(void)
{
	struct policy *p = NULL;

	cr_assert_eq(policy_build(&a, &in, &p, &err), 0, "%s", err.message);
	return p;
}

#endif
