/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, paths and patterns for Seatbelt. Knows nothing of plans. */
#include "backend/sbpl.h"

#include "base/path.h"
#include "fmt/glob.h"

/* A pattern for each byte of a path at most. */
#define REGEX_BYTES_MAX ((size_t)16 * PATH_BYTES_MAX)

/* The escapes of buf_add_escaped are those of the language; the quote comes on top. */
void sbpl_string(struct buf *b, struct str text)
{
	struct str part;
	bool more;

	buf_addc(b, '"');
	do {
		more = str_cut(text, '"', &part, &text);
		buf_add_escaped(b, part);
		buf_adds(b, more ? "\\\"" : "");
	} while (more);
	buf_addc(b, '"');
}

/* The parameter the path is written with and what follows it; NULL: the path as it is. */
static const char *parameter(const struct places *places, struct str path, struct str *ret_rest)
{
	*ret_rest = path;
	if (places->workdir.n > 1 && path_below(path, places->workdir)) {
		*ret_rest = str_skip(path, places->workdir.n);
		return SBPL_WORKDIR;
	}
	if (places->home.n > 1 && path_below(path, places->home)) {
		*ret_rest = str_skip(path, places->home.n);
		return SBPL_HOME;
	}
	return NULL;
}

void sbpl_filter(struct buf *b, const char *filter, const struct places *places, struct str path)
{
	struct str rest;
	const char *param = parameter(places, path, &rest);

	buf_addf(b, "(%s ", filter);
	if (param && rest.n)
		buf_addf(b, "(string-append (param \"%s\") ", param);
	else if (param)
		buf_addf(b, "(param \"%s\")", param);
	if (!param || rest.n)
		sbpl_string(b, rest);
	buf_adds(b, param && rest.n ? "))" : ")");
}

/* --- patterns ------------------------------------------------------------------------ */

static void quote_regex(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (strchr(".[]{}()\\*+?|^$", text.p[i]))
			buf_addc(b, '\\');
		buf_addc(b, text.p[i]);
	}
}

/* Paths that begin with the path and go on as the pattern says. */
static void regex_from(struct buf *b, const struct places *places, struct str path,
		       struct str pattern)
{
	autobuf struct buf text = buf_make(REGEX_BYTES_MAX);
	struct str rest;
	const char *param = parameter(places, path.n > 1 ? path : STR(""), &rest);

	if (!param)
		buf_addc(&text, '^');
	quote_regex(&text, rest);
	buf_add(&text, pattern);
	b->failed |= text.failed;
	buf_adds(b, "(regex ");
	if (param)
		buf_addf(b, "(string-append \"^\" (regex-quote (param \"%s\")) ", param);
	sbpl_string(b, buf_str(&text));
	buf_adds(b, param ? "))" : ")");
}

void sbpl_hidden_below(struct buf *b, const struct places *places, struct str path)
{
	regex_from(b, places, path, STR("/([^/]+/)*\\."));
}

/* Length of the set at the start of s, which is well-formed. */
static size_t set_length(struct str s)
{
	size_t i = 1;

	if (s.p[i] == '!' || s.p[i] == '^')
		i++;
	if (s.p[i] == ']')
		i++;
	for (; s.p[i] != ']'; i++)
		if (s.p[i] == '\\')
			i++;
	return i + 1;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Single letters and digits, and ranges of them. */
static bool is_plain_set(struct str inner)
{
	size_t i = 0;

	while (i < inner.n) {
		if (!is_word(inner.p[i]))
			return false;
		if (i + 1 == inner.n || inner.p[i + 1] != '-') {
			i++;
			continue;
		}
		if (i + 2 >= inner.n || !is_word(inner.p[i + 2]) || inner.p[i] > inner.p[i + 2])
			return false;
		i += 3;
	}
	return inner.n > 0;
}

/* Only what every reader of patterns takes alike is said; any other set is any
 * character, so that more matches and not less. */
static void add_set(struct buf *b, struct str set)
{
	bool invert = set.p[1] == '!' || set.p[1] == '^';
	struct str inner = str_take(str_skip(set, 1 + invert), set.n - 2 - invert);

	if (!is_plain_set(inner)) {
		buf_adds(b, "[^/]");
		return;
	}
	buf_adds(b, invert ? "[^/" : "[");
	buf_add(b, inner);
	buf_addc(b, ']');
}

static void add_component(struct buf *b, struct str part)
{
	while (part.n) {
		size_t n = 1;

		if (part.p[0] == '*') {
			buf_adds(b, "[^/]*");
		} else if (part.p[0] == '?') {
			buf_adds(b, "[^/]");
		} else if (part.p[0] == '[') {
			n = set_length(part);
			add_set(b, str_take(part, n));
		} else {
			if (part.p[0] == '\\')
				part = str_skip(part, 1);
			quote_regex(b, str_take(part, 1));
		}
		part = str_skip(part, n);
	}
}

/* Splits a glob into the path in front of its first pattern and what follows. */
static struct str split_glob(struct buf *path, struct str glob)
{
	struct str rest = glob, part, next = glob;

	while (path_next(&next, &part) && !glob_has_magic(part)) {
		buf_addc(path, '/');
		glob_unquote(path, part);
		rest = next;
	}
	return rest;
}

void sbpl_glob(struct buf *b, const struct places *places, struct str glob)
{
	autobuf struct buf path = buf_make(PATH_BYTES_MAX + 1);
	autobuf struct buf pattern = buf_make(REGEX_BYTES_MAX);
	struct str rest = split_glob(&path, glob), part;

	while (path_next(&rest, &part)) {
		if (str_eq(part, STR("**"))) {
			buf_adds(&pattern, "(/[^/]+)*");
			continue;
		}
		buf_addc(&pattern, '/');
		add_component(&pattern, part);
	}
	buf_adds(&pattern, "(/|$)");
	b->failed |= path.failed | pattern.failed;
	regex_from(b, places, buf_str(&path), buf_str(&pattern));
}
