/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: the layer over jansson, whose json_t is the tree. Printing and building are
 * jansson's, with text that is not UTF-8 added. Reading is our own: when memory runs
 * out jansson's reader (2.14) drops bytes of a string and goes on, and a path in a
 * policy must not change without notice.
 *
 * Text from the system (paths, arguments) can hold any byte, a JSON string cannot.
 * Such text is escaped, and the object that holds it says so:
 *
 *	{ "op": "write", "object": "/tmp/caf\\xe9", "escaped": true }
 *
 * In an object with "escaped": true *every* string directly in it is escaped: \\ is
 * a backslash and \xNN is one byte (bytes that are not UTF-8, and NUL). In an object
 * without that member all strings stand for themselves. json_set_text keeps this
 * true whatever the order of the calls, and json_get_text reads it back; a string
 * put in by other means after a text was escaped must not hold a backslash.
 */
#ifndef CORDON_FMT_JSON_H
#define CORDON_FMT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "fmt/located.h"

#define JSON_DEPTH_LIMIT 64 /* arrays and objects within each other */

/* Reads one JSON value of any type. More than `max` bytes, a nesting deeper than
 * JSON_DEPTH_LIMIT, a duplicate key, a NUL in a key, a number that does not fit or
 * anything behind the value is an error; messages start with name:line:column.
 * Strings may hold a NUL (\u0000). *ret is the caller's to json_decref. */
int json_read(struct str text, const char *name, size_t max, json_t **ret,
	      struct cordon_error *err);

/* Where the values of a text stand: of each element of an array its first character, of
 * each member of an object its key. In an arena, which the caller brings. */
struct json_place {
	const json_t *in;	/* the array or object */
	size_t index;
	struct place at;
};
struct json_places {
	struct arena *arena;
	VEC(struct json_place) list;
	size_t offset, cursor;	/* read so far; found last */
	struct place last;
};
/* json_read, which also fills *places. */
int json_read_placed(struct str text, const char *name, size_t max, struct json_places *places,
		     json_t **ret, struct cordon_error *err);
/* The place of the index-th value in a container of that tree; 1:1 when there is none.
 * Cheap when asked in the order of the text. */
struct place json_place(struct json_places *places, const json_t *container, size_t index);

/* Sets obj[key] to text, escaped if need be. False when memory is out; what obj then
 * holds must not be shown to anybody. */
bool json_set_text(json_t *obj, const char *key, struct str text);
/* The bytes given to json_set_text, NUL-terminated in the arena. False when there
 * is no such string, its escapes are malformed, or memory is out. */
bool json_get_text(const json_t *obj, const char *key, struct arena *a, struct str *ret);

/* Appends the value, members in the order they were set. Pretty means indented and
 * with a newline at the end. Failure is the buffer's. */
void json_print(struct buf *b, const json_t *value, bool pretty);
/* The same, pretty, for a terminal: everything beyond printable ASCII is escaped, so
 * that no DEL, C1 control or change of writing direction gets through. */
void json_print_ascii(struct buf *b, const json_t *value);

#endif
