/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bare TOML values: booleans, integers, floats, and the recognition of dates. A
 * token is the longest run of characters any of them may have.
 */
#include "fmt/toml_in.h"

#include <math.h>

#include "base/num.h"

struct token {
	size_t start; /* offset in the text */
	struct str s;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_token_char(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
	       c == '-' || c == '_' || c == '.' || c == ':';
}

static size_t run_from(const struct toml_in *in, size_t at)
{
	size_t end = at;

	while (end < in->text.n && is_token_char(in->text.p[end]))
		end++;
	return end - at;
}

/* A date and its time may be parted by one space instead of a T. */
static struct token take_token(struct toml_in *in)
{
	size_t start = in->at, n = run_from(in, start);

	if (n == 10 && toml_looks_like_time(str_take(str_skip(in->text, start), n)) &&
	    in->text.p[start + 4] == '-' && start + n + 1 < in->text.n &&
	    in->text.p[start + n] == ' ' && is_digit(in->text.p[start + n + 1]))
		n += 1 + run_from(in, start + n + 1);
	in->at = start + n;
	return (struct token){ start, str_take(str_skip(in->text, start), n) };
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Steps over digits of the base with single underscores between them; 0 when they
 * do not have that form, else the number of bytes. */
static size_t digit_run(struct str s, int base)
{
	size_t n = 0;
	bool after_digit = false;

	for (; n < s.n; n++) {
		bool digit = digit_value(s.p[n]) < base;

		if (!digit && (s.p[n] != '_' || !after_digit))
			break;
		after_digit = digit;
	}
	return after_digit ? n : 0;
}

static int bad_number(struct toml_in *in, const struct token *t)
{
	for (size_t i = 0; i < t->s.n; i++)
		if (t->s.p[i] == '_')
			return toml_fail(in, t->start,
					 "%s is not a number; each underscore must stand "
					 "between two digits",
					 quote(t->s).text);
	return toml_fail(in, t->start, "%s is not a number", quote(t->s).text);
}

static bool has_leading_zero(struct str digits)
{
	return digits.n > 1 && digits.p[0] == '0' && (is_digit(digits.p[1]) || digits.p[1] == '_');
}

static int leading_zero(struct toml_in *in, const struct token *t)
{
	return toml_fail(in, t->start, "%s has a leading zero; write octal numbers as 0o17",
			 quote(t->s).text);
}

/* `digits` has the form of a number of that base. */
static int read_integer(struct toml_in *in, const struct token *t, struct str digits, int base,
			struct toml_value *ret)
{
	bool negative = t->s.p[0] == '-';
	int64_t value = 0;

	for (size_t i = 0; i < digits.n; i++) {
		int d = digit_value(digits.p[i]);

		if (digits.p[i] == '_')
			continue;
		/* Built up below zero, which has one value more than above it. */
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_sub_overflow(value, d, &value))
			return toml_fail(in, t->start, "%s does not fit in 64 bits",
					 quote(t->s).text);
	}
	if (!negative && __builtin_sub_overflow((int64_t)0, value, &value))
		return toml_fail(in, t->start, "%s does not fit in 64 bits", quote(t->s).text);
	ret->type = TOML_INTEGER;
	ret->integer = value;
	return 0;
}

static int read_prefixed(struct toml_in *in, const struct token *t, int base,
			 struct toml_value *ret)
{
	struct str digits = str_skip(t->s, 2);

	if (!digits.n || digit_run(digits, base) != digits.n)
		return bad_number(in, t);
	return read_integer(in, t, digits, base, ret);
}

static int read_float(struct toml_in *in, const struct token *t, struct toml_value *ret)
{
	char *plain = arena_alloc(in->arena, t->s.n + 1);
	size_t n = 0;

	if (!plain)
		return toml_fail_nomem(in);
	for (size_t i = 0; i < t->s.n; i++)
		if (t->s.p[i] != '_')
			plain[n++] = t->s.p[i];
	ret->type = TOML_FLOAT;
	if (!num_parse_real(plain, &ret->real))
		return toml_fail(in, t->start, "%s is too large for a float", quote(t->s).text);
	return 0;
}

/* digits [. digits] [e [sign] digits]; *ret_whole says that neither part came. */
static bool number_form(struct str s, bool *ret_whole)
{
	size_t n = digit_run(s, 10);

	*ret_whole = n == s.n;
	if (!n)
		return false;
	s = str_skip(s, n);
	if (s.n && s.p[0] == '.') {
		n = digit_run(str_skip(s, 1), 10);
		s = str_skip(s, n + 1);
		if (!n)
			return false;
	}
	if (s.n && (s.p[0] | 0x20) == 'e') {
		size_t sign = s.n > 1 && (s.p[1] == '+' || s.p[1] == '-');

		n = digit_run(str_skip(s, 1 + sign), 10);
		s = str_skip(s, 1 + sign + n);
		if (!n)
			return false;
	}
	return !s.n;
}

static int read_number(struct toml_in *in, const struct token *t, struct toml_value *ret)
{
	size_t sign = t->s.p[0] == '+' || t->s.p[0] == '-';
	struct str digits = str_skip(t->s, sign);
	bool whole;

	if (str_eq(digits, STR("inf")) || str_eq(digits, STR("nan"))) {
		double size = digits.p[0] == 'i' ? (double)INFINITY : (double)NAN;

		ret->type = TOML_FLOAT;
		ret->real = t->s.p[0] == '-' ? -size : size;
		return 0;
	}
	if (has_leading_zero(digits))
		return leading_zero(in, t);
	if (!number_form(digits, &whole))
		return bad_number(in, t);
	return whole ? read_integer(in, t, digits, 10, ret) : read_float(in, t, ret);
}

static bool read_word(struct str word, struct toml_value *ret)
{
	bool truth = str_eq(word, STR("true"));

	if (!truth && !str_eq(word, STR("false")))
		return false;
	ret->type = TOML_BOOLEAN;
	ret->boolean = truth;
	return true;
}

static int no_value(struct toml_in *in, const struct token *t)
{
	if (!t->s.n)
		return toml_fail(in, t->start, "expected a value, found %s", toml_found(in).text);
	return toml_fail(in, t->start,
			 "expected a value, found %s; a string needs quotes, a boolean is "
			 "true or false",
			 quote(t->s).text);
}

int toml_read_bare(struct toml_in *in, struct toml_value *ret)
{
	struct token t = take_token(in);
	struct str s = t.s;

	ret->at = toml_place(in, t.start);
	if (!s.n)
		return no_value(in, &t);
	if (read_word(s, ret))
		return 0;
	if (toml_looks_like_time(s))
		return toml_read_time(in, t.start, s, ret);
	if (str_starts(s, STR("0x")))
		return read_prefixed(in, &t, 16, ret);
	if (str_starts(s, STR("0o")))
		return read_prefixed(in, &t, 8, ret);
	if (str_starts(s, STR("0b")))
		return read_prefixed(in, &t, 2, ret);
	if (is_digit(s.p[0]) || s.p[0] == '+' || s.p[0] == '-' || str_eq(s, STR("inf")) ||
	    str_eq(s, STR("nan")))
		return read_number(in, &t, ret);
	return no_value(in, &t);
}
