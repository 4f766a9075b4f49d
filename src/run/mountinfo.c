/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /proc/self/mountinfo, row by row. */
#include "run/mountinfo.h"

static bool is_octal(struct str s)
{
	return s.n >= 4 && s.p[0] == '\\' && s.p[1] >= '0' && s.p[1] <= '3' && s.p[2] >= '0' &&
	       s.p[2] <= '7' && s.p[3] >= '0' && s.p[3] <= '7';
}

char *mountinfo_unescape(struct arena *a, struct str s)
{
	char *text = arena_dup(a, s), *to = text;

	for (; text && s.n; s = str_skip(s, 1)) {
		*to = s.p[0];
		if (is_octal(s)) {
			*to = (char)((s.p[1] - '0') << 6 | (s.p[2] - '0') << 3 | (s.p[3] - '0'));
			s = str_skip(s, 3);
		}
		to++;
	}
	if (text)
		*to = '\0';
	return text;
}

/* "36 35 98:0 /root /point options optional - type source options" */
static void split(struct str line, struct mount_row *ret)
{
	struct str field = { 0 }, ignored;

	*ret = (struct mount_row){ 0 };
	for (unsigned i = 0; line.n && !str_eq(field, STR("-")); i++) {
		str_cut(line, ' ', &field, &line);
		if (i == 2)
			ret->dev = field;
		if (i == 3)
			ret->root = field;
		if (i == 4)
			ret->point = field;
	}
	str_cut(line, ' ', &ret->type, &line);
	str_cut(line, ' ', &ignored, &ret->options);
}

bool mountinfo_next(struct str *text, struct arena *a, struct mount_row *ret, bool *ret_failed)
{
	const char *root, *point;
	struct str line;

	do {
		if (!text->n)
			return false;
		str_cut(*text, '\n', &line, text);
		split(line, ret);
	} while (!ret->type.n || !str_starts(ret->point, STR("/")));
	root = mountinfo_unescape(a, ret->root);
	point = mountinfo_unescape(a, ret->point);
	*ret_failed = !root || !point;
	ret->root = str_of(root);
	ret->point = str_of(point);
	return !*ret_failed;
}
