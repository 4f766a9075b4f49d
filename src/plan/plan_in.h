/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that compile a plan; nobody else includes it. */
#ifndef CORDON_PLAN_PLAN_IN_H
#define CORDON_PLAN_PLAN_IN_H

#include "plan/plan.h"

struct compiler {
	struct arena *arena;
	const struct plan_input *in;
	struct plan *plan;
	bool out_of_memory;
	struct cordon_error *err;
};

/* Appends an operation; NULL (and out_of_memory) when memory is out. The pointer holds
 * until the next call. */
struct op *plan_emit(struct compiler *c, enum op_kind kind, struct str path);
/* The part of the plan that shapes the file tree. */
int plan_files(struct compiler *c);

#endif
