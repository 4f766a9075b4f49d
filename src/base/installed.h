/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was built and installed together with this program, found whether it runs in the build
 * tree or where it was installed.
 */
#ifndef CORDON_BASE_INSTALLED_H
#define CORDON_BASE_INSTALLED_H

#include "base/arena.h"
#include "base/str.h"

/* The path of `to` in the prefix whose `from` is the normal path `dir`, as "bin" and
 * "libexec/cordon"; NULL when dir does not end in from, or memory is out. */
const char *installed_moved(struct arena *a, struct str dir, struct str from, const char *to);
/* A file of cordon's own that can be accessed in this mode (access(2)): beside the program, or
 * where it was to be installed. NULL: in neither; *ret_places, if asked for, then names both. */
const char *installed_find(struct arena *a, const char *name, int mode, const char **ret_places);

#endif
