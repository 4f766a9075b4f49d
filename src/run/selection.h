/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection: which calls the guard looks at closely.
 *
 * Resolving a path costs ten times what letting the call go on does, so the text alone
 * decides first. A name can be in a guarded place only if it is called like a guarded
 * name, or like a directory that leads to one (which must stay a directory, and must
 * not be moved): every such component, from the tree down that the command may write,
 * is in a small table, and the last component of a path is looked up in it. The others
 * are, too, for what lies below a guarded name that somebody made on the host meanwhile.
 * Patterns, hidden names and names that compare folded can be anywhere and in any
 * spelling; with them every call is selected, as it is where the backend does not hold what
 * exists and is protected in a writable tree.
 */
#ifndef CORDON_RUN_SELECTION_H
#define CORDON_RUN_SELECTION_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "plan/plan.h"

struct selection {
	bool every;
	bool unheld; /* because of what the kernel does not protect here */
	struct map names; /* guarded names, and the directories that lead to them */
	struct map whole; /* guarded names alone */
};

int selection_from_plan(struct arena *a, const struct plan *plan, struct selection *ret,
			struct cordon_error *err);
/* Goes by the text; a last component of "", "." or ".." makes nothing. */
bool selection_has(const struct selection *s, struct str path);

#endif
