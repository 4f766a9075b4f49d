/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are installed; what is in a directory of no name known here is not looked for. */
#include "cli/installed.h"

#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "policy/environ.h"
#include "policy/sets.h"

static bool is_program(struct arena *a, struct str path)
{
	const char *text = arena_dup(a, path);
	struct stat st;

	return text && lstat(text, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 0111;
}

/* The directory as it is spelled, and where it is. */
static bool touches(const struct situation *s, struct arena *a, struct str dir, struct str path)
{
	const char *normal = dir.n && dir.p[0] == '/' ? path_normalise(a, STR("/"), dir) : NULL;
	struct cordon_error ignored;
	struct node node;
	struct str real;

	if (!normal || s->world.resolve(&s->world, a, str_of(normal), &real, &node, &ignored) < 0 ||
	    path_below(real, s->places.workdir))
		return false;
	return path_below(path, real) || path_below(real, path);
}

static bool is_on_path(const struct situation *s, struct arena *a, struct str path)
{
	const char *at = environ_get(s->environ, "PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (touches(s, a, (struct str){ at, n }, path))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

bool installed_is_in(const struct situation *s, struct arena *a, struct str path)
{
	const struct path_set *set = &path_sets[PATH_SET_TOOLCHAINS];
	struct str home = s->places.home;

	if (!path.n || path_below(path, s->places.workdir))
		return false;
	return path_set_holds(set, home, path) || path_set_is_below(set, home, path) ||
	       is_program(a, path) || is_on_path(s, a, path);
}
