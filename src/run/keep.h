/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stays between runs below cordon's home: private caches, one directory a project,
 * and the /tmp that runs of one name share. Made for the owner alone and only by cordon;
 * a command sees what is in them and never the directories that hold them.
 *
 * A run holds a shared lock on its project's directory, clearing an exclusive one. A shared
 * /tmp shows inside as a whole, so that its lock is a file beside it.
 */
#ifndef CORDON_RUN_KEEP_H
#define CORDON_RUN_KEEP_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "policy/policy.h"

/* Makes what the policy's caches need. *ret_made becomes true when anything was missing:
 * then the policy has to look again. */
int keep_make(struct arena *a, const struct policy *policy, bool *ret_made,
	      struct cordon_error *err);
/* The same for its shared /tmp. */
int keep_make_tmp(struct arena *a, const struct policy *policy, bool *made,
		  struct cordon_error *err);
/* Holds the project's caches until the descriptor is closed; *ret_fd is left alone when
 * there are none. An error while they are being cleared. */
int keep_hold(const struct policy *policy, int *ret_fd, struct cordon_error *err);

/* The same for the /tmp that the policy shares. An error, too, when it holds more than
 * tmp_size by now: on disk nobody but a privileged user can limit it while it is written. */
int keep_hold_tmp(struct arena *a, const struct policy *policy, int *ret_fd,
		  struct cordon_error *err);

struct kept {
	const char *path;	/* of the directory */
	struct str shared;	/* the name of a shared /tmp; empty: caches of a project */
	struct str project;	/* the workdir it belongs to; empty when it does not say */
	uint64_t bytes;
	int64_t used;		/* when a run last used it, in seconds since 1970 */
	bool busy;		/* a run holds it now */
};
struct kept_list {
	VEC(struct kept) items;
};

/* The caches of every project, then every shared /tmp. */
int keep_list(struct arena *a, struct str cordon_home, struct kept_list *ret,
	      struct cordon_error *err);
/* Removes one; an error when a run holds it. */
int keep_clear(struct arena *a, const struct kept *kept, struct cordon_error *err);
/* Removes what a clearing that was killed has left. */
int keep_sweep(struct arena *a, struct str cordon_home, struct cordon_error *err);

#endif
