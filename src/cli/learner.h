/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behind `cordon learn`: takes what runs were refused and keeps the additions to the policy
 * that would have allowed it. An addition is never guessed: the policy is built and compiled
 * with it, and it is taken only when it allows what was refused, opens no secret and lets
 * no file be changed that decides what runs later (as the profile moderate lists them,
 * whichever one is used). Whoever wants such a thing says so with a flag.
 */
#ifndef CORDON_CLI_LEARNER_H
#define CORDON_CLI_LEARNER_H

#include "cli/verdict.h"
#include "policy/amend.h"
#include "report/learn.h"
#include "report/violation.h"

struct learner_rule {
	struct amendment add;
	const char *program;	/* that needed it; NULL: given as a flag */
	size_t refusals;
};

struct learner {
	struct opts *o;
	struct policy *yardstick; /* knows secrets and control files */
	VEC(struct learner_rule) rules;
	struct learned last; /* of the last run: what it was refused in the end is left out */
};

/* What the flags grant is a part of what is learned. */
int learner_open(struct learner *l, const struct situation *s, struct cordon_error *err);
/* Takes what a run was refused, and adds what was learned to the flags for the next.
 * *ret_new: how much was. */
int learner_take(struct learner *l, const struct explainer *e, const struct violations *refused,
		 size_t *ret_new, struct cordon_error *err);

#endif
