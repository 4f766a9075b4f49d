/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy put together in C: what a program says takes the place of the flags of a
 * command line, with the same keys and the same checks, so that it means what the same
 * words mean in TOML.
 *
 *	struct policy_builder b;
 *
 *	policy_builder_init(&b, &arena, "moderate");
 *	policy_builder_add(&b, KEY_READ, "/opt/sdk");
 *	policy_builder_add(&b, KEY_WRITE, "{home}/.ccache");
 *	policy_builder_set(&b, KEY_TIMEOUT, 600000);
 *	r = policy_builder_build(&b, &input, &policy, &err);
 *
 * The first mistake is kept and everything after it ignored, so only the last call needs
 * to be looked at. Everything is in the arena; there is nothing to free.
 */
#ifndef CORDON_POLICY_BUILDER_H
#define CORDON_POLICY_BUILDER_H

#include "base/buf.h"
#include "policy/policy.h"

struct policy_builder {
	struct arena *arena;
	const char *profile;
	struct layer said;
	int failed;		/* the negative code of the first mistake; 0: none so far */
	struct cordon_error error;
};

/* profile: what everything else goes on top of; NULL: configuration decides. */
void policy_builder_init(struct policy_builder *b, struct arena *a, const char *profile);

/* One value as a flag gives it: of a list one more element. */
void policy_builder_add(struct policy_builder *b, enum key key, const char *text);
/* A number: bool, milliseconds, bytes, count or port. A limit of 0 means none. */
void policy_builder_set(struct policy_builder *b, enum key key, uint64_t number);
/* A list with nothing in it, which is not the same as no list, and stays so. */
void policy_builder_empty(struct policy_builder *b, enum key key);

/* The policy. `input` brings configuration files, places and world; its profile and flags
 * are not looked at. */
int policy_builder_build(struct policy_builder *b, const struct policy_input *input,
			 struct policy **ret, struct cordon_error *err);
/* The same as a profile of that name, in TOML. What cannot stand in a profile (backend,
 * fallback ...) stands in [sandbox] before it. */
int policy_builder_print(const struct policy_builder *b, const char *name, struct buf *out,
			 struct cordon_error *err);

#endif
