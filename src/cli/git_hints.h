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

#endif
