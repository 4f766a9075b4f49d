/* SPDX-License-Identifier: Apache-2.0 */
/* Adds to a profile in a configuration file: all of it, or nothing. */
#ifndef CORDON_CLI_MERGE_FILE_H
#define CORDON_CLI_MERGE_FILE_H

#include "policy/amend.h"

/* A file that is not there is made, for its owner alone. The file is replaced at once; a
 * link, and a file that somebody else changed meanwhile, are refused. */
int merge_file(struct arena *a, const char *file, const char *profile, const char *extends,
	       const struct amendment *items, size_t n, struct cordon_error *err);

#endif
