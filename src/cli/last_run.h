/* SPDX-License-Identifier: Apache-2.0 */
/*
 * $CORDON_HOME/last-run.json: the violations of the last run that had any, for
 * `cordon explain --last`. Of the command only the program's name is kept, since
 * arguments can hold what must not lie around.
 */
#ifndef CORDON_CLI_LAST_RUN_H
#define CORDON_CLI_LAST_RUN_H

#include <jansson.h>
#include "base/arena.h"
#include "base/err.h"

#define LAST_RUN_BYTES_MAX ((size_t)8 << 20)

/* Replaces the file with `run` as a whole. What would make it too long is cut from the end
 * of `violations` and counted in `violations_dropped`. Returns 0, or -errno with the
 * file as it was. `home` is made where it is missing. */
int last_run_write(const char *home, json_t *run);
/* *ret is NULL when there is none, else the caller's to json_decref. */
int last_run_read(struct arena *a, const char *home, json_t **ret, struct cordon_error *err);

#endif
