/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What backends without mounts do where the plan has a directory of the sandbox's own:
 * the host's is closed, and a variable names one that was made for the run or is kept
 * for the project.
 */
#ifndef CORDON_BACKEND_UNMOUNTED_H
#define CORDON_BACKEND_UNMOUNTED_H

#include "backend/backend.h"

/* Can a variable name this private cache? The toolchain's own directory cannot be
 * covered. */
bool unmounted_cache(const struct plan *plan, const struct op *op);
/* Makes launch->scratch where /tmp is private. */
int unmounted_scratch(struct arena *a, const struct plan *plan, struct launch *launch,
		      struct cordon_error *err);
/* What serves as /tmp: shared with other runs, of this run alone, or NULL. */
const char *unmounted_tmp(const struct plan *plan, const struct launch *launch);
/* The plan's environment with TMPDIR naming `tmp` (NULL: as it is), and variables for the
 * caches that mounts would cover. NULL: out of memory. */
char **unmounted_environ(struct arena *a, const struct plan *plan, const char *tmp);

#endif
