/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn: from what a run was refused to the rules that would have allowed it.
 *
 * Pure: whoever calls has looked at files and policy and says of each refusal what a rule
 * would have to name, and whether it must not be granted at all. Rules for several names in
 * one directory become one for the directory, as long as that is not the home, the root or
 * another place in which everything lies; what only such a rule could allow is left out.
 */
#ifndef CORDON_REPORT_LEARN_H
#define CORDON_REPORT_LEARN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "policy/keys.h"
#include "policy/world.h"

/* From so many names in one directory on the rule is for the directory. */
#define LEARN_SIBLINGS 4

struct learn_refusal {
	enum key key;	       /* what would have to be granted; KEY_COUNT: there is no such */
	struct str object;     /* what was refused */
	struct str place;      /* what the rule names: the object, or a directory above it */
	const char *program;   /* "": not known */
	const char *left_out;  /* why it is not to be granted; NULL: it may be */
};

struct learn_rule {
	enum key key;
	struct str place;
	const char *program;
	size_t refusals; /* that it answers */
};

struct learned {
	VEC(struct learn_rule) rules; /* by key, then by place */
	VEC(struct learn_refusal) left_out;
};

/* Texts stay the caller's. */
int learn_rules(struct arena *a, const struct learn_refusal *refusals, size_t n,
		const struct places *places, struct learned *ret, struct cordon_error *err);

/* Does the rule answer the refusal? */
bool learn_answers(const struct learn_rule *rule, const struct learn_refusal *refusal);

/* What runs, or is relied upon, with the rights of whoever installs or starts it. */
bool learn_is_system(struct str place);

/* Why no rule of that key is made for the place, whatever is in it; NULL: it may be. */
const char *learn_unfit(enum key key, struct str place, const struct places *places);

#endif
