/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that build a policy; nobody else includes it. */
#ifndef CORDON_POLICY_BUILD_IN_H
#define CORDON_POLICY_BUILD_IN_H

#include "policy/policy.h"

struct builder {
	struct arena *arena;
	const struct policy_input *in;
	struct policy *policy;
	VEC(const struct layer *) layers;
	struct cordon_error *err;
};

/* Chooses the profile and fills `layers`, parents first; says whether to confine. */
int build_collect_layers(struct builder *b);
/* What is closed is closed wherever mounts show it; after all rules are there. */
int build_aliases(struct builder *b);
/* Finds the directories that compare names folded; after all rules are there. */
int build_folding(struct builder *b);
/* The hosts that nothing may reach, and then those that are listed. */
int build_denied_hosts(struct builder *b);
int build_hosts(struct builder *b);

#endif
