/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving a name that strangers made: out of the way, and back.
 *
 * No link is followed at either name and nothing is ever replaced. A directory
 * that has lost its owner's rights is given them, so that a mode keeps nothing in place.
 */
#ifndef CORDON_RUN_MOVE_H
#define CORDON_RUN_MOVE_H

#include <limits.h>
#include <stdint.h>

enum move_across {
	MOVE_NOT_ACROSS, /* -EXDEV */
	MOVE_SOME,	 /* -EFBIG above the bounds here */
	MOVE_ALL,
};
#define MOVE_BYTES_MAX ((uint64_t)1 << 30) /* holes do not count */
#define MOVE_ENTRIES_MAX 100000

struct move_spent {
	uint64_t bytes, entries;
};

/* Moves `name` of a directory to `as` of another; `across` file systems by a copy that
 * appears whole and is on the disk before the original goes; nobody may change that
 * meanwhile. Holes stay holes. Returns 0 or -errno: -EEXIST when there is something at
 * `as`, whatever it is. After a failure the original is where it was; only when a copied
 * one could not be removed are there both. */
int move_name(int from, const char *name, int to, const char *as, enum move_across across);
/* The same within the bounds, which are for all that is moved with one `spent` (-EFBIG), but a
 * file that has other names, too, is always copied: whoever has one of those could change it
 * where it is kept. What cannot be copied is moved. */
int move_apart(int from, const char *name, int to, const char *as, struct move_spent *spent);
/* Gives `name` another one in its directory that nobody can foresee. */
int move_aside(int dir, const char *name, char ret_name[NAME_MAX + 1]);
/* Removes `name`, however deep. Returns 0 or -errno. */
int move_nowhere(int dir, const char *name);

#endif
