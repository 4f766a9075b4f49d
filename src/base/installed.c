/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where cordon's own files are.
 *
 * The program's own place counts first: what lies there belongs to it, and whoever could put
 * something there could as well have replaced the program. In a home, "bin" and "libexec" are
 * protected alike (sets.def, home-control).
 */
#include "base/installed.h"

#include <limits.h>
#include <unistd.h>

#include "base/path.h"

const char *installed_moved(struct arena *a, struct str dir, struct str from, const char *to)
{
	struct str rest = dir;

	if (!str_ends(dir, from) || dir.n <= from.n || dir.p[dir.n - from.n - 1] != '/')
		return NULL;
	rest.n -= from.n;
	return arena_printf(a, "%.*s%s", STR_ARG(rest), to);
}

static const char *usable(struct arena *a, const char *dir, const char *name, int mode)
{
	const char *path = dir ? arena_printf(a, "%s/%s", dir, name) : NULL;

	return path && access(path, mode) == 0 ? path : NULL;
}

const char *installed_find(struct arena *a, const char *name, int mode, const char **ret_places)
{
	const char *places[] = { NULL, NULL, CORDON_LIBEXEC };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	struct str dir = path_parent((struct str){ self, n > 0 ? (size_t)n : 0 });
	const char *found = NULL;

	if (n > 0 && n < (ssize_t)sizeof(self)) {
		places[0] = arena_dup(a, dir);
		places[1] = installed_moved(a, dir, STR(CORDON_BINDIR), CORDON_LIBEXECDIR);
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !found; i++)
		found = usable(a, places[i], name, mode);
	if (!found && ret_places)
		*ret_places = arena_printf(a, "%s%s%s%s%s", places[0] ? places[0] : "",
					   places[0] ? ", " : "", places[1] ? places[1] : "",
					   places[1] ? ", " : "", places[2]);
	return found;
}
