/* SPDX-License-Identifier: Apache-2.0 */
/* What `cordon learn` has seen and how it is told: as a profile, as remarks, as JSON. */
#ifndef CORDON_CLI_LESSON_H
#define CORDON_CLI_LESSON_H

#include "cli/learner.h"
#include "report/accesses.h"
#include "run/result.h"

struct lesson {
	struct opts *o;
	const char *name, *base; /* of the profile, and of the one below it */
	struct str workdir;
	struct learner learner;
	struct accesses *accesses; /* of the last run */
	uint64_t most;		   /* rounds */
	uint64_t rounds;
	size_t fresh; /* additions that the last run gave */
	uint64_t dropped;
	enum run_cause cause;
	int exit_code;
	struct cordon_error err;
};

/* Prints it, or merges it into the file that was asked for; returns the exit status. */
int lesson_tell(struct lesson *s);

#endif
