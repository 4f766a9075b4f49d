/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection: which calls the guard looks at closely.
 *
 * Resolving a path costs ten times what letting the call go on does, so the text alone
 * decides first. A name can be in a guarded place only if it is called like a guarded
 * name, or like a directory that leads to one (which must stay a directory, and must
 * not be moved): every such component, from the tree down that the command may write,
 * is in a small table, and the last component of a path is looked up in it. Patterns and
 * hidden names can be anywhere; with them every call is selected.
 */
#ifndef CORDON_RUN_SELECTION_H
#define CORDON_RUN_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"

struct selection {
	bool every;
	struct str *table; /* a power of two of slots */
	size_t size, used;
};

int selection_from_plan(struct arena *a, const struct plan *plan, struct selection *ret,
			struct cordon_error *err);
/* By the last component of the text; "", "." and ".." can make nothing. */
bool selection_has(const struct selection *s, struct str path);

#endif
