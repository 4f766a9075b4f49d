/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that name a place in a text, and quoting of input inside them. */
#include "fmt/located.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"

#define NAME_SHOWN 120
#define QUOTE_SHOWN 32

size_t utf8_length(struct str s)
{
	for (size_t n = 1; n <= 4 && n <= s.n; n++)
		if (str_is_utf8(str_take(s, n)))
			return n;
	return 0;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
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
	return err_set(err, code, 0, stage, "%s:%u:%u: %s", where.p, at.line, at.column,
		       text);
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
