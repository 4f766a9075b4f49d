/* SPDX-License-Identifier: Apache-2.0 */
/* Quoting of strings and keys so that toml_read gives the same bytes back. */
#include "fmt/toml.h"
#include "fmt/utf8.h"

/* Asks the terminal escaper, so that there is one list of unsafe characters. */
static bool is_safe(struct str c, struct buf *scratch)
{
	buf_clear(scratch);
	buf_add_escaped(scratch, c);
	return str_eq(buf_str(scratch), c);
}

static void print_char(struct buf *b, struct str c, struct buf *scratch)
{
	uint32_t point = utf8_point(c);

	if (point == '"' || point == '\\')
		buf_addf(b, "\\%c", (char)point);
	else if (point == '\n')
		buf_adds(b, "\\n");
	else if (point == '\t')
		buf_adds(b, "\\t");
	else if (point == '\r')
		buf_adds(b, "\\r");
	else if (is_safe(c, scratch))
		buf_add(b, c);
	else
		buf_addf(b, point > 0xffff ? "\\U%08X" : "\\u%04X", point);
	b->failed |= scratch->failed;
}

void toml_print_string(struct buf *b, struct str s)
{
	autobuf struct buf scratch = buf_make(64);

	buf_addc(b, '"');
	while (s.n) {
		size_t step = utf8_length(s);

		if (!step) {
			b->failed = true;
			return;
		}
		print_char(b, str_take(s, step), &scratch);
		s = str_skip(s, step);
	}
	buf_addc(b, '"');
}

static bool is_bare(struct str key)
{
	for (size_t i = 0; i < key.n; i++) {
		char c = key.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-'))
			return false;
	}
	return key.n > 0;
}

void toml_print_key(struct buf *b, struct str key)
{
	if (is_bare(key))
		buf_add(b, key);
	else
		toml_print_string(b, key);
}
