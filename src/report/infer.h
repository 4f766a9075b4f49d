/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer: violations deduced from what a command printed.
 *
 * A line in which some program complains that it was refused, naming a path that
 * exists and that the policy really refuses, or a host that it refuses, is taken as a
 * violation and marked inferred. It may be wrong - a log shown by cat says the same - so
 * nothing is decided by it. Reading is bounded: the end of the text, a number of complaints.
 */
#ifndef CORDON_REPORT_INFER_H
#define CORDON_REPORT_INFER_H

#include "policy/policy.h"
#include "report/violation.h"

#define INFER_BYTES_MAX ((size_t)1 << 20) /* of one text, from its end */
#define INFER_COMPLAINTS_MAX 500	  /* lines looked at closely */
#define INFER_TRIES_MAX 2000		  /* paths and hosts asked about */

struct infer {
	const struct policy *policy;
	struct world world;
	struct arena *arena;	       /* for what the world remembers */
	struct violations *violations; /* what is found is added here */
	/* A refused write says "permission denied" here, and nobody but its caller sees it. */
	bool guesses_writes;
	const char *search;	       /* where the command looks for programs; NULL: unknown */
	unsigned complaints, tries;    /* so far, over all texts */
};

void infer_text(struct infer *in, struct str text);
/* The program of that name where the command would have found it, which it may not execute;
 * NULL: there is none. In the arena. */
const char *infer_program(struct infer *in, struct str name);

/* Does some program complain that it has no more rights than its caller? */
bool infer_is_powerless(struct str text);
/* Does a program say that it met the limit of this key? */
bool infer_is_limited(struct str text, enum key key);
/* Does a program say that a file system is full? */
bool infer_is_full(struct str text);

#endif
