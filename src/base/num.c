/* SPDX-License-Identifier: Apache-2.0 */
/* Strict numbers, sizes and durations, both directions. */
#include "base/num.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes the leading digits off *s; false when there are none or they overflow. */
static bool take_number(struct str *s, uint64_t *ret)
{
	uint64_t value = 0;
	size_t n = 0;

	for (; n < s->n && is_digit(s->p[n]); n++)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(s->p[n] - '0'), &value))
			return false;
	if (!n)
		return false;
	*s = str_skip(*s, n);
	*ret = value;
	return true;
}

bool num_parse_u64(struct str s, uint64_t max, uint64_t *ret)
{
	uint64_t value;

	if (!take_number(&s, &value) || s.n || value > max)
		return false;
	*ret = value;
	return true;
}

bool num_parse_real(const char *text, double *ret)
{
	/* strtod would obey the locale, in which the point may be a comma. Making the
	 * C locale takes no memory and cannot fail. */
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end;
	double value = strtod_l(text, &end, plain);

	freelocale(plain);
	if (end == text || *end || isinf(value))
		return false;
	*ret = value;
	return true;
}

static const char size_units[] = "KMGT";

bool num_parse_size(struct str s, uint64_t *ret_bytes)
{
	uint64_t value, scale = 1;

	if (!take_number(&s, &value))
		return false;
	if (s.n) {
		size_t unit = 0;

		while (size_units[unit] && (s.p[0] & ~0x20) != size_units[unit])
			unit++;
		if (!size_units[unit])
			return false;
		scale = (uint64_t)1 << (10 * (unit + 1));
		s = str_skip(s, 1);
		if (s.n && (s.n > 2 || strncasecmp(s.p, s.n == 2 ? "iB" : "B", s.n)))
			return false;
	}
	if (__builtin_mul_overflow(value, scale, &value))
		return false;
	*ret_bytes = value;
	return true;
}

static const struct {
	struct str name;
	uint64_t ms;
} time_units[] = {
	{ { "d", 1 }, 86400000 },
	{ { "h", 1 }, 3600000 },
	{ { "m", 1 }, 60000 },
	{ { "s", 1 }, 1000 },
	{ { "ms", 2 }, 1 },
};
#define TIME_UNITS (sizeof(time_units) / sizeof(time_units[0]))

/* Takes a unit smaller than the one before off *s; *unit indexes time_units. */
static bool take_unit(struct str *s, size_t *unit)
{
	size_t n = 0;

	while (n < s->n && !is_digit(s->p[n]))
		n++;
	for (size_t i = *unit; i < TIME_UNITS; i++)
		if (str_eq(str_take(*s, n), time_units[i].name)) {
			*unit = i;
			*s = str_skip(*s, n);
			return true;
		}
	return false;
}

bool num_parse_duration(struct str s, uint64_t *ret_ms)
{
	uint64_t total = 0, value;
	size_t unit = 0;

	if (num_parse_u64(s, UINT64_MAX / 1000, &value)) {
		*ret_ms = value * 1000;
		return true;
	}
	if (!s.n)
		return false;
	while (s.n) {
		if (!take_number(&s, &value) || !take_unit(&s, &unit) ||
		    __builtin_mul_overflow(value, time_units[unit].ms, &value) ||
		    __builtin_add_overflow(total, value, &total))
			return false;
		unit++;
	}
	*ret_ms = total;
	return true;
}

void num_print_size(struct buf *b, uint64_t bytes)
{
	size_t unit = 0;

	while (unit < 4 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	buf_addf(b, "%" PRIu64, bytes);
	if (unit)
		buf_addc(b, size_units[unit - 1]);
}

void num_print_duration(struct buf *b, uint64_t ms)
{
	if (!ms)
		buf_adds(b, "0s");
	for (size_t i = 0; i < TIME_UNITS; i++) {
		uint64_t count = ms / time_units[i].ms;

		ms %= time_units[i].ms;
		if (count)
			buf_addf(b, "%" PRIu64 "%s", count, time_units[i].name.p);
	}
}
