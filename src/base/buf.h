/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf: the one growable byte buffer.
 *
 * The ceiling is given at init. A write that would pass it, or an allocation that
 * fails, sets `failed` and every later write does nothing, so a caller checks once
 * at the end. The contents are always NUL-terminated (also when empty or failed).
 */
#ifndef CORDON_BASE_BUF_H
#define CORDON_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include "base/str.h"

struct buf {
	char *p;  /* never NULL after init */
	size_t n; /* bytes without the terminator */
	size_t cap;
	size_t max;
	bool failed;
};

void buf_init(struct buf *b, size_t max);
/* The same as a value, for `autobuf struct buf b = buf_make(MAX);`: a buffer with a
 * cleanup is initialised where it is declared. */
struct buf buf_make(size_t max);
void buf_free(struct buf *b);  /* accepts a zeroed buf; leaves it empty and usable */
void buf_clear(struct buf *b); /* empties, forgets a failure, keeps the memory */

void buf_add(struct buf *b, struct str s);
void buf_adds(struct buf *b, const char *text);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct str buf_str(const struct buf *b);

/* Text from inside the sandbox or from a file, made safe for a terminal: control
 * bytes, DEL, backslash, C1 controls, bidi and zero-width characters and bytes that
 * are not UTF-8 become \xNN (or \n, \t, \r, \\). */
void buf_add_escaped(struct buf *b, struct str s);

/* Appends what can be read from fd, at most `most` bytes in one read(2). Returns
 * bytes read, 0 at the end, or -errno. A full buffer gives -ENOBUFS. */
long buf_read(struct buf *b, int fd, size_t most);

#define autobuf __attribute__((cleanup(buf_free)))

#endif
