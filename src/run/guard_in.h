/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the guard share: guard.c takes calls and answers them, guard_judge.c asks
 * the policy about what they name. */
#ifndef CORDON_RUN_GUARD_IN_H
#define CORDON_RUN_GUARD_IN_H

#include "report/violation.h"
#include "run/git_rewrite.h"
#include "run/guard.h"
#include "run/notify.h"
#include "run/observe.h"
#include "run/request.h"
#include "run/selection.h"
#include "run/sentry.h"
#include "run/target.h"

struct guard {
	struct run_part part;
	struct run *run;
	const struct policy *policy;
	struct selection selection;
	struct notify notify;
	struct target_view view;
	struct observer observer;
	struct sentry sentry;
	struct arena *arena;
	const struct plan *plan;
	struct egress *egress; /* NULL: no host is listed */
	struct git_unset unset;
	struct run_result *result; /* in the end */
	bool observes, sees_reads, guards;
	int refusal;		/* what a refused call fails with: as the kernel's own rules here */
	struct request request; /* the call at hand */
	bool told;		/* it is a violation already */
	const struct launch *launch;
};

/* Tells of a call that is refused, unless its process is gone. */
void guard_report(struct guard *g, const struct seccomp_notif *call, struct violation *v);
/* Was `r`, of reading what a call names, said because its process cannot be looked at? */
bool guard_is_closed(const struct request *q, int r);
/* Such a call is refused and told; only where something rests on it, or always. */
int guard_judge_closed(struct guard *g, const struct request *q);
int guard_refuse_closed(struct guard *g, const struct request *q);

/* 0: let it go on; otherwise what the guard answers. Of a call that can concern a guarded name: */
int guard_judge_selected(struct guard *g, const struct request *q);
/* Of a rename: does it put a new configuration of git in its place? */
int guard_judge_git_config(struct guard *g, const struct request *q);
int guard_judge_removal(struct guard *g, const struct request *q);
/* Of a connect by a path. */
int guard_judge_connect(struct guard *g, const struct request *q);

#endif
