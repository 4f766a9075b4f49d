/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving names: what rename and link may do (DESIGN 4, rules 3 and 11).
 *
 * A directory takes everything below it to new names, so it may be moved only where
 * each descendant has the same verdict under both. The rules alone answer that for most
 * moves; where a rule tells the two places apart, what really lies below is looked at
 * through a struct tree, not more than RENAME_WALK_MAX objects of it, and what cannot
 * be looked at is refused.
 *
 * Pure, like policy_decide, but for what the tree does. The answer holds for the tree as
 * it was seen: who lets others change it meanwhile must look again afterwards.
 */
#ifndef CORDON_POLICY_RENAME_H
#define CORDON_POLICY_RENAME_H

#include <stdbool.h>
#include "base/path.h"
#include "policy/policy.h"

#define RENAME_WALK_MAX 10000

enum tree_next {
	TREE_INTO,	/* go on, below this object too */
	TREE_PAST,	/* go on, but what is below it does not matter */
	TREE_STOP,	/* enough seen */
};
/* below: the object's path relative to the directory, "a/b"; type: of the object itself,
 * a link is a link. */
typedef enum tree_next tree_visit_fn(void *data, struct str below, enum node_type type);

/* What lies on the machine; paths are in the sandbox's view, symlinks never followed. */
struct tree {
	/* NODE_ABSENT when nothing is there or nothing can be told of it; then it is
	 * judged as a file and as a directory, and both must be allowed. */
	enum node_type (*type)(const struct tree *tree, struct str path);
	/* Visits everything below the directory, each directory before what is in it.
	 * True when all was visited that visit did not decline. */
	bool (*walk)(const struct tree *tree, struct str dir, tree_visit_fn *visit,
		     void *visit_data);
	void *data;
};

enum rename_why {
	RENAME_FINE,
	RENAME_FROM,		/* the old name may not be written */
	RENAME_TO,		/* the new one may not */
	RENAME_DIRECTORY,	/* a rule needs a directory where something else would be */
	RENAME_BELOW,		/* an object below would get another verdict */
	RENAME_UNSEEN,		/* what is below is too much, or cannot be looked at */
	RENAME_FOLDING,		/* names below would fold where the rules do not, or not fold */
};
const char *rename_why_to_string(enum rename_why why); /* one word */

struct rename_decision {
	enum rename_why why;
	/* The object that decided, and what is decided for it. */
	struct decision decision;
	char object[2 * PATH_BYTES_MAX + 2];
};

/* May `from` become `to`; with exchange, and `to` become `from`? Both are normal paths,
 * their last component unresolved. A NULL tree knows nothing. */
bool policy_decide_rename(const struct policy *policy, struct str from, struct str to,
			  bool exchange, const struct tree *tree, struct rename_decision *ret);
/* May `to` become one more name of the file `from`? Whoever has a name with more rights
 * has the file with them, so the source counts as written. */
bool policy_allows_link(const struct policy *policy, struct str from, struct str to,
			struct rename_decision *ret);

#endif
