/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict JSON reader (RFC 8259) that builds jansson's tree. It recurses at most
 * JSON_DEPTH_LIMIT deep, and a failed allocation is always an error.
 */
#include "fmt/json.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/num.h"
#include "fmt/located.h"
#include "fmt/utf8.h"

struct in {
	struct str text; /* checked to be UTF-8 */
	const char *name;
	size_t at;
	unsigned depth;
	struct json_places *places; /* NULL: nobody asks */
	struct cordon_error *err;
};

static int read_value(struct in *in, json_t **ret);

static int fail(struct in *in, enum cordon_code code, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(struct in *in, enum cordon_code code, size_t at, const char *fmt, ...)
{
	char text[sizeof(in->err->message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return located_error(in->err, code, "json", in->name, place_of(in->text, at), "%s", text);
}

static int fail_expected(struct in *in, const char *what)
{
	return fail(in, CORDON_E_SYNTAX, in->at, "expected %s, found %s", what,
		    found_at(in->text, in->at).text);
}

static int fail_nomem(struct in *in)
{
	return fail(in, CORDON_E_NOMEM, in->at, "out of memory");
}

/* 0, which no token starts with, at the end. */
static char peek(const struct in *in)
{
	return in->at < in->text.n ? in->text.p[in->at] : '\0';
}

static bool take(struct in *in, char c)
{
	if (in->at == in->text.n || in->text.p[in->at] != c)
		return false;
	in->at++;
	return true;
}

static void skip_space(struct in *in)
{
	while (peek(in) == ' ' || peek(in) == '\t' || peek(in) == '\n' || peek(in) == '\r')
		in->at++;
}

/* Strings */

/* Four hexadecimal digits behind \u; `start` is the offset of the backslash. */
static int read_unit(struct in *in, size_t start, uint32_t *ret)
{
	uint32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(peek(in));

		if (digit < 0)
			return fail(in, CORDON_E_SYNTAX, start, "\\u needs 4 hexadecimal digits");
		unit = unit << 4 | (uint32_t)digit;
		in->at++;
	}
	*ret = unit;
	return 0;
}

/* The cursor is behind the u. A character beyond U+FFFF is two units. */
static int read_unicode(struct in *in, size_t start, struct buf *b)
{
	char bytes[UTF8_BYTES_MAX];
	uint32_t point, low = 0;
	int r = read_unit(in, start, &point);

	if (!r && point >= 0xd800 && point <= 0xdbff && take(in, '\\')) {
		if (take(in, 'u'))
			r = read_unit(in, start, &low);
		if (low >= 0xdc00 && low <= 0xdfff)
			point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
	}
	if (r)
		return r;
	if (!utf8_is_scalar(point))
		return fail(in, CORDON_E_SYNTAX, start, "\\u%04X is half of a surrogate pair",
			    point);
	buf_add(b, (struct str){ bytes, utf8_put(bytes, point) });
	return 0;
}

static int read_escape(struct in *in, struct buf *b)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	size_t start = in->at++, i = 0;
	char c = peek(in);

	if (take(in, 'u'))
		return read_unicode(in, start, b);
	while (letters[i] && letters[i] != c)
		i++;
	if (!letters[i])
		return fail(in, CORDON_E_SYNTAX, start,
			    "unknown escape: \\ before %s; write \\\\ for a backslash",
			    found_at(in->text, in->at).text);
	in->at++;
	buf_addc(b, bytes[i]);
	return 0;
}

/* Bytes up to the next quote, escape or control character. */
static struct str plain_run(const struct in *in)
{
	struct str rest = str_skip(in->text, in->at);
	size_t n = 0;

	while (n < rest.n && rest.p[n] != '"' && rest.p[n] != '\\' &&
	       (unsigned char)rest.p[n] >= 0x20)
		n++;
	return str_take(rest, n);
}

static int read_string(struct in *in, struct buf *b)
{
	size_t open = in->at++;

	buf_init(b, in->text.n);
	while (!take(in, '"')) {
		struct str run = plain_run(in);
		int r = 0;

		buf_add(b, run);
		in->at += run.n;
		if (peek(in) == '\\')
			r = read_escape(in, b);
		else if (in->at == in->text.n || peek(in) == '\n' || peek(in) == '\r')
			return fail(in, CORDON_E_SYNTAX, open,
				    "string without its closing \" on the same line");
		else if (peek(in) != '"')
			return fail(in, CORDON_E_SYNTAX, in->at,
				    "control character 0x%02x in a string; write it as \\u%04X",
				    (unsigned char)peek(in), (unsigned char)peek(in));
		if (r)
			return r;
	}
	return b->failed ? fail_nomem(in) : 0;
}

static int read_string_value(struct in *in, json_t **ret)
{
	autobuf struct buf b = { 0 };
	int r = read_string(in, &b);

	if (r)
		return r;
	*ret = json_stringn_nocheck(b.p, b.n);
	return *ret ? 0 : fail_nomem(in);
}

/* Numbers and words */

static size_t take_digits(struct in *in)
{
	size_t start = in->at;

	while (peek(in) >= '0' && peek(in) <= '9')
		in->at++;
	return in->at - start;
}

/* Steps over -? int frac? exp?; *ret_whole says that neither of the last came. */
static bool number_form(struct in *in, bool *ret_whole)
{
	size_t digits, first;

	take(in, '-');
	first = in->at;
	digits = take_digits(in);
	*ret_whole = true;
	if (!digits || (digits > 1 && in->text.p[first] == '0'))
		return false;
	if (take(in, '.')) {
		*ret_whole = false;
		if (!take_digits(in))
			return false;
	}
	if (take(in, 'e') || take(in, 'E')) {
		*ret_whole = false;
		if (!take(in, '+'))
			take(in, '-');
		if (!take_digits(in))
			return false;
	}
	return true;
}

static int read_integer(struct in *in, size_t start, struct str s, json_t **ret)
{
	bool negative = s.p[0] == '-';
	json_int_t value = 0;

	for (size_t i = negative; i < s.n; i++)
		/* Built up below zero, which has one value more than above it. */
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_sub_overflow(value, s.p[i] - '0', &value))
			goto too_large;
	if (!negative && __builtin_sub_overflow((json_int_t)0, value, &value))
		goto too_large;
	*ret = json_integer(value);
	return *ret ? 0 : fail_nomem(in);
too_large:
	return fail(in, CORDON_E_SYNTAX, start, "%s does not fit in 64 bits", quote(s).text);
}

