/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git_finder: what the two halves of git_control share - git_control.c knows how git lays
 * out its directories, git_named.c what a configuration can name.
 */
#ifndef CORDON_RUN_GIT_FINDER_H
#define CORDON_RUN_GIT_FINDER_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/vec.h"
#include "policy/world.h"

/* What configurations that a command can have written may name and hold, all of them together:
 * whoever plants more must not make the next run slow, or keep it from starting. */
#define GIT_PLANTED_LEVELS_MAX 4096
#define GIT_PLANTED_BYTES_MAX ((size_t)4 << 20)

struct git_finder {
	struct arena *arena;
	const struct places *places;
	VEC(struct str) found;
	struct str top;	   /* where hooks and programs of the configuration start */
	struct str config; /* the file being read */
	unsigned entries, directories;
	unsigned configs, includes; /* that were read, and those around the one at hand */
	/* From here on a command can have written what is read; what it has named and held. */
	bool plantable;
	size_t levels, bytes;
	bool too_much; /* and the rest was not looked at */
	bool out_of_memory;
};

/* dir/name in the arena; empty when memory is out. */
struct str git_below(struct git_finder *f, struct str dir, const char *name);

void git_add(struct git_finder *f, struct str path);

/* If it is in the workdir, its checkout or a git directory, where a command could change it,
 * and is not all of these. */
void git_add_inside(struct git_finder *f, struct str path);

/* What the configuration of a git directory names, with all it includes; the checkout
 * starts at top. False when there is more than is read. */
bool git_read_named(struct git_finder *f, struct str git_dir, struct str top);

/* The same for the user's and the machine's configuration. */
void git_read_common(struct git_finder *f, struct str top);

/* core.worktree of a git directory; empty when it says nothing. */
struct str git_worktree_of(struct git_finder *f, struct str git_dir);

#endif
