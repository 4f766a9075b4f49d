/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named sets of paths, from sets.def. Their paths are written like any other path in
 * a policy; the marks become flags of the rules made from them.
 */
#ifndef CORDON_POLICY_SETS_H
#define CORDON_POLICY_SETS_H

#include <stdbool.h>

#include "base/str.h"

struct path_set {
	const char *name;
	unsigned flags;			/* enum rule_flag for rules made from it */
	const char *help;
	const char *const *paths;	/* NULL-terminated */
};

enum path_set_id {
#define PATH_SET(id, ...) PATH_SET_##id,
#include "policy/sets.def"
#undef PATH_SET
	PATH_SET_COUNT
};

extern const struct path_set path_sets[PATH_SET_COUNT];

/* NULL when there is no such set. */
const struct path_set *path_set_by_name(struct str name);

/* Is the path in one of the set's places in the home? */
bool path_set_holds(const struct path_set *set, struct str home, struct str path);
/* Does it lie above one of them? */
bool path_set_is_below(const struct path_set *set, struct str home, struct str path);

#endif