static int read_real(struct in *in, size_t start, struct str s, json_t **ret)
{
	autobuf struct buf b = buf_make(s.n);
	double value;

	buf_add(&b, s);
	if (b.failed)
		return fail_nomem(in);
	if (!num_parse_real(b.p, &value))
		return fail(in, CORDON_E_SYNTAX, start, "%s is too large for a number",
			    quote(s).text);
	*ret = json_real(value);
	return *ret ? 0 : fail_nomem(in);
}

static int read_number(struct in *in, json_t **ret)
{
	size_t start = in->at;
	bool whole, good = number_form(in, &whole);
	struct str s = str_take(str_skip(in->text, start), in->at - start);

	if (!good)
		return fail(in, CORDON_E_SYNTAX, start, "%s is not a number", quote(s).text);
	return whole ? read_integer(in, start, s, ret) : read_real(in, start, s, ret);
}

static int read_word(struct in *in, json_t **ret)
{
	struct str rest = str_skip(in->text, in->at);
	size_t n = 0;

	while (n < rest.n && rest.p[n] >= 'a' && rest.p[n] <= 'z')
		n++;
	rest = str_take(rest, n);
	if (str_eq(rest, STR("true")))
		*ret = json_true();
	else if (str_eq(rest, STR("false")))
		*ret = json_false();
	else if (str_eq(rest, STR("null")))
		*ret = json_null();
	else
		return fail_expected(in, "a value");
	in->at += n;
	return 0;
}

/* Arrays and objects */

/* The value at the cursor is the index-th of the container. What is noted comes in the
 * order of the text, so each place is counted on from the one before. */
static int note_place(struct in *in, const json_t *container, size_t index)
{
	struct json_places *p = in->places;
	struct json_place *slot = p ? vec_push(&p->list, p->arena) : NULL;

	if (!p)
		return 0;
	if (!slot)
		return fail_nomem(in);
	for (; p->offset < in->at; p->offset++)
		p->last = place_step(p->last, in->text.p[p->offset]);
	*slot = (struct json_place){ container, index, p->last };
	return 0;
}

struct place json_place(struct json_places *places, const json_t *container, size_t index)
{
	for (size_t i = 0; i < places->list.n; i++) {
		size_t at = (places->cursor + i) % places->list.n;
		const struct json_place *p = &places->list.at[at];

		if (p->in == container && p->index == index) {
			places->cursor = at;
			return p->at;
		}
	}
	return (struct place){ 1, 1 };
}

