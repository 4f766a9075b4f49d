/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a directory of this machine takes names that differ in case for the same. Most
 * file systems never do, and for those the answer costs one look at each of them.
 */
#ifndef CORDON_RUN_FOLDS_H
#define CORDON_RUN_FOLDS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/vec.h"

enum folding {
	FOLDS_NEVER,
	FOLDS_BY_FLAG,
	FOLDS_ALWAYS,
	FOLDS_SERVED, /* as a server likes; the kernel keeps spellings apart */
};
/* What a file system of that statfs type does. sys_fs: where the kernel lists what its
 * file systems can, "/sys/fs" but for tests. */
enum folding filesystem_folding(uint64_t type, const char *sys_fs);

struct filesystem {
	uint64_t dev;
	enum folding how;
};

struct filesystems {
	VEC(struct filesystem) known;
};

/* Are all names that can be found in the directory listed in it? Not where they may come by
 * automounting, as short names, as a server or a driver in user space likes. */
bool directory_lists_all(int dir);
/* path: a directory, of the device dev. True also where it cannot be told. */
bool directory_folds(struct filesystems *all, struct arena *a, const char *path, uint64_t dev);
/* Does the kernel ask a server for each spelling of a name in that directory? */
bool directory_is_served(struct filesystems *all, struct arena *a, const char *path, uint64_t dev);
#endif
