/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors about a place in a text: every message starts with file:line:column.
 *
 * Lines and columns count from 1; a column is one Unicode character. The name and
 * every piece of quoted input are escaped, so a message is safe to print.
 */
#ifndef CORDON_FMT_LOCATED_H
#define CORDON_FMT_LOCATED_H

#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

struct place {
	uint32_t line, column;
};

/* Fills *err and returns -code. Of a very long name only the end is shown. */
int located_error(struct cordon_error *err, enum cordon_code code, const char *stage,
		  const char *name, struct place at, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* A piece of input for a message: escaped, shortened, in single quotes. */
struct quoted {
	char text[64];
};
struct quoted quote(struct str s);

/* What stands at an offset of a UTF-8 text, for "found ..." in a message. */
struct quoted found_at(struct str text, size_t at);

/* The place of a byte offset, counted from the start of the text. */
struct place place_of(struct str text, size_t at);
/* The place behind the byte c, which is at `place`. */
struct place place_step(struct place place, char c);

#endif
