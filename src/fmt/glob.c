/* SPDX-License-Identifier: Apache-2.0 */
/* Matching of one path component against * ? [] and backslash. */
#include "fmt/glob.h"

#include <stdint.h>

bool glob_has_magic(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\\')
			i++;
		else if (text.p[i] == '*' || text.p[i] == '?' || text.p[i] == '[')
			return true;
	}
	return false;
}

static bool is_special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

void glob_quote(struct buf *b, struct str text)
{
	while (text.n) {
		size_t n = 0;

		while (n < text.n && !is_special(text.p[n]))
			n++;
		buf_add(b, str_take(text, n));
		if (n < text.n) {
			buf_addc(b, '\\');
			buf_addc(b, text.p[n++]);
		}
		text = str_skip(text, n);
	}
}

void glob_unquote(struct buf *b, struct str text)
{
	while (text.n) {
		size_t n = str_find(text, '\\');

		buf_add(b, str_take(text, n));
		text = str_skip(text, n);
		if (text.n > 1)
			text = str_skip(text, 1);
		buf_add(b, str_take(text, 1));
		text = str_skip(text, 1);
	}
}

/* Length of the bracket expression at the start of s, 0 when it is not closed. */
static size_t bracket_length(struct str s)
{
	size_t i = 1;

	if (i < s.n && (s.p[i] == '!' || s.p[i] == '^'))
		i++;
	if (i < s.n && s.p[i] == ']')
		i++;
	for (; i < s.n; i++) {
		if (s.p[i] == '\\')
			i++;
		else if (s.p[i] == ']')
			return i + 1;
	}
	return 0;
}

/* One character of a bracket expression, quoting removed; advances *i. */
static uint8_t bracket_char(struct str set, size_t *i)
{
	if (set.p[*i] == '\\' && *i + 1 < set.n)
		(*i)++;
	return (uint8_t)set.p[(*i)++];
}

static bool bracket_match(struct str expression, uint8_t c)
{
	struct str set = str_take(str_skip(expression, 1), expression.n - 2);
	bool invert = set.n && (set.p[0] == '!' || set.p[0] == '^');
	bool hit = false;
	size_t i = invert ? 1 : 0;

	while (i < set.n) {
		uint8_t low = bracket_char(set, &i), high = low;

		if (i + 1 < set.n && set.p[i] == '-') {
			i++;
			high = bracket_char(set, &i);
		}
		hit = hit || (c >= low && c <= high);
	}
	return hit != invert;
}

const char *glob_component_fault(struct str pattern)
{
	for (size_t i = 0; i < pattern.n; i++) {
		if (pattern.p[i] == '\\') {
			if (++i == pattern.n)
				return "a backslash with nothing after it";
		} else if (pattern.p[i] == '[') {
			size_t n = bracket_length(str_skip(pattern, i));

			if (!n)
				return "a '[' without its ']'";
			i += n - 1;
		}
	}
	return NULL;
}

/* Matches one pattern element at the start of p against c; *ret_n is its length. */
static bool element_match(struct str p, uint8_t c, size_t *ret_n)
{
	*ret_n = 1;
	switch (p.p[0]) {
	case '?':
		return true;
	case '[':
		*ret_n = bracket_length(p);
		return bracket_match(str_take(p, *ret_n), c);
	case '\\':
		*ret_n = 2;
		return (uint8_t)p.p[1] == c;
	}
	return (uint8_t)p.p[0] == c;
}

bool glob_component_match(struct str pattern, struct str name)
{
	struct str star_pattern = { 0 }, star_name = { 0 };
	bool seen_star = false;
	size_t n;

	while (name.n) {
		if (pattern.n && pattern.p[0] == '*') {
			pattern = star_pattern = str_skip(pattern, 1);
			star_name = name;
			seen_star = true;
		} else if (pattern.n && element_match(pattern, (uint8_t)name.p[0], &n)) {
			pattern = str_skip(pattern, n);
			name = str_skip(name, 1);
		} else if (seen_star) {
			/* Only the last star has to be retried. */
			pattern = star_pattern;
			name = star_name = str_skip(star_name, 1);
		} else {
			return false;
		}
	}
	while (pattern.n && pattern.p[0] == '*')
		pattern = str_skip(pattern, 1);
	return !pattern.n;
}
