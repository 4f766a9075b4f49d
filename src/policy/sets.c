/* SPDX-License-Identifier: Apache-2.0 */
/* The table of named path sets. */
#include "policy/sets.h"

#include <stddef.h>

#include "base/path.h"
#include "policy/rules.h"

const struct path_set path_sets[PATH_SET_COUNT] = {
#define PATH_SET(id, text, marks, about, ...) \
	[PATH_SET_##id] = { \
		.name = text, .flags = marks, .help = about, \
		.paths = (const char *const[]){ __VA_ARGS__, NULL }, \
	},
#include "policy/sets.def"
#undef PATH_SET
};

const struct path_set *path_set_by_name(struct str name)
{
	for (size_t i = 0; i < PATH_SET_COUNT; i++)
		if (str_eq(name, str_of(path_sets[i].name)))
			return &path_sets[i];
	return NULL;
}

/* What follows "~/" in the path of a set, and what follows the home in the other. */
static bool is_in_home(const char *const *of_set, struct str home, struct str path,
		       struct str *ret_place, struct str *ret_path)
{
	if (!str_starts(str_of(*of_set), STR("~/")) || !home.n || !path_below(path, home))
		return false;
	*ret_place = str_of(*of_set + 1);
	*ret_path = str_skip(path, home.n > 1 ? home.n : 0);
	return true;
}

bool path_set_holds(const struct path_set *set, struct str home, struct str path)
{
	struct str place, there;

	for (const char *const *at = set->paths; *at; at++)
		if (is_in_home(at, home, path, &place, &there) && path_below(there, place))
			return true;
	return false;
}

bool path_set_is_below(const struct path_set *set, struct str home, struct str path)
{
	struct str place, there;

	for (const char *const *at = set->paths; *at; at++)
		if (is_in_home(at, home, path, &place, &there) && path_below(place, there))
			return true;
	return false;
}
