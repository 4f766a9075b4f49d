/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a Seatbelt profile as its language says, and answers what it allows. Whatever
 * cordon does not write is a fault: an unknown form, operation, filter or escape, text
 * behind the end, a pattern that is none. So a path that broke out of its string shows.
 *
 * Of the rules that name an operation itself the last that matches decides, then of those
 * that name its family, then the default.
 */
#ifndef CORDON_TESTS_SBPL_READ_H
#define CORDON_TESTS_SBPL_READ_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/str.h"

struct sbpl;

/* Values of the parameters; an empty one is not given. */
struct sbpl_params {
	struct str workdir, home, tmpdir;
};

/* NULL, with the fault in *ret_fault, when it is not one well-formed profile. */
struct sbpl *sbpl_read(struct arena *a, struct str text, const struct sbpl_params *params,
		       const char **ret_fault);
/* May the operation be done on the path? */
bool sbpl_allows(const struct sbpl *profile, const char *op, struct str path);
/* The same for an operation that is about no path: does a rule without filter allow it? */
bool sbpl_allows_all(const struct sbpl *profile, const char *op);
/* The number of forms. */
size_t sbpl_count(const struct sbpl *profile);

#endif
