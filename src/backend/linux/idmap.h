/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Id maps written by the parent, for a caller who is root: all ids stay what they are,
 * so files of other users keep their owners inside.
 */
#ifndef CORDON_BACKEND_LINUX_IDMAP_H
#define CORDON_BACKEND_LINUX_IDMAP_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"

/* Is the caller root, with the capabilities to map more than one id? */
bool idmap_by_parent(void);
/* A spawn_request's `parent`: maps every id the caller's namespace has onto itself. Where it
 * cannot begin it has written nothing, so it can be asked again with another process of the
 * same namespace. */
int idmap_write(void *data, pid_t pid, struct cordon_error *err);

#endif
