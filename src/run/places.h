/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of situation_places that live in files of their own. */
#ifndef CORDON_RUN_PLACES_H
#define CORDON_RUN_PLACES_H

#include "policy/world.h"

/* Makes a place absolute, normal and real; `what` names it in an error. */
int place_settle(struct arena *a, const struct world *world, struct str base, struct str text,
		 const char *what, struct str *ret, struct node *ret_node,
		 struct cordon_error *err);

/* Fills home - HOME, or what the passwd file says where that is unset or not absolute -
 * and the other homes: the caller's own in the passwd file, and for root everybody's. */
int home_places(struct arena *a, const struct world *world, const char *const *environ,
		struct places *p, struct cordon_error *err);

/* Fills git_dir and git_common for p->workdir; leaves them empty outside a repository.
 *
 * A ".git" file in a tree that a sandboxed command could write says where git would go,
 * and must not be able to open directories elsewhere: what it points to counts only if
 * that directory lies outside the worktree, points back to it and is where git keeps a
 * worktree's directory. */
int git_places(struct arena *a, const struct world *world, struct places *p,
	       struct cordon_error *err);

#endif
