/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TOML reader's cursor: character check, places, filler and errors. It knows
 * nothing of values or keys.
 */
#include "fmt/toml_in.h"

#include <stdarg.h>
#include <stdio.h>

#include "fmt/utf8.h"

char toml_peek(const struct toml_in *in)
{
	return in->at < in->text.n ? in->text.p[in->at] : '\0';
}

bool toml_looking_at(const struct toml_in *in, struct str token)
{
	return str_starts(str_skip(in->text, in->at), token);
}

bool toml_take(struct toml_in *in, char c)
{
	if (in->at == in->text.n || in->text.p[in->at] != c)
		return false;
	in->at++;
	return true;
}

size_t toml_newline_at(const struct toml_in *in, size_t at)
{
	if (at < in->text.n && in->text.p[at] == '\n')
		return 1;
	return str_starts(str_skip(in->text, at), STR("\r\n")) ? 2 : 0;
}

void toml_skip_blank(struct toml_in *in)
{
	while (toml_peek(in) == ' ' || toml_peek(in) == '\t')
		in->at++;
}

static void skip_comment(struct toml_in *in)
{
	if (toml_peek(in) == '#')
		while (in->at < in->text.n && !toml_newline_at(in, in->at))
			in->at++;
}

void toml_skip_filler(struct toml_in *in)
{
	size_t step;

	do {
		toml_skip_blank(in);
		skip_comment(in);
		step = toml_newline_at(in, in->at);
		in->at += step;
	} while (step);
}

int toml_end_line(struct toml_in *in, const char *after)
{
	toml_skip_blank(in);
	skip_comment(in);
	if (in->at < in->text.n && !toml_newline_at(in, in->at))
		return toml_fail(in, in->at, "expected the end of the line after %s, found %s",
				 after, toml_found(in).text);
	in->at += toml_newline_at(in, in->at);
	return 0;
}

/* Columns are counted from the last place asked for, so that asking for the place
 * of every value of one long line stays linear. */
struct place toml_place(struct toml_in *in, size_t at)
{
	if (at < in->place_at) {
		in->place_at = 0;
		in->place = (struct place){ 1, 1 };
	}
	for (; in->place_at < at; in->place_at++)
		in->place = place_step(in->place, in->text.p[in->place_at]);
	return in->place;
}

struct quoted toml_found(const struct toml_in *in)
{
	return found_at(in->text, in->at);
}

int toml_fail_as(struct toml_in *in, enum cordon_code code, size_t at, const char *fmt, ...)
{
	char text[sizeof(in->err->message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return located_error(in->err, code, "toml", in->name, toml_place(in, at), "%s", text);
}

int toml_fail_nomem(struct toml_in *in)
{
	return toml_fail_as(in, CORDON_E_NOMEM, in->at,
			    "out of memory: the document does not fit in %zu bytes",
			    in->arena->max);
}

static int bad_control(struct toml_in *in, size_t at)
{
	unsigned char c = (unsigned char)in->text.p[at];

	if (!c)
		return toml_fail(in, at, "NUL byte; a TOML file is text");
	if (c == '\r')
		return toml_fail(in, at, "carriage return without a line feed");
	return toml_fail(in, at, "control character 0x%02x; in a string write it as \\u%04X", c, c);
}

static bool is_bad_control(const struct toml_in *in, size_t at)
{
	unsigned char c = (unsigned char)in->text.p[at];

	if (c == '\r')
		return !toml_newline_at(in, at);
	return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
}

int toml_check_text(struct toml_in *in)
{
	size_t at = 0;

	if (in->text.n > TOML_BYTES_MAX)
		return toml_fail_limit(in, 0, "the file has %zu bytes, more than the limit of %zu",
				       in->text.n, TOML_BYTES_MAX);
	if (str_starts(in->text, STR("\xef\xbb\xbf")))
		return toml_fail(in, 0, "byte order mark; save the file as UTF-8 without one");
	while (at < in->text.n) {
		size_t step = utf8_length(str_skip(in->text, at));

		if (!step)
			return toml_fail(in, at, "byte 0x%02x is not UTF-8",
					 (unsigned char)in->text.p[at]);
		if (is_bad_control(in, at))
			return bad_control(in, at);
		at += step;
	}
	return 0;
}
