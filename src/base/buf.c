/* SPDX-License-Identifier: Apache-2.0 */
/* The growable buffer and the one escaper for text from outside. */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char empty_text[1];

void buf_init(struct buf *b, size_t max)
{
	*b = buf_make(max);
}

struct buf buf_make(size_t max)
{
	return (struct buf){ .p = empty_text, .max = max };
}

void buf_free(struct buf *b)
{
	if (b->cap)
		free(b->p);
	buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
	if (b->cap)
		b->p[0] = '\0';
}

/* Room for `more` bytes and the terminator, or a sticky failure. */
static bool reserve(struct buf *b, size_t more)
{
	size_t cap;
	char *p;

	if (b->failed || more > b->max - b->n) {
		b->failed = true;
		return false;
	}
	if (b->n + more < b->cap)
		return true;
	cap = b->cap ? b->cap : 64;
	while (cap <= b->n + more)
		cap *= 2;
	p = realloc(b->cap ? b->p : NULL, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void buf_add(struct buf *b, struct str s)
{
	if (!reserve(b, s.n))
		return;
	if (s.n)
		memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
	b->p[b->n] = '\0';
}

void buf_adds(struct buf *b, const char *text)
{
	buf_add(b, str_of(text));
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, (struct str){ &c, 1 });
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		b->failed = true;
	else if (reserve(b, (size_t)n)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
	va_end(ap);
}

struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p, b->n };
}

/* Characters that a terminal acts on or does not show: C1 controls, the soft hyphen, marks
 * of direction, zero width, line and paragraph ends, tags. */
static bool is_unshown(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x80, 0x9f },	    { 0xad, 0xad },	{ 0x061c, 0x061c }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xe0000, 0xe007f },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

/* Length of a UTF-8 sequence at the start of s that is safe to show, else 0. */
static size_t printable_sequence(struct str s)
{
	uint8_t c = (uint8_t)s.p[0];
	size_t n = c < 0xe0 ? 2 : (c < 0xf0 ? 3 : 4);
	uint32_t point = 0;

	if (c < 0x80)
		return c >= 0x20 && c != 0x7f && c != '\\' ? 1 : 0;
	if (s.n < n || !str_is_utf8(str_take(s, n)))
		return 0;
	point = c & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++)
		point = point << 6 | ((uint8_t)s.p[i] & 0x3f);
	return is_unshown(point) ? 0 : n;
}

void buf_add_escaped(struct buf *b, struct str s)
{
	while (s.n) {
		size_t n = printable_sequence(s);

		if (n)
			buf_add(b, str_take(s, n));
		else if (s.p[0] == '\n')
			buf_adds(b, "\\n");
		else if (s.p[0] == '\t')
			buf_adds(b, "\\t");
		else if (s.p[0] == '\r')
			buf_adds(b, "\\r");
		else if (s.p[0] == '\\')
			buf_adds(b, "\\\\");
		else
			buf_addf(b, "\\x%02x", (uint8_t)s.p[0]);
		s = str_skip(s, n ? n : 1);
	}
}

long buf_read(struct buf *b, int fd, size_t most)
{
	size_t room = b->max - b->n;
	ssize_t got;

	if (most > room)
		most = room;
	if (!most)
		return -ENOBUFS;
	if (!reserve(b, most))
		return -ENOMEM;
	got = read(fd, b->p + b->n, most);
	if (got < 0)
		return -errno;
	b->n += (size_t)got;
	b->p[b->n] = '\0';
	return got;
}
