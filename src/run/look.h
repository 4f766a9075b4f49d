/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look: what is in the places a run may write to, for the report of changes.
 *
 * Links are not followed, nothing is opened but directories, and the number of files is
 * bounded: a snapshot that would be larger is marked incomplete. Directories that cannot be
 * entered or lie too deep are named. What git keeps in .git/objects is left out.
 */
#ifndef CORDON_RUN_LOOK_H
#define CORDON_RUN_LOOK_H

#include "plan/plan.h"
#include "report/changes.h"

#define LOOK_FILES_MAX 100000
#define LOOK_DEPTH_MAX 64

/* Sorted, in the arena. What does not fit into the arena makes it incomplete. */
void look_at_plan(struct arena *a, const struct plan *plan, struct snapshot *ret);

#endif
