/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where cordon's own files are.
 *
 * The program's own place counts first: whoever could put something there could as well have
 * replaced the program. Not so the libexec of a prefix around it: a policy closes the "bin" of a
 * tool's directory and leaves the rest of that open.
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
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	const char *beside = NULL, *found;

	if (n > 0 && n < (ssize_t)sizeof(self))
		beside = arena_dup(a, path_parent((struct str){ self, (size_t)n }));
	found = usable(a, beside, name, mode);
	if (!found)
		found = usable(a, CORDON_LIBEXEC, name, mode);
	if (!found && ret_places)
		*ret_places = arena_printf(a, "%s%s%s", beside ? beside : "", beside ? ", " : "",
					   CORDON_LIBEXEC);
	return found;
}
