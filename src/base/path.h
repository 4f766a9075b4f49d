/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as text. No system calls here: "." and ".." are resolved lexically, and
 * symlinks are somebody else's business.
 *
 * A normal path is absolute, without empty, "." or ".." components and without a
 * trailing slash ("/" itself excepted).
 */
#ifndef CORDON_BASE_PATH_H
#define CORDON_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/str.h"

#define PATH_BYTES_MAX 4095

bool path_is_normal(struct str path);
/* Normalises text, taken relative to the normal path `base`. NULL when text is
 * empty, holds a NUL, the result is longer than PATH_BYTES_MAX, or memory is out. */
char *path_normalise(struct arena *a, struct str base, struct str text);
/* Number of components of a normal path; "/" has none. */
size_t path_depth(struct str path);
/* Below 0, 0 or above it as `a` comes before, is, or comes after `b` in a walk that visits a
 * directory before what is in it. Both normal. */
int path_order(struct str a, struct str b);
/* Is `path` equal to `tree` or below it? Both normal. */
bool path_below(struct str path, struct str tree);
/* Takes the next component off *rest (a normal path or the tail of one); false at
 * the end. Never yields an empty component. */
static inline bool path_next(struct str *rest, struct str *ret_component)
{
	const char *p = rest->p, *end, *start;

	*ret_component = *rest;
	if (!rest->n)
		return false;
	end = p + rest->n;
	while (p < end && *p == '/')
		p++;
	start = p;
	while (p < end && *p != '/')
		p++;
	*rest = (struct str){ p, (size_t)(end - p) };
	*ret_component = (struct str){ start, (size_t)(p - start) };
	return p > start;
}
struct str path_parent(struct str path); /* "/" is its own parent */
struct str path_last(struct str path);	 /* empty for "/" */

#endif
