/* SPDX-License-Identifier: Apache-2.0 */
/* The table of named path sets. */
#include "policy/sets.h"

#include <stddef.h>

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
