/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing two git configurations by their text; files are not touched. */
#include "run/git_edit.h"

#include <stddef.h>

struct section {
	struct str header; /* its line; empty before the first */
	struct str body;
	struct str all;
};

typedef bool value_fn(struct str before, struct str value);

/* --- values --------------------------------------------------------------------- */

static bool is_one_of(struct str value, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(value, str_of(*list)))
			return true;
	return false;
}

/* What needs no quoting, continues on no other line and is no comment. */
static bool is_plain(struct str s)
{
	static const char signs[] = "./_-@+:~%=,";

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9');

		for (const char *sign = signs; *sign && !known; sign++)
			known = c == *sign;
		if (!known)
			return false;
	}
	return s.n && s.p[0] != '-';
}

static bool has(struct str s, struct str part)
{
	for (; s.n >= part.n; s = str_skip(s, 1))
		if (str_starts(s, part))
			return true;
	return false;
}

static bool is_switch(struct str before, struct str value)
{
	static const char *const list[] = { "true", "false", NULL };

	(void)before;
	return is_one_of(value, list);
}

static bool is_rebase(struct str before, struct str value)
{
	static const char *const list[] = { "true", "false", "merges", NULL };

	(void)before;
	return is_one_of(value, list);
}

/* The others are commands. */
static bool is_update(struct str before, struct str value)
{
	static const char *const list[] = { "checkout", "rebase", "merge", "none", NULL };

	(void)before;
	return is_one_of(value, list);
}

static bool is_ref(struct str before, struct str value)
{
	(void)before;
	return str_starts(value, STR("refs/heads/"));
}

/* "transport::address" runs a program of that name, and a host that begins with a dash
 * would be an option of ssh. */
static bool is_url(struct str before, struct str value)
{
	static const char *const starts[] = { "https://", "http://", "ssh://", "git://", "git@",
					      "/",	  "./",	     "../",    NULL };

	(void)before;
	if (has(value, STR("::")) || has(value, STR("/-")) || has(value, STR("@-")))
		return false;
	for (const char *const *start = starts; *start; start++)
		if (str_starts(value, str_of(*start)))
			return true;
	return false;
}

/* "." is the repository itself. Any other must be called by a name that has a section:
 * otherwise git takes it for an address. */
static bool is_remote(struct str before, struct str value)
{
	struct str line, name;

	if (str_eq(value, STR(".")))
		return true;
	while (before.n) {
		str_cut(before, '\n', &line, &before);
		if (!str_starts(line, STR("[remote \"")) || !str_ends(line, STR("\"]")))
			continue;
		name = str_skip(line, sizeof("[remote \"") - 1);
		if (str_eq(str_take(name, name.n - 2), value))
			return true;
	}
	return false;
}

/* --- sections ------------------------------------------------------------------- */

static const struct {
	struct str section, key;
	value_fn *is_fine;
} settings[] = {
	{ STR("branch"), STR("remote"), is_remote },
	{ STR("branch"), STR("merge"), is_ref },
	{ STR("branch"), STR("rebase"), is_rebase },
	{ STR("submodule"), STR("active"), is_switch },
	{ STR("submodule"), STR("update"), is_update },
	{ STR("submodule"), STR("url"), is_url },
};

static bool next_section(struct str *rest, struct section *ret)
{
	struct str left, line;

	if (!rest->n)
		return false;
	*ret = (struct section){ .all = *rest };
	str_cut(*rest, '\n', &line, &left);
	if (line.p[0] == '[')
		ret->header = line;
	else
		left = *rest;
	ret->body = left;
	while (left.n && left.p[0] != '[')
		str_cut(left, '\n', &line, &left);
	ret->all.n -= left.n;
	ret->body.n -= left.n;
	*rest = left;
	return true;
}

/* [kind "name"] */
static bool read_header(struct str header, struct str *ret_kind)
{
	struct str name;

	if (!str_starts(header, STR("[")) || !str_ends(header, STR("\"]")))
		return false;
	header = str_skip(str_take(header, header.n - 2), 1);
	str_cut(header, ' ', ret_kind, &name);
	return str_starts(name, STR("\"")) && is_plain(str_skip(name, 1)) && !has(name, STR(".."));
}

static bool is_fine_setting(struct str before, struct str kind, struct str line)
{
	struct str key, value;

	if (!str_starts(line, STR("\t")))
		return false;
	str_cut(str_skip(line, 1), ' ', &key, &value);
	if (!str_starts(value, STR("= ")))
		return false;
	value = str_skip(value, 2);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (str_eq(settings[i].section, kind) && str_eq(settings[i].key, key))
			return is_plain(value) && settings[i].is_fine(before, value);
	return false;
}

static bool is_harmless(struct str before, const struct section *s)
{
	struct str kind, line, rest = s->body;

	if (!read_header(s->header, &kind))
		return false;
	while (rest.n) {
		str_cut(rest, '\n', &line, &rest);
		if (!is_fine_setting(before, kind, line))
			return false;
	}
	return str_eq(kind, STR("branch")) || str_eq(kind, STR("submodule"));
}

/* The next one that must stay as it is; false at the end. */
static bool next_fixed(struct str before, struct str *rest, struct section *ret)
{
	while (next_section(rest, ret))
		if (!is_harmless(before, ret))
			return true;
	return false;
}

/* A line that goes on would swallow the header that follows it, a missing end the first
 * line that is added. */
static bool has_whole_lines(struct str text)
{
	return text.n <= GIT_EDIT_BYTES_MAX && (!text.n || text.p[text.n - 1] == '\n') &&
	       !has(text, STR("\\\n")) && !has(text, (struct str){ "", 1 });
}

bool git_edit_is_harmless(struct str before, struct str after)
{
	struct str was_rest = before, is_rest = after;
	struct section was, is;

	if (!has_whole_lines(before) || !has_whole_lines(after))
		return false;
	for (;;) {
		bool more = next_fixed(before, &was_rest, &was);

		if (more != next_fixed(before, &is_rest, &is))
			return false;
		if (!more)
			return true;
		if (!str_eq(was.all, is.all))
			return false;
	}
}
