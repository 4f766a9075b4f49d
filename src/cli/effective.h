/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a policy as one flat list: for every path that any layer mentions, what
 * holds there after all layers have spoken. Written down in one file it means the same,
 * because the deepest rule wins and between these paths nothing changes.
 *
 * Two things one file cannot say are marked: executing refused where reading was opened
 * again at the very same path, and a path opened by a later source against
 * hidden_writes.
 */
#ifndef CORDON_CLI_EFFECTIVE_H
#define CORDON_CLI_EFFECTIVE_H

#include "base/buf.h"
#include "policy/policy.h"

struct effective_rule {
	enum right right;
	const struct rule *rule;	/* its origin; path and kind as in the policy */
	const char *remark;		/* NULL: none */
	bool absent;			/* a grant for what does not exist here: left out */
};

struct effective {
	VEC(struct effective_rule) rules;	/* by path, patterns last */
};

int effective_rules(struct arena *a, const struct policy *policy, struct effective *ret,
		    struct cordon_error *err);

/* The path as a policy spells it: quoted where it would be read as a pattern, with \xNN
 * for bytes that are not UTF-8. */
void effective_print_path(struct buf *b, struct str path);
void effective_print_rule_path(struct buf *b, const struct rule *rule);

#endif
