/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named sets of paths, from sets.def. Their paths are written like any other path in
 * a policy; the marks become flags of the rules made from them.
 */
#ifndef CORDON_POLICY_SETS_H
#define CORDON_POLICY_SETS_H

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

#endif
