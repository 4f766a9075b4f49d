/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aliases: where else mounts show what is at a path (H31). A bind mount, a subvolume or
 * another mount of the same file system shows it again; an overlay shows what lies in the
 * directories that it is made of.
 *
 * Goes by the table of mounts. The directories of an overlay are texts that somebody gave
 * to mount(2): one that was spelled through a symlink is only found from the overlay's
 * side.
 */
#ifndef CORDON_RUN_ALIASES_H
#define CORDON_RUN_ALIASES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "policy/world.h"

struct mount {
	struct str dev, root, point;
	bool again; /* there are others of this file system */
};

/* What shows at the mount is, among others, what is in `dir`. */
struct overlay_dir {
	struct str point, dir;
	struct str real; /* "" once it is known not to exist here */
	bool resolved;
};

struct aliases {
	VEC(struct mount) mounts;
	VEC(struct overlay_dir) dirs;
	struct map by_point;
	bool any; /* something may be shown twice */
};

/* From the text of a mountinfo. False: out of memory. */
bool aliases_parse(struct aliases *t, struct arena *a, struct str mountinfo);
/* Adds the other paths of a real path to the list, as far as they are on top. False: out
 * of memory. */
bool aliases_of(struct aliases *t, struct arena *a, struct str path,
		struct world_paths *ret);

#endif
