/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy needs to know of the file system, as an interface: the program
 * brings the real one (run/world_os.c), tests and fuzzers bring their own. The policy
 * makes no system call of its own.
 */
#ifndef CORDON_POLICY_WORLD_H
#define CORDON_POLICY_WORLD_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"
#include "policy/rules.h"

struct world_paths {
	VEC(struct str) at;
};

struct world {
	/* Follows every symlink of a normal path. Where the path does not exist, what
	 * exists of it is resolved and the rest kept as spelled; ret_node is then
	 * NODE_ABSENT. A path that cannot be followed (a loop, no permission to search,
	 * too long) is an error. */
	int (*resolve)(const struct world *world, struct arena *a, struct str path,
		       struct str *ret_real, struct node *ret_node, struct cordon_error *err);
	/* Is there perhaps something of that name in the directory? NULL: perhaps. */
	bool (*may_hold)(const struct world *world, struct arena *a, struct str dir,
			 struct str name);
	/* Does the nearest directory at or above `dir` (a real path) that exists take names
	 * that differ in case for the same? Then *ret_top is the topmost one above it, or
	 * itself, that does. NULL: none does. What cannot be told counts as folding. */
	bool (*folds)(const struct world *world, struct arena *a, struct str dir,
		      struct str *ret_top);
	/* Is what is at a real path found under another spelling, too, which the kernel takes
	 * for another name? Then a mount on the one does not cover the other. NULL: nothing is. */
	bool (*has_twin)(const struct world *world, struct arena *a, struct str path);
	/* Is it a program, or could one be in it? NULL: yes. */
	bool (*is_executable)(const struct world *world, struct str path);
	/* Where else mounts show what is at a real path, as real paths. NULL: nowhere. */
	int (*aliases)(const struct world *world, struct arena *a, struct str path,
		       struct world_paths *ret, struct cordon_error *err);
	void *data;
};

/* The places a path may refer to; normal paths, symlinks resolved. */
struct places {
	struct str workdir;
	struct str home;
	/* The caller's home by the passwd file where home is another: HOME may be set to
	 * anything. Empty when they are the same. */
	struct str own_home;
	/* For root, who reads everything, the homes of all others. */
	const struct str *other_homes;
	size_t other_home_count;
	struct str tmp;
	struct str data;	/* --data-dir; the workdir when not given */
	struct str cordon_home;
	struct str git_dir;	/* real git directory of the workdir; empty when none */
	struct str git_common;	/* its common directory, when a worktree; else empty */
	/* Where a ".git" was found; that name itself when it is a file; and the directory it
	 * leads to, believed or not, when that is not git_dir. For closing, never for opening. */
	struct str git_top, git_link, git_named;
	/* What else decides in the repository what git runs; beyond the fixed names. */
	const struct str *git_control;
	size_t git_control_count;
};

#endif
