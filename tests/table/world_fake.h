/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system made of a list, for tests and fuzzers of the policy. What is not
 * listed is absent; the parents of what is listed are directories.
 */
#ifndef CORDON_TESTS_WORLD_FAKE_H
#define CORDON_TESTS_WORLD_FAKE_H

#include <stdbool.h>
#include "base/vec.h"
#include "policy/rename.h"
#include "policy/world.h"

struct fake_entry {
	struct str path;
	enum node_type type;
	struct str target; /* of a symlink; absolute or relative */
	bool closed;	   /* a directory that may not be searched */
	bool folds;	   /* a directory that does not tell cases apart */
};

struct fake_world {
	struct world world; /* hand out a pointer to this ... */
	struct tree tree;   /* ... or this */
	struct arena *arena;
	VEC(struct fake_entry) entries;
};

/* The arena must outlive the world. */
void fake_world_init(struct fake_world *fake, struct arena *a);
/* path is normal. NULL when memory is out. */
struct fake_entry *fake_world_add(struct fake_world *fake, struct str path, enum node_type type);

#endif
