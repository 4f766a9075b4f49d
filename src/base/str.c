/* SPDX-License-Identifier: Apache-2.0 */
/* String views: comparison, cutting, UTF-8 checking, near matches. */
#include "base/str.h"

#include <stdint.h>
#include <string.h>

/* Longer words are not compared: a near match of something longer is noise. */
#define NEAREST_MAX 63

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c)
		return c;
	return a.n < b.n ? -1 : a.n > b.n;
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_skip(s, s.n - suffix.n), suffix);
}

struct str str_trim(struct str s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_skip(s, 1);
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

size_t str_find(struct str s, char c)
{
	const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;

	return hit ? (size_t)(hit - s.p) : s.n;
}

bool str_cut(struct str s, char c, struct str *ret_head, struct str *ret_rest)
{
	size_t at = str_find(s, c);

	*ret_head = str_take(s, at);
	*ret_rest = str_skip(s, at + 1);
	return at < s.n;
}

/* Length of the well-formed sequence at the start of s, 0 when there is none. */
static size_t utf8_sequence(struct str s)
{
	static const struct {
		uint8_t mask, lead;
		uint32_t least;
	} forms[] = {
		{ 0x80, 0x00, 0 },
		{ 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};
	uint8_t first = (uint8_t)s.p[0];

	for (size_t i = 0; i < 4; i++) {
		uint32_t point = first & (uint8_t)~forms[i].mask;

		if ((first & forms[i].mask) != forms[i].lead)
			continue;
		if (s.n < i + 1)
			return 0;
		for (size_t k = 1; k <= i; k++) {
			if (((uint8_t)s.p[k] & 0xc0) != 0x80)
				return 0;
			point = point << 6 | ((uint8_t)s.p[k] & 0x3f);
		}
		if (point < forms[i].least || point > 0x10ffff ||
		    (point >= 0xd800 && point <= 0xdfff))
			return 0;
		return i + 1;
	}
	return 0;
}

bool str_is_utf8(struct str s)
{
	while (s.n) {
		size_t step = utf8_sequence(s);

		if (!step)
			return false;
		s = str_skip(s, step);
	}
	return true;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

static bool is_swap(struct str a, size_t i, struct str b, size_t j)
{
	return i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
}

/* Edits from a to b, two letters swapped counting as one; both at most NEAREST_MAX. */
static size_t edit_distance(struct str a, struct str b)
{
	size_t rows[3][NEAREST_MAX + 1];

	for (size_t j = 0; j <= b.n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *twice = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			now[j] = min3(before[j] + 1, now[j - 1] + 1,
				      before[j - 1] + (a.p[i - 1] != b.p[j - 1]));
			if (is_swap(a, i, b, j) && twice[j - 2] + 1 < now[j])
				now[j] = twice[j - 2] + 1;
		}
	}
	return rows[a.n % 3][b.n];
}

const char *str_nearest(struct str word, const char *const *candidates)
{
	const char *best = NULL;
	/* Beyond a third of the letters it is another word. */
	size_t best_distance = word.n < 6 ? 1 : word.n / 3;

	if (word.n < 2 || word.n > NEAREST_MAX)
		return NULL;
	for (; *candidates; candidates++) {
		struct str c = str_of(*candidates);
		size_t d;

		if (c.n > NEAREST_MAX)
			continue;
		d = edit_distance(word, c);
		if (d < best_distance || (d == best_distance && !best)) {
			best = *candidates;
			best_distance = d;
		}
	}
	return best;
}
