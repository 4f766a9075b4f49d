/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of git's configuration format. Allocates nothing. */
#include "run/git_config.h"

#include <stdint.h>

struct reader {
	struct str rest;
	char key[GIT_CONFIG_TEXT_MAX];
	size_t section; /* length of "section." or "section.subsection." in key */
	char value[GIT_CONFIG_TEXT_MAX];
	size_t n;
	bool too_long;
};

static int peek(const struct reader *r)
{
	return r->rest.n ? (unsigned char)r->rest.p[0] : -1;
}

static int next(struct reader *r)
{
	int c = peek(r);

	if (c >= 0)
		r->rest = str_skip(r->rest, 1);
	return c;
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static char lower(int c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool add(char *to, size_t *n, int c)
{
	if (*n == GIT_CONFIG_TEXT_MAX)
		return false;
	to[(*n)++] = (char)c;
	return true;
}

static void skip_blanks(struct reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\r')
		next(r);
}

static void skip_line(struct reader *r)
{
	while (peek(r) >= 0 && next(r) != '\n')
		;
}

/* After [section and a blank: "subsection"], where a backslash quotes one character. */
static bool read_subsection(struct reader *r)
{
	skip_blanks(r);
	if (next(r) != '"' || !add(r->key, &r->section, '.'))
		return false;
	for (;;) {
		int c = next(r);

		if (c == '"')
			return next(r) == ']' && add(r->key, &r->section, '.');
		if (c == '\\')
			c = next(r);
		if (c < 0 || c == '\n' || !add(r->key, &r->section, c))
			return false;
	}
}

static bool read_section(struct reader *r)
{
	r->section = 0;
	for (;;) {
		int c = next(r);

		if (c == ']')
			return r->section && add(r->key, &r->section, '.');
		if (c == ' ' || c == '\t')
			return r->section && read_subsection(r);
		if (!is_word(c) && c != '.')
			return false;
		if (!add(r->key, &r->section, lower(c)))
			return false;
	}
}

static int unescaped(int c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case '"':
	case '\\':
		return c;
	}
	return -1;
}

static bool add_value(struct reader *r, int c)
{
	if (!add(r->value, &r->n, c))
		r->too_long = true;
	return true;
}

/* After a backslash in a value: a continued line, or one character. */
static bool read_escape(struct reader *r, size_t *kept)
{
	int c = next(r);

	if (c == '\r' && peek(r) == '\n')
		c = next(r);
	if (c == '\n')
		return true;
	c = unescaped(c);
	if (c < 0)
		return false;
	add_value(r, c);
	*kept = r->n;
	return true;
}

/* To the end of the line. Blanks at the end do not count, nor does a comment. */
static bool read_value(struct reader *r)
{
	bool quoted = false;
	size_t kept = 0;

	r->n = 0;
	r->too_long = false;
	skip_blanks(r);
	for (;;) {
		int c = next(r);

		if (c < 0 || c == '\n') {
			r->n = kept;
			return !quoted;
		}
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			r->n = kept;
			return true;
		}
		if (c == '"') {
			quoted = !quoted;
			kept = r->n;
		} else if (c == '\\') {
			if (!read_escape(r, &kept))
				return false;
		} else {
			add_value(r, c);
			if (quoted || (c != ' ' && c != '\t' && c != '\r'))
				kept = r->n;
		}
	}
}

static bool read_setting(struct reader *r, git_config_fn *tell, void *data)
{
	size_t n = r->section;

	if (!n || !is_letter(peek(r)))
		return false;
	while (is_word(peek(r)))
		if (!add(r->key, &n, lower(next(r))))
			return false;
	skip_blanks(r);
	r->n = 0;
	r->too_long = false;
	if (peek(r) == '=') {
		next(r);
		if (!read_value(r))
			return false;
	} else if (peek(r) == '#' || peek(r) == ';') {
		skip_line(r);
	} else if (peek(r) >= 0 && next(r) != '\n') {
		return false;
	}
	if (!r->too_long)
		tell(data, (struct str){ r->key, n }, (struct str){ r->value, r->n });
	return true;
}

bool git_config_read(struct str text, git_config_fn *tell, void *data)
{
	struct reader r = { .rest = text };

	if (str_starts(text, STR("\xef\xbb\xbf")))
		r.rest = str_skip(text, 3);
	while (peek(&r) >= 0) {
		bool good = true;

		skip_blanks(&r);
		if (peek(&r) == '\n')
			next(&r);
		else if (peek(&r) == '#' || peek(&r) == ';')
			skip_line(&r);
		else if (peek(&r) == '[')
			good = next(&r) && read_section(&r);
		else if (peek(&r) >= 0)
			good = read_setting(&r, tell, data);
		if (!good)
			return false;
	}
	return true;
}
