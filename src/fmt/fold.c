/* SPDX-License-Identifier: Apache-2.0 */
/* Folding by tables (fold.def). Names are short and seldom beyond ASCII, so the tables
 * are searched from end to end. */
#include "fmt/fold.h"

#include <stdint.h>
#include <string.h>

#include "fmt/utf8.h"

static const struct {
	uint32_t first, last, step;
	int32_t delta;
} ranges[] = {
#define FOLD_RANGE(first, last, step, delta) { first, last, step, delta },
#define FOLD_TEXT(point, text)
#define FOLD_NOTHING(first, last)
#include "fmt/fold.def"
#undef FOLD_RANGE
#undef FOLD_TEXT
#undef FOLD_NOTHING
};

static const struct {
	uint32_t first, last;
	const char *text;
} texts[] = {
#define FOLD_RANGE(first, last, step, delta)
#define FOLD_TEXT(point, text) { point, point, text },
#define FOLD_NOTHING(first, last) { first, last, "" },
#include "fmt/fold.def"
#undef FOLD_RANGE
#undef FOLD_TEXT
#undef FOLD_NOTHING
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define FOLDED_MAX 8 /* bytes one character folds to */

/* One whole character beyond ASCII. */
static struct str fold_point(struct str c, char out[FOLDED_MAX])
{
	uint32_t point = utf8_point(c);

	for (size_t i = 0; i < COUNT(texts); i++)
		if (point >= texts[i].first && point <= texts[i].last)
			return str_of(texts[i].text);
	for (size_t i = 0; i < COUNT(ranges); i++)
		if (point >= ranges[i].first && point <= ranges[i].last &&
		    (point - ranges[i].first) % ranges[i].step == 0) {
			point = (uint32_t)((int32_t)point + ranges[i].delta);
			return (struct str){ out, utf8_put(out, point) };
		}
	return c;
}

/* What the next character of *text folds to, perhaps nothing; takes it off. */
static struct str fold_next(struct str *text, char out[FOLDED_MAX])
{
	size_t n = utf8_length(*text);
	struct str c = str_take(*text, n ? n : 1);

	*text = str_skip(*text, c.n);
	if (n > 1)
		return fold_point(c, out);
	out[0] = c.p[0] >= 'A' && c.p[0] <= 'Z' ? (char)(c.p[0] | 0x20) : c.p[0];
	return (struct str){ out, 1 };
}

bool fold_text(struct str text, char *out, size_t size, struct str *ret)
{
	char buffer[FOLDED_MAX];
	size_t n = 0;

	while (text.n) {
		struct str c = fold_next(&text, buffer);

		if (c.n > size - n)
			return false;
		memcpy(out + n, c.p, c.n);
		n += c.n;
	}
	*ret = (struct str){ out, n };
	return true;
}

/* One byte of a name being folded; -1 at its end. */
struct reader {
	struct str rest, folded;
	char buffer[FOLDED_MAX];
};

static int next_byte(struct reader *r)
{
	int byte;

	while (!r->folded.n && r->rest.n)
		r->folded = fold_next(&r->rest, r->buffer);
	if (!r->folded.n)
		return -1;
	byte = (unsigned char)r->folded.p[0];
	r->folded = str_skip(r->folded, 1);
	return byte;
}

bool fold_eq(struct str a, struct str b)
{
	struct reader ra = { .rest = a }, rb = { .rest = b };
	int byte;

	do {
		byte = next_byte(&ra);
		if (byte != next_byte(&rb))
			return false;
	} while (byte >= 0);
	return true;
}
