/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for one run: made empty, for its owner alone, and removed with all that
 * strangers have put into it.
 */
#ifndef CORDON_BASE_SCRATCH_H
#define CORDON_BASE_SCRATCH_H

#include "base/arena.h"
#include "base/err.h"

/* Makes `parent`/cordon-XXXXXX with mode 0700; the path is in the arena. */
int scratch_make(struct arena *a, const char *parent, const char **ret, struct cordon_error *err);
/* Removes it, however deep; needs no memory and few descriptors. Follows no link. Nobody
 * may change it meanwhile. Returns 0 or -errno. */
int scratch_remove(const char *path);

#endif
