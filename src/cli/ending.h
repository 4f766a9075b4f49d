/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `cordon run` tells of violations: live, at the end, and to `cordon explain
 * --last`. Holds the store that a run notes them in. With --changes also what is
 * different afterwards in the places that were writable.
 */
#ifndef CORDON_CLI_ENDING_H
#define CORDON_CLI_ENDING_H

#include "cli/verdict.h"
#include "report/changes.h"
#include "report/summary.h"
#include "report/violation.h"
#include "run/execute.h"
#include "run/result.h"

struct ending {
	const struct opts *o;
	struct violations *violations;
	struct explainer explainer;
	struct violation_advisor finder;	/* tries changes of the policy ... */
	struct violation_advisor advisor;	/* ... and this remembers what it found */
	struct {
		bool known;
		struct violation_advice advice;
	} memory_of[VIOLATIONS_MAX];
	struct violation_listener watcher;	/* with --watch, and in a shell */
	struct run_teller teller;		/* in a shell */
	struct summary_told told;
	struct arena memory;		/* of the two below */
	struct snapshot before;		/* with --changes */
	struct changes changes;
};

int ending_open(const struct opts *o, const struct setup *setup, struct ending *ret,
		struct cordon_error *err);
/* Another plan than the one it was opened with. */
void ending_set_plan(struct ending *e, const struct setup *setup);
void ending_close(struct ending *e); /* accepts a zeroed one */

/* After the run: compares what is there, with --changes. */
void ending_compare(struct ending *e);
/* Looks for refusals in captured output, where the policy has it reported. */
void ending_infer(struct ending *e, struct run_result *result);
/* A few sentences on standard error; not with --quiet. */
void ending_say(const struct ending *e, const struct run_result *result);
/* For `cordon explain --last`; nothing when nothing was refused. */
void ending_record(const struct ending *e, const struct run_result *result);

#endif
