/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toml: a reader for TOML 1.0, and the two printers that quote for it.
 *
 * A document is read whole into a tree in the caller's arena; the text itself may go
 * away afterwards. The reader does no I/O and is strict: what TOML 1.0 does not
 * allow is an error, never a guess. Two points the standard leaves open: a leap
 * second (:60) is refused, and a CRLF inside a multi-line string is read as LF.
 *
 * What a hostile text can cost is bounded: time grows with its length whatever the
 * keys are, memory is the arena's, and no node lies deeper than TOML_DEPTH_MAX, so
 * that a caller may walk the tree by recursion.
 *
 * Errors have stage "toml" and a message that starts with file:line:column. Their
 * code is SYNTAX, LIMIT when a limit below was passed, or NOMEM when the arena or
 * the machine had no more memory.
 */
#ifndef CORDON_FMT_TOML_H
#define CORDON_FMT_TOML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "fmt/located.h"

#define TOML_BYTES_MAX ((size_t)4 << 20)
#define TOML_NODES_MAX ((size_t)1 << 18) /* values of any type, tables included */
/* Parts of a key, and levels from the root to any value. */
#define TOML_DEPTH_MAX 64

/* X(name, how a message calls it) */
#define TOML_TYPES(X) \
	X(STRING, "a string") \
	X(INTEGER, "an integer") \
	X(FLOAT, "a float") \
	X(BOOLEAN, "a boolean") \
	X(DATETIME, "a date-time") \
	X(LOCAL_DATETIME, "a local date-time") \
	X(LOCAL_DATE, "a local date") \
	X(LOCAL_TIME, "a local time") \
	X(ARRAY, "an array") \
	X(TABLE, "a table")

enum toml_type {
#define X(name, text) TOML_##name,
	TOML_TYPES(X)
#undef X
};

/* With its article: "a string". */
const char *toml_type_to_string(enum toml_type type);

/* The type of the value says which fields mean something. Digits beyond the
 * nanosecond are dropped. */
struct toml_time {
	uint32_t nanosecond;
	uint16_t year;
	uint8_t month, day, hour, minute, second;
	int16_t offset; /* minutes east of UTC, DATETIME only */
};

struct toml_value {
	enum toml_type type;
	struct place at; /* where the value starts; for [a.b] the header's key part */
	union {
		struct str string; /* UTF-8, NUL-terminated; may hold a NUL (\u0000) */
		int64_t integer;
		double real;
		bool boolean;
		struct toml_time time;
		struct toml_array *array;
		struct toml_table *table;
	};
};

struct toml_entry {
	struct str key; /* UTF-8, NUL-terminated; may be empty or hold a NUL */
	struct place at;
	struct toml_value value;
};

struct toml_array {
	VEC(struct toml_value) items;
	bool of_tables; /* made by [[header]], so that another one may append */
};

/* How a table came to be decides what may still be added to it. */
enum toml_origin {
	TOML_FROM_PATH,	  /* only named on the way to another: [here.x] */
	TOML_FROM_HEADER, /* [here] or [[here]], and the root */
	TOML_FROM_DOTS,	  /* here.x = 1 */
	TOML_FROM_INLINE, /* here = { } */
};

struct toml_branch {
	uint32_t bit;
	uint32_t child[2];
};

struct toml_table {
	VEC(struct toml_entry) entries; /* in the order of the text */
	/* Private to the reader. */
	VEC(struct toml_branch) index;
	uint32_t top;
	uint32_t depth;
	enum toml_origin origin;
};

/* Reads text; `name` is what messages call the file. *ret_root is the root table. */
int toml_read(struct arena *a, struct str text, const char *name, struct toml_table **ret_root,
	      struct cordon_error *err);

/* NULL when the table has no such key. */
const struct toml_value *toml_get(const struct toml_table *table, struct str key);
const struct toml_entry *toml_entry(const struct toml_table *table, struct str key);

/* Append a quoted string, or a key, bare where that is possible. What they write
 * parses back to the same bytes; invisible and control characters are escaped. Text
 * that is not UTF-8 cannot be written in TOML: it marks the buffer as failed. */
void toml_print_string(struct buf *b, struct str s);
void toml_print_key(struct buf *b, struct str key);

#endif
