/* SPDX-License-Identifier: Apache-2.0 */
/* Limits, places and the escaping of bytes around jansson. */
#include "fmt/json.h"

#include <stdint.h>
#include <string.h>

#include "fmt/located.h"

#define ESCAPED "escaped"
#define ESCAPE_BYTES 4 /* the longest spelling of one byte: \xNN */

/* Reading */

struct walk {
	struct place at;
	size_t depth;
	bool in_string, after_backslash;
};

static void walk_string(struct walk *w, char c)
{
	if (w->after_backslash)
		w->after_backslash = false;
	else if (c == '\\')
		w->after_backslash = true;
	else if (c == '"')
		w->in_string = false;
}

static void walk_structure(struct walk *w, char c)
{
	if (c == '"')
		w->in_string = true;
	else if (c == '[' || c == '{')
		w->depth++;
	else if ((c == ']' || c == '}') && w->depth)
		w->depth--;
}

static void walk_place(struct walk *w, char c)
{
	if (c == '\n')
		w->at = (struct place){ w->at.line + 1, 1 };
	else if (((unsigned char)c & 0xc0) != 0x80)
		w->at.column++;
}

/* jansson reads by recursion with a fixed limit of its own, 2048. As long as the
 * text is well-formed this walk sees the brackets jansson sees, and where it is not
 * jansson stops. */
static int check_depth(struct str text, const char *name, struct cordon_error *err)
{
	struct walk w = { .at = { 1, 1 } };

	for (size_t i = 0; i < text.n; i++) {
		if (w.in_string)
			walk_string(&w, text.p[i]);
		else
			walk_structure(&w, text.p[i]);
		if (w.depth > JSON_DEPTH_LIMIT)
			return located_error(err, CORDON_E_LIMIT, "json", name, w.at,
					     "nested more than %d levels deep",
					     JSON_DEPTH_LIMIT);
		walk_place(&w, text.p[i]);
	}
	return 0;
}

static int parse_error(const json_error_t *e, const char *name, struct cordon_error *err)
{
	struct place at = { 1, 1 };
	autobuf struct buf text = buf_make(4 * sizeof(e->text));

	if (e->line > 0)
		at.line = (uint32_t)e->line;
	if (e->column > 0)
		at.column = (uint32_t)e->column;
	/* jansson leaves the text empty only when an allocation failed. */
	if (!e->text[0] || json_error_code(e) == json_error_out_of_memory)
		return located_error(err, CORDON_E_NOMEM, "json", name, at,
				     "out of memory");
	buf_add_escaped(&text, str_of(e->text));
	return located_error(err, CORDON_E_SYNTAX, "json", name, at, "%s", text.p);
}

int json_read(struct str text, const char *name, size_t max, json_t **ret,
	      struct cordon_error *err)
{
	json_error_t fault = { 0 };
	json_t *value;
	int r;

	if (text.n > max)
		return located_error(err, CORDON_E_LIMIT, "json", name,
				     (struct place){ 1, 1 },
				     "%zu bytes, more than the limit of %zu", text.n, max);
	r = check_depth(text, name, err);
	if (r)
		return r;
	value = json_loadb(text.n ? text.p : "", text.n,
			   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
			   &fault);
	if (!value)
		return parse_error(&fault, name, err);
	*ret = value;
	return 0;
}

/* Text of any bytes */

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
		copy = escaped_string((struct str){ json_string_value(value),
						    json_string_length(value) });
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

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes add_escaped in place; false when an escape is not one it writes. */
static bool unescape(char *p, size_t *n)
{
	size_t out = 0;

	for (size_t i = 0; i < *n; i++) {
		if (p[i] != '\\') {
			p[out++] = p[i];
		} else if (i + 1 < *n && p[i + 1] == '\\') {
			p[out++] = '\\';
			i += 1;
		} else if (i + 3 < *n && p[i + 1] == 'x' && hex_value(p[i + 2]) >= 0 &&
			   hex_value(p[i + 3]) >= 0) {
			p[out++] = (char)(hex_value(p[i + 2]) << 4 | hex_value(p[i + 3]));
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

/* Writing */

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
