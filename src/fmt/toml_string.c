/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML strings, all four kinds. The closing quote is found first; the decoded text
 * is never longer than the raw one, so one allocation of that size is enough.
 */
#include "fmt/toml_in.h"

#include "fmt/utf8.h"

struct raw_string {
	size_t open; /* offset of the opening quote */
	char quote;
	bool lines; /* multi-line */
};

static const struct {
	char letter, byte;
} short_escapes[] = {
	{ 'b', '\b' }, { 't', '\t' }, { 'n', '\n' },  { 'f', '\f' },
	{ 'r', '\r' }, { '"', '"' },  { '\\', '\\' },
};
#define SHORT_ESCAPES (sizeof(short_escapes) / sizeof(short_escapes[0]))

static int unclosed(struct toml_in *in, const struct raw_string *s)
{
	if (s->lines)
		return toml_fail(in, s->open, "multi-line string without its closing %c%c%c",
				 s->quote, s->quote, s->quote);
	return toml_fail(in, s->open, "string without its closing %c on the same line", s->quote);
}

/* Number of quotes in a row at offset `at`, at most five: a multi-line string may
 * end with two quotes of its own before the three that close it. */
static size_t quotes_at(const struct toml_in *in, size_t at, char q)
{
	size_t n = 0;

	while (n < 5 && at + n < in->text.n && in->text.p[at + n] == q)
		n++;
	return n;
}

/* Sets *ret_end to the first closing quote and the cursor behind the last. */
static int find_end(struct toml_in *in, const struct raw_string *s, size_t *ret_end)
{
	size_t at = in->at;

	while (at < in->text.n && (s->lines || !toml_newline_at(in, at))) {
		size_t run = quotes_at(in, at, s->quote);

		if (run >= (s->lines ? 3 : 1)) {
			*ret_end = s->lines ? at + run - 3 : at;
			in->at = *ret_end + (s->lines ? 3 : 1);
			return 0;
		}
		/* The character after a backslash never closes the string. */
		if (!run)
			run = in->text.p[at] == '\\' && s->quote == '"' ? 2 : 1;
		at += run;
	}
	return unclosed(in, s);
}

/* *at is the offset of the backslash of \u or \U. */
static int unicode_escape(struct toml_in *in, size_t *at, size_t end, char *out, size_t *len)
{
	size_t digits = in->text.p[*at + 1] == 'u' ? 4 : 8;
	uint32_t point = 0;

	for (size_t i = 0; i < digits; i++) {
		size_t pos = *at + 2 + i;
		int value = pos < end ? hex_digit(in->text.p[pos]) : -1;

		if (value < 0)
			return toml_fail(in, *at, "\\%c needs %zu hexadecimal digits",
					 in->text.p[*at + 1], digits);
		point = point << 4 | (uint32_t)value;
	}
	if (!utf8_is_scalar(point))
		return toml_fail(in, *at, "U+%04X is not a Unicode character", point);
	*len += utf8_put(out + *len, point);
	*at += 2 + digits;
	return 0;
}

/* A backslash at the end of a line joins it with the next text. False when
 * something other than blanks stands before the line end. */
static bool line_continuation(const struct toml_in *in, size_t *at, size_t end)
{
	size_t pos = *at + 1, step;
	bool crossed = false;

	for (; pos < end; pos += step) {
		char c = in->text.p[pos];

		step = toml_newline_at(in, pos);
		crossed |= step > 0;
		if (!step && c != ' ' && c != '\t')
			break;
		if (!step)
			step = 1;
	}
	if (crossed)
		*at = pos;
	return crossed;
}

static int escape(struct toml_in *in, const struct raw_string *s, size_t *at, size_t end, char *out,
		  size_t *len)
{
	char letter = in->text.p[*at + 1];

	if (letter == 'u' || letter == 'U')
		return unicode_escape(in, at, end, out, len);
	for (size_t i = 0; i < SHORT_ESCAPES; i++)
		if (letter == short_escapes[i].letter) {
			out[(*len)++] = short_escapes[i].byte;
			*at += 2;
			return 0;
		}
	if (s->lines && line_continuation(in, at, end))
		return 0;
	in->at = *at + 1;
	return toml_fail(in, *at,
			 "unknown escape: \\ before %s; write \\\\ for a backslash, or use "
			 "'...', where it stands for itself",
			 toml_found(in).text);
}

static int decode(struct toml_in *in, const struct raw_string *s, size_t at, size_t end, char *out,
		  size_t *len)
{
	int r;

	while (at < end) {
		size_t newline = toml_newline_at(in, at);

		if (in->text.p[at] == '\\' && s->quote == '"') {
			r = escape(in, s, &at, end, out, len);
			if (r)
				return r;
			continue;
		}
		out[(*len)++] = newline ? '\n' : in->text.p[at];
		at += newline ? newline : 1;
	}
	return 0;
}

static int read_rest(struct toml_in *in, const struct raw_string *s, struct str *ret)
{
	size_t start, end = 0, len = 0;
	char *out;
	int r;

	if (s->lines)
		in->at += toml_newline_at(in, in->at);
	start = in->at;
	r = find_end(in, s, &end);
	if (r)
		return r;
	out = arena_alloc(in->arena, end - start + 1);
	if (!out)
		return toml_fail_nomem(in);
	r = decode(in, s, start, end, out, &len);
	if (r)
		return r;
	*ret = (struct str){ out, len };
	return 0;
}

int toml_read_line_string(struct toml_in *in, struct str *ret)
{
	struct raw_string s = { .open = in->at, .quote = toml_peek(in) };

	in->at++;
	return read_rest(in, &s, ret);
}

int toml_read_string(struct toml_in *in, struct str *ret)
{
	struct raw_string s = { .open = in->at, .quote = toml_peek(in), .lines = true };

	if (quotes_at(in, in->at, s.quote) < 3)
		return toml_read_line_string(in, ret);
	in->at += 3;
	return read_rest(in, &s, ret);
}
