/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving a name that strangers made: out of the way, and back.
 *
 * No link is followed at either name and nothing is ever replaced. A directory
 * that has lost its owner's rights is given them, so that a mode keeps nothing in place.
 */
#ifndef CORDON_RUN_MOVE_H
#define CORDON_RUN_MOVE_H

#include <stdbool.h>

/* Moves `name` of a directory to `as` of another. Across file systems only with `across`
 * (-EXDEV otherwise), by a copy that appears whole; nobody may change the original then.
 * Returns 0 or -errno: -EEXIST when there is something at `as`, whatever it is. After a
 * failure the original is where it was; only when a copied one could not be removed are
 * there both. */
int move_name(int from, const char *name, int to, const char *as, bool across);
/* Removes `name`, however deep. Returns 0 or -errno. */
int move_nowhere(int dir, const char *name);

#endif
