/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git was refused leaves it half way, with a complaint that does not say what to do
 * next. One sentence for each such case, said only where the files show that it is so.
 */
#ifndef CORDON_CLI_GIT_HINTS_H
#define CORDON_CLI_GIT_HINTS_H

#include "cli/verdict.h"
#include "report/violation.h"
#include "run/result.h"

/* After the run; at most one remark for each case. */
void git_hints_say(const struct explainer *e, const struct violations *violations,
		   const struct run_result *result);

/* A refused write of git's that leads to the next one: *ret becomes what all of them take. Left
 * alone where it is none. */
void git_hints_fix(const struct explainer *e, struct str object, struct fix *ret);

#endif
