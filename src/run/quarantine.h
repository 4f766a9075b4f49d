/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quarantine: where names go that should not have been made, so that nothing is lost:
 * $CORDON_HOME/quarantine/TIME-PID/N-NAME, for the owner alone.
 */
#ifndef CORDON_RUN_QUARANTINE_H
#define CORDON_RUN_QUARANTINE_H

#include <limits.h>
#include <stdbool.h>

struct quarantine {
	const char *home; /* CORDON_HOME */
	unsigned taken;
	char dir[PATH_MAX]; /* "" until the first is taken */
};

/* Moves `name` of the directory there; never follows a link, never replaces anything.
 * Returns 0 with the new path, or -errno with everything as it was. Across file systems
 * (-EXDEV) it is copied and removed only with `quiet`: when nobody can change it. */
int quarantine_take(struct quarantine *q, int dir, const char *name, bool quiet,
		    char ret_path[PATH_MAX]);

#endif
