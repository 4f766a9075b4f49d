/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing two git configurations by their text; files are not touched. */
#include "run/git_edit.h"

#include <stddef.h>

#include "run/git_config.h"

/* A section that settings are read in or added to; kind is empty for any other than a
 * branch or submodule. */
struct section {
	struct str kind, name;
};

typedef bool value_fn(struct str before, struct str value);

/* --- what is there -------------------------------------------------------------- */

struct search {
	struct str kind, name, key;
	bool found;
};

/* "kind.name.key"; a name may have dots. */
static void compare(void *data, struct str key, struct str value)
{
	struct search *s = data;
	size_t n = s->kind.n + 1 + s->name.n + 1 + s->key.n;

	(void)value;
	if (key.n != n || !str_starts(key, s->kind) || !str_ends(key, s->key))
		return;
	key = str_skip(key, s->kind.n);
	s->found |= key.p[0] == '.' && key.p[1 + s->name.n] == '.' &&
		    str_eq(str_take(str_skip(key, 1), s->name.n), s->name);
}

static bool is_set(struct str before, struct str kind, struct str name, struct str key)
{
	struct search s = { .kind = kind, .name = name, .key = key };

	git_config_read(before, compare, &s);
	return s.found;
}

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

/* "." is the repository itself. Any other must be called by a name that has an address:
 * otherwise git takes the name for one. */
static bool is_remote(struct str before, struct str value)
{
	return str_eq(value, STR(".")) || is_set(before, STR("remote"), value, STR("url"));
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

/* [kind "name"] */
static bool read_header(struct str line, struct section *ret)
{
	struct str name;

	if (!str_starts(line, STR("[")) || !str_ends(line, STR("\"]")))
		return false;
	line = str_skip(str_take(line, line.n - 2), 1);
	str_cut(line, ' ', &ret->kind, &name);
	ret->name = str_skip(name, 1);
	return str_starts(name, STR("\"")) && is_plain(ret->name) && !has(name, STR("..")) &&
	       (str_eq(ret->kind, STR("branch")) || str_eq(ret->kind, STR("submodule")));
}

/* "\tkey = value" */
static bool read_setting(struct str line, struct str *ret_key, struct str *ret_value)
{
	if (!str_starts(line, STR("\t")))
		return false;
	str_cut(str_skip(line, 1), ' ', ret_key, ret_value);
	if (!str_starts(*ret_value, STR("= ")))
		return false;
	*ret_value = str_skip(*ret_value, 2);
	return is_plain(*ret_value);
}

static bool may_set(struct str before, const struct section *in, struct str line)
{
	struct str key, value;

	if (!read_setting(line, &key, &value) || is_set(before, in->kind, in->name, key))
		return false;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (str_eq(settings[i].section, in->kind) && str_eq(settings[i].key, key))
			return settings[i].is_fine(before, value);
	return false;
}

/* The section that a setting at the end would be in, when it is as git writes it. */
static bool find_last(struct str before, struct section *ret)
{
	struct str line, key, value;
	bool known = false;

	while (before.n) {
		str_cut(before, '\n', &line, &before);
		if (str_starts(line, STR("[")))
			known = read_header(line, ret);
		else
			known = known && read_setting(line, &key, &value);
	}
	return known;
}

/* A line that goes on would swallow what follows it. */
static bool has_whole_lines(struct str text)
{
	return text.n <= GIT_EDIT_BYTES_MAX && (!text.n || text.p[text.n - 1] == '\n') &&
	       !has(text, STR("\\\n")) && str_find(text, '\r') == text.n &&
	       str_find(text, '\0') == text.n;
}

bool git_edit_is_harmless(struct str before, struct str after, struct str *ret_added)
{
	struct section in;
	struct search nothing = { 0 };
	bool known = find_last(before, &in);
	struct str line, rest;

	if (!git_config_read(before, compare, &nothing) || !has_whole_lines(before) ||
	    !has_whole_lines(after) || !str_starts(after, before))
		return false;
	rest = str_skip(after, before.n);
	*ret_added = rest;
	while (rest.n) {
		str_cut(rest, '\n', &line, &rest);
		if (str_starts(line, STR("[")))
			known = read_header(line, &in);
		else
			known = known && may_set(before, &in, line);
		if (!known)
			return false;
	}
	return true;
}

/* --- what is set again ---------------------------------------------------------- */

/* How many bytes of whole lines both begin with. */
static size_t common(struct str a, struct str b)
{
	size_t n = 0;

	for (size_t i = 0; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '\n')
			n = i + 1;
	return n;
}

static bool is_merge(struct str line)
{
	struct str key, value;

	return read_setting(line, &key, &value) && str_eq(key, STR("merge")) &&
	       is_ref((struct str){ 0 }, value);
}

/* Where `text`, from its last header before `at` to the next, has this line; text.n: nowhere. */
static size_t in_section(struct str text, size_t at, struct str line)
{
	size_t found = text.n, begin = 0;
	struct str rest = text, one;

	while (rest.n) {
		begin = (size_t)(rest.p - text.p);
		str_cut(rest, '\n', &one, &rest);
		if (str_starts(one, STR("[")) && begin >= at)
			break;
		if (str_starts(one, STR("[")))
			found = text.n;
		else if (str_eq(one, line))
			found = begin;
	}
	return found;
}

/* `longer` is `shorter` and one line more, of a branch: where it is there. */
static bool has_merge_more(struct str longer, struct str shorter, size_t *ret_at, struct str *ret)
{
	size_t at = common(longer, shorter);
	struct str line, rest;
	struct section in;

	str_cut(str_skip(longer, at), '\n', &line, &rest);
	*ret_at = at;
	*ret = line;
	return is_merge(line) && str_eq(rest, str_skip(shorter, at)) &&
	       find_last(str_take(longer, at), &in) && str_eq(in.kind, STR("branch"));
}

enum git_edit_merge git_edit_merge(struct str before, struct str after, size_t *ret_line)
{
	struct str line;
	size_t at;

	if (!has_whole_lines(before) || !has_whole_lines(after))
		return GIT_EDIT_OTHER;
	if (has_merge_more(before, after, &at, &line)) {
		*ret_line = at;
		return GIT_EDIT_UNSETS;
	}
	if (!has_merge_more(after, before, &at, &line))
		return GIT_EDIT_OTHER;
	at = in_section(before, at, line);
	if (at == before.n)
		return GIT_EDIT_OTHER;
	*ret_line = at;
	return GIT_EDIT_REPEATS;
}
