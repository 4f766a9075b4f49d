/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that name a place in a text, and quoting of input inside them. */
#include "fmt/located.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "fmt/utf8.h"

#define NAME_SHOWN 120
#define QUOTE_SHOWN 32

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

struct place place_step(struct place place, char c)
{
	if (c == '\n')
		return (struct place){ place.line + 1, 1 };
	if (!is_continuation(c))
		place.column++;
	return place;
}

static void add_name(struct buf *b, const char *name)
{
	struct str s = str_of(name);

	if (s.n > NAME_SHOWN) {
		s = str_skip(s, s.n - NAME_SHOWN);
		while (s.n && is_continuation(s.p[0]))
			s = str_skip(s, 1);
		buf_adds(b, "...");
	}
	buf_add_escaped(b, s);
}

int located_error(struct cordon_error *err, enum cordon_code code, const char *stage,
		  const char *name, struct place at, const char *fmt, ...)
{
	autobuf struct buf where = buf_make(4 * NAME_SHOWN + 8);
	char text[sizeof(err->message)];
	va_list ap;

	add_name(&where, name);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, code, 0, stage, "%s:%u:%u: %s", where.p, at.line, at.column, text);
}

struct place place_of(struct str text, size_t at)
{
	struct place place = { 1, 1 };

	for (size_t i = 0; i < at; i++)
		place = place_step(place, text.p[i]);
	return place;
}

struct quoted found_at(struct str text, size_t at)
{
	struct str rest = str_skip(text, at);

	if (!rest.n)
		return (struct quoted){ "the end of the file" };
	if (rest.p[0] == '\n' || str_starts(rest, STR("\r\n")))
		return (struct quoted){ "the end of the line" };
	return quote(str_take(rest, utf8_length(rest)));
}

struct quoted quote(struct str s)
{
	struct quoted q = { "''" };
	autobuf struct buf b = buf_make(sizeof(q.text));
	size_t used = 0;

	while (used < s.n && b.n < QUOTE_SHOWN) {
		size_t step = utf8_length(str_skip(s, used));

		if (!step)
			step = 1;
		buf_add_escaped(&b, str_take(str_skip(s, used), step));
		used += step;
	}
	snprintf(q.text, sizeof(q.text), "'%s%s'", b.p, used < s.n ? "..." : "");
	return q;
}
