/* SPDX-License-Identifier: Apache-2.0 */
/* Lexical path handling. */
#include "base/path.h"

#include <string.h>

bool path_is_normal(struct str path)
{
	struct str rest = path, part;
	size_t length = 0;

	if (!path.n || path.p[0] != '/' || str_find(path, '\0') < path.n)
		return false;
	while (path_next(&rest, &part)) {
		if (str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
		length += 1 + part.n;
	}
	/* Equal lengths mean that no slash was doubled or trailing. */
	return path.n == 1 || length == path.n;
}

/* Appends the components of text to the normal path in out. */
static bool append_parts(char *out, size_t *len, struct str text)
{
	struct str part;

	while (path_next(&text, &part)) {
		if (str_eq(part, STR(".")))
			continue;
		if (str_eq(part, STR(".."))) {
			while (*len && out[--*len] != '/')
				;
			continue;
		}
		if (*len + 1 + part.n > PATH_BYTES_MAX)
			return false;
		out[(*len)++] = '/';
		memcpy(out + *len, part.p, part.n);
		*len += part.n;
	}
	return true;
}

char *path_normalise(struct arena *a, struct str base, struct str text)
{
	char out[PATH_BYTES_MAX + 1];
	size_t len = 0;

	if (!text.n || str_find(text, '\0') < text.n)
		return NULL;
	if (text.p[0] != '/' && !append_parts(out, &len, base))
		return NULL;
	if (!append_parts(out, &len, text))
		return NULL;
	if (!len)
		out[len++] = '/';
	return arena_dup(a, (struct str){ out, len });
}

size_t path_depth(struct str path)
{
	struct str part;
	size_t depth = 0;

	while (path_next(&path, &part))
		depth++;
	return depth;
}

/* The end of a path, then a slash, then all else. */
static int rank(struct str path, size_t i)
{
	if (i >= path.n)
		return -2;
	return path.p[i] == '/' ? -1 : (unsigned char)path.p[i];
}

int path_order(struct str a, struct str b)
{
	size_t i = 0;

	while (i < a.n && i < b.n && a.p[i] == b.p[i])
		i++;
	return rank(a, i) - rank(b, i);
}

bool path_below(struct str path, struct str tree)
{
	if (tree.n == 1)
		return true;
	return str_starts(path, tree) && (path.n == tree.n || path.p[tree.n] == '/');
}

struct str path_parent(struct str path)
{
	size_t n = path.n;

	while (n > 1 && path.p[n - 1] != '/')
		n--;
	return str_take(path, n > 1 ? n - 1 : 1);
}

struct str path_last(struct str path)
{
	size_t n = path.n;

	while (n && path.p[n - 1] != '/')
		n--;
	return str_skip(path, n);
}
