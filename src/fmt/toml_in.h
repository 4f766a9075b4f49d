/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the TOML reader share: the cursor over one text, and the
 * pieces each file provides to the others. Nobody else includes this.
 *
 * The text has been checked as a whole before the first byte is interpreted: it is
 * UTF-8 without control characters other than tab, LF and CR before LF.
 */
#ifndef CORDON_FMT_TOML_IN_H
#define CORDON_FMT_TOML_IN_H

#include "fmt/toml.h"

struct toml_in {
	struct arena *arena;
	const char *name;
	struct str text;
	size_t at; /* the cursor, a byte offset */
	size_t nodes;
	size_t place_at; /* offset of `place`, which only moves forward */
	struct place place;
	struct cordon_error *err;
};

/* toml_lex.c: cursor and errors. */

int toml_check_text(struct toml_in *in);
/* The byte at the cursor; 0, which the text cannot hold, at its end. */
char toml_peek(const struct toml_in *in);
bool toml_looking_at(const struct toml_in *in, struct str token);
bool toml_take(struct toml_in *in, char c); /* steps over c if it is next */
/* The length of a line end at offset `at`: 1, 2, or 0 when there is none. */
size_t toml_newline_at(const struct toml_in *in, size_t at);
void toml_skip_blank(struct toml_in *in);  /* spaces and tabs */
void toml_skip_filler(struct toml_in *in); /* blanks, comments and line ends */
/* After a header or a value: only a comment may follow on the line. */
int toml_end_line(struct toml_in *in, const char *after);

struct place toml_place(struct toml_in *in, size_t at);
/* What stands at the cursor, for "found ..." in a message. */
struct quoted toml_found(const struct toml_in *in);
/* Fills the reader's error for the offset `at` and returns -code. */
int toml_fail_as(struct toml_in *in, enum cordon_code code, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define toml_fail(in, at, ...) toml_fail_as(in, CORDON_E_SYNTAX, at, __VA_ARGS__)
#define toml_fail_limit(in, at, ...) toml_fail_as(in, CORDON_E_LIMIT, at, __VA_ARGS__)
int toml_fail_nomem(struct toml_in *in);

/* toml_string.c: the cursor stands on the opening quote. */

int toml_read_string(struct toml_in *in, struct str *ret);
int toml_read_line_string(struct toml_in *in, struct str *ret); /* no """ or ''' */

/* toml_scalar.c and toml_time.c: everything that is not quoted or bracketed. */

int toml_read_bare(struct toml_in *in, struct toml_value *ret);
bool toml_looks_like_time(struct str token);
/* `start` is the offset of the token in the text. */
int toml_read_time(struct toml_in *in, size_t start, struct str token, struct toml_value *ret);

/* toml_table.c */

/* Adds a key that the table does not have yet; the value is the caller's to fill.
 * The pointer holds until the next addition. NULL when memory is out. */
struct toml_entry *toml_table_add(struct toml_table *table, struct arena *a, struct str key);

#endif
