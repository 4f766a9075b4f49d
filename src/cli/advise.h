/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The advisor for violations of a run: the same verdicts and fixes as `cordon explain`,
 * less those that would not help because ordinary permissions refuse it outside too.
 */
#ifndef CORDON_CLI_ADVISE_H
#define CORDON_CLI_ADVISE_H

#include "cli/verdict.h"
#include "report/violation.h"

/* e must stay in place while the advisor is used; texts are in its options' arena. */
struct violation_advisor advisor_of(struct explainer *e);

#endif
