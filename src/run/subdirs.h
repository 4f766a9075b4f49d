/* SPDX-License-Identifier: Apache-2.0 */
/* The directories that runs leave side by side in one below cordon's home. */
#ifndef CORDON_RUN_SUBDIRS_H
#define CORDON_RUN_SUBDIRS_H

#include "base/arena.h"
#include "base/err.h"

/* `dir` is the directory above, `path` (in the arena) and `name` are of the one told. A
 * result below 0 ends it. */
typedef int subdir_fn(void *data, int dir, const char *path, const char *name,
		      struct cordon_error *err);

/* Tells every name in `top` that does not begin with a dot; none when it is not there. */
int subdirs_each(struct arena *a, const char *top, subdir_fn *tell, void *data,
		 struct cordon_error *err);

#endif
