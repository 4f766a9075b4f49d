/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str: a view of bytes, pointer plus length. It owns nothing and is not
 * NUL-terminated unless its maker says so. Passed by value.
 */
#ifndef CORDON_BASE_STR_H
#define CORDON_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
/* For printf("%.*s"): STR_ARG(s) yields both arguments. */
#define STR_ARG(s) ((int)(s).n), ((s).p)

/* NULL reads as empty. */
static inline struct str str_of(const char *text)
{
	return (struct str){ text ? text : "", text ? strlen(text) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* n beyond the end gives empty; an empty view may have no pointer to move. */
static inline struct str str_skip(struct str s, size_t n)
{
	if (n > s.n)
		n = s.n;
	return n ? (struct str){ s.p + n, s.n - n } : s;
}

static inline struct str str_take(struct str s, size_t n)
{
	return (struct str){ s.p, n < s.n ? n : s.n };
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_take(s, prefix.n), prefix);
}

/* For tables in memory; the seed tells tables or parents apart. */
static inline uint64_t str_hash(struct str s, uint64_t seed)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t h = (seed + s.n) * odd, word;

	for (; s.n >= sizeof(word); s = str_skip(s, sizeof(word))) {
		memcpy(&word, s.p, sizeof(word));
		h = (h ^ word) * odd;
		h ^= h >> 32;
	}
	word = 0;
	if (s.n)
		memcpy(&word, s.p, s.n);
	h = (h ^ word) * odd;
	return h ^ h >> 32;
}

int str_cmp(struct str a, struct str b); /* bytewise, shorter first on a tie */
bool str_ends(struct str s, struct str suffix);
struct str str_trim(struct str s); /* spaces and tabs at both ends */
/* Index of the first c, or s.n when there is none. */
size_t str_find(struct str s, char c);
/* Splits at the first c: *ret_head before it, *rest after it. False, with the
 * whole in *ret_head and *rest empty, when c does not occur. */
bool str_cut(struct str s, char c, struct str *ret_head, struct str *ret_rest);
bool str_is_utf8(struct str s); /* strict: no surrogates, no overlong forms */

/* The candidate nearest to word by edit distance, or NULL when none is near
 * enough to be a plausible typing error. candidates ends with NULL. */
const char *str_nearest(struct str word, const char *const *candidates);

#endif
