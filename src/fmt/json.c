/* SPDX-License-Identifier: Apache-2.0 */
/* Text of any bytes in JSON objects, and printing. Reading is json_read.c. */
#include "fmt/json.h"

#include "fmt/utf8.h"

#define ESCAPED "escaped"
#define ESCAPE_BYTES 4 /* the longest spelling of one byte: \xNN */

static bool is_plain(struct str text)
{
	return str_is_utf8(text) && str_find(text, '\0') == text.n;
}

static void add_escaped(struct buf *b, struct str text)
{
	while (text.n) {
		size_t step = text.p[0] ? utf8_length(text) : 0;

		if (!step)
			buf_addf(b, "\\x%02x", (unsigned char)text.p[0]);
		else if (text.p[0] == '\\')
			buf_adds(b, "\\\\");
		else
			buf_add(b, str_take(text, step));
		text = str_skip(text, step ? step : 1);
	}
}

/* A new string, escaped; NULL when memory is out. */
static json_t *escaped_string(struct str text)
{
	autobuf struct buf b = buf_make(text.n * ESCAPE_BYTES);

	add_escaped(&b, text);
	return b.failed ? NULL : json_stringn(b.p, b.n);
}

/* From now on the strings of obj are escaped: those it has already are brought into
 * that form, collected first because obj cannot change while it is walked. */
static bool turn_escaped(json_t *obj)
{
	json_t *fresh = json_object(), *value, *copy;
	const char *key;
	bool ok = fresh && json_object_set_new(fresh, ESCAPED, json_true()) == 0;

	json_object_foreach(obj, key, value) {
		if (!ok || !json_is_string(value))
			continue;
		copy = escaped_string(
			(struct str){ json_string_value(value), json_string_length(value) });
		ok = copy && json_object_set_new(fresh, key, copy) == 0;
	}
	ok = ok && json_object_update(obj, fresh) == 0;
	json_decref(fresh);
	return ok;
}

bool json_set_text(json_t *obj, const char *key, struct str text)
{
	bool marked = json_is_true(json_object_get(obj, ESCAPED));
	json_t *value;

	if (!marked && !is_plain(text)) {
		if (!turn_escaped(obj))
			return false;
		marked = true;
	}
	value = marked ? escaped_string(text) : json_stringn(text.n ? text.p : "", text.n);
	return value && json_object_set_new(obj, key, value) == 0;
}

/* Undoes add_escaped in place; false when an escape is malformed. */
static bool unescape(char *p, size_t *n)
{
	size_t out = 0;

	for (size_t i = 0; i < *n; i++) {
		if (p[i] != '\\') {
			p[out++] = p[i];
		} else if (i + 1 < *n && p[i + 1] == '\\') {
			p[out++] = '\\';
			i += 1;
		} else if (i + 3 < *n && p[i + 1] == 'x' && hex_digit(p[i + 2]) >= 0 &&
			   hex_digit(p[i + 3]) >= 0) {
			p[out++] = (char)(hex_digit(p[i + 2]) << 4 | hex_digit(p[i + 3]));
			i += 3;
		} else {
			return false;
		}
	}
	p[out] = '\0';
	*n = out;
	return true;
}

bool json_get_text(const json_t *obj, const char *key, struct arena *a, struct str *ret)
{
	const json_t *value = json_object_get(obj, key);
	size_t n = json_string_length(value);
	char *copy;

	if (!json_is_string(value))
		return false;
	copy = arena_dup(a, (struct str){ json_string_value(value), n });
	if (!copy)
		return false;
	if (json_is_true(json_object_get(obj, ESCAPED)) && !unescape(copy, &n))
		return false;
	*ret = (struct str){ copy, n };
	return true;
}

static int append(const char *text, size_t n, void *data)
{
	struct buf *b = data;

	buf_add(b, (struct str){ text, n });
	return b->failed ? -1 : 0;
}

void json_print(struct buf *b, const json_t *value, bool pretty)
{
	size_t flags = JSON_ENCODE_ANY | (pretty ? JSON_INDENT(2) : JSON_COMPACT);

	if (json_dump_callback(value, append, b, flags) != 0)
		b->failed = true;
	if (pretty)
		buf_addc(b, '\n');
}

/* jansson takes DEL for printable. In JSON it can only stand inside a string. */
static int append_ascii(const char *text, size_t n, void *data)
{
	struct str rest = { text, n }, part;
	bool more = true;

	while (more) {
		more = str_cut(rest, '\x7f', &part, &rest);
		buf_add(data, part);
		buf_adds(data, more ? "\\u007f" : "");
	}
	return ((struct buf *)data)->failed ? -1 : 0;
}

void json_print_ascii(struct buf *b, const json_t *value)
{
	size_t flags = JSON_ENCODE_ANY | JSON_INDENT(2) | JSON_ENSURE_ASCII;

	if (json_dump_callback(value, append_ascii, b, flags) != 0)
		b->failed = true;
	buf_addc(b, '\n');
}
