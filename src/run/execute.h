/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run, from a plan to a result: finds the program, lets the backend prepare, hands
 * over to the supervisor, and puts together the JSON object of docs/result.schema.json.
 */
#ifndef CORDON_RUN_EXECUTE_H
#define CORDON_RUN_EXECUTE_H

#include <jansson.h>
#include <stdbool.h>
#include "backend/backend.h"
#include "report/accesses.h"
#include "report/changes.h"
#include "report/violation.h"
#include "run/capture.h"
#include "run/result.h"
#include "run/situation.h"

struct run_part;

/* Who is to be called between two commands of a shell that has a terminal: while one of them
 * is in front, the screen is its own. */
struct run_teller {
	bool waiting; /* there is something to tell, whatever is shown */
	/* shown: whole lines that the terminal showed since the last time. */
	void (*tell)(void *data, struct str shown);
	void *data;
};

struct spawn_ahead;

struct execute_options {
	char *const *argv;	/* the command; argv[0] is searched for in the plan's PATH */
	bool capture;
	bool stdin_null;
	bool lets_go;		/* as in run/supervise.h */
	struct violations *violations;	/* where refusals are noted; NULL: nowhere */
	bool end_at_violation;		/* the first one ends the run, cause policy */
	bool strictly;			/* no refused change may be missed, whatever that takes */
	struct accesses *accesses;	/* where what is allowed is noted; NULL: nowhere */
	const struct capture_sink *sink;	/* gets what is captured, too; NULL: nobody */
	struct run_teller *teller;	/* for a shell at a prompt; NULL: nobody */
	struct spawn_ahead *ahead;	/* base/spawn.h; for the first start only, or NULL */
	struct run_part *part;		/* the caller's own, after all others; NULL: none */
};

/* *ret is filled whenever 0 is returned, also when the command could not be started
 * (cause setup or policy, with ret->error). Freed with run_result_free. */
int execute(struct arena *a, const struct situation *s, const struct backend *backend,
	    const struct plan *plan, const struct caps *caps, const struct execute_options *options,
	    struct run_result *ret, struct cordon_error *err);

/* Passthrough is no boundary, whatever the policy asks for. */
bool execute_confines(const struct plan *plan);
/* Does the command get something else than the caller's standard stream? */
bool execute_replaces(int fd, const struct execute_options *options);

/* Was a limit of output asked for? The one of a profile is for what is kept in memory: a
 * shell that is used all day must not end by it. */
bool execute_output_asked(const struct policy *policy);

/* What is told of a run besides its end. */
struct execute_report {
	const struct violations *violations;	/* NULL: none */
	const struct violation_advisor *advisor;	/* NULL: rules and fixes stay unsaid */
	const struct changes *changes;		/* NULL: nobody looked */
};

/* The result contract of DESIGN 5.5; plan may be NULL when there is none. NULL: out of
 * memory. */
json_t *execute_to_json(const struct run_result *result, const struct plan *plan,
			const struct execute_report *report);

#endif