/* Behind an element: *ret_more says whether another one follows. */
static int read_separator(struct in *in, char close, bool *ret_more)
{
	skip_space(in);
	*ret_more = take(in, ',');
	if (*ret_more || take(in, close)) {
		skip_space(in);
		return 0;
	}
	return fail_expected(in, close == ']' ? ", or ] in an array" : ", or } in an object");
}

static int read_array(struct in *in, json_t *array)
{
	bool more = !take(in, ']');
	json_t *item;
	int r = 0;

	while (!r && more) {
		r = note_place(in, array, json_array_size(array));
		if (!r)
			r = read_value(in, &item);
		if (!r && json_array_append_new(array, item) != 0)
			r = fail_nomem(in);
		if (!r)
			r = read_separator(in, ']', &more);
	}
	return r;
}

static int read_key(struct in *in, const json_t *object, struct buf *key)
{
	size_t start = in->at;
	int r;

	if (peek(in) != '"')
		return fail_expected(in, "a key in double quotes");
	r = read_string(in, key);
	if (r)
		return r;
	if (str_find(buf_str(key), '\0') < key->n)
		return fail(in, CORDON_E_SYNTAX, start, "a key cannot hold a NUL");
	if (json_object_getn(object, key->p, key->n))
		return fail(in, CORDON_E_SYNTAX, start, "%s is defined twice",
			    quote(buf_str(key)).text);
	skip_space(in);
	if (!take(in, ':'))
		return fail_expected(in, ": after a key");
	skip_space(in);
	return 0;
}

static int read_member(struct in *in, json_t *object)
{
	autobuf struct buf key = { 0 };
	json_t *value;
	int r = note_place(in, object, json_object_size(object));

	if (!r)
		r = read_key(in, object, &key);

	if (!r)
		r = read_value(in, &value);
	if (!r && json_object_setn_new_nocheck(object, key.p, key.n, value) != 0)
		r = fail_nomem(in);
	return r;
}

static int read_object(struct in *in, json_t *object)
{
	bool more = !take(in, '}');
	int r = 0;

	while (!r && more) {
		r = read_member(in, object);
		if (!r)
			r = read_separator(in, '}', &more);
	}
	return r;
}

static int read_nested(struct in *in, json_t **ret)
{
	bool is_array = peek(in) == '[';
	json_t *value;
	int r;

	if (in->depth == JSON_DEPTH_LIMIT)
		return fail(in, CORDON_E_LIMIT, in->at, "nested more than %d levels deep",
			    JSON_DEPTH_LIMIT);
	value = is_array ? json_array() : json_object();
	if (!value)
		return fail_nomem(in);
	in->at++;
	in->depth++;
	skip_space(in);
	r = is_array ? read_array(in, value) : read_object(in, value);
	in->depth--;
	if (r)
		json_decref(value);
	else
		*ret = value;
	return r;
}

static int read_value(struct in *in, json_t **ret)
{
	char c = peek(in);

	if (c == '[' || c == '{')
		return read_nested(in, ret);
	if (c == '"')
		return read_string_value(in, ret);
	if (c == '-' || (c >= '0' && c <= '9'))
		return read_number(in, ret);
	return read_word(in, ret);
}

static int check_text(struct in *in, size_t max)
{
	if (in->text.n > max)
		return fail(in, CORDON_E_LIMIT, 0, "%zu bytes, more than the limit of %zu",
			    in->text.n, max);
	for (size_t at = 0, step; at < in->text.n; at += step) {
		step = utf8_length(str_skip(in->text, at));
		if (!step)
			return fail(in, CORDON_E_SYNTAX, at, "byte 0x%02x is not UTF-8",
				    (unsigned char)in->text.p[at]);
	}
	return 0;
}

int json_read(struct str text, const char *name, size_t max, json_t **ret, struct cordon_error *err)
{
	return json_read_placed(text, name, max, NULL, ret, err);
}

int json_read_placed(struct str text, const char *name, size_t max, struct json_places *places,
		     json_t **ret, struct cordon_error *err)
{
	struct in in = { .text = text, .name = name, .places = places, .err = err };
	json_t *value;
	int r = check_text(&in, max);

	if (places)
		places->last = (struct place){ 1, 1 };
	skip_space(&in);
	if (!r)
		r = read_value(&in, &value);
	if (r)
		return r;
	skip_space(&in);
	if (in.at < text.n) {
		json_decref(value);
		return fail_expected(&in, "the end of the file");
	}
	*ret = value;
	return 0;
}
