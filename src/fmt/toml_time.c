/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML dates and times. A token is taken apart from left to right by a small
 * scanner; ranges are checked when all of it has been read.
 */
#include "fmt/toml_in.h"

struct scan {
	struct str rest;
	bool ok;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static unsigned take_digits(struct scan *s, size_t count)
{
	unsigned value = 0;

	for (size_t i = 0; i < count; i++) {
		if (!s->rest.n || !is_digit(s->rest.p[0])) {
			s->ok = false;
			return 0;
		}
		value = value * 10 + (unsigned)(s->rest.p[0] - '0');
		s->rest = str_skip(s->rest, 1);
	}
	return value;
}

/* Steps over one of the characters in `any`; returns it, or 0. */
static char take_any(struct scan *s, const char *any)
{
	for (; *any && s->rest.n; any++)
		if (s->rest.p[0] == *any) {
			s->rest = str_skip(s->rest, 1);
			return *any;
		}
	return '\0';
}

static void take_mark(struct scan *s, char mark)
{
	if (!take_any(s, (char[]){ mark, '\0' }))
		s->ok = false;
}

bool toml_looks_like_time(struct str token)
{
	size_t digits = 0;

	while (digits < token.n && is_digit(token.p[digits]))
		digits++;
	if (digits == token.n)
		return false;
	return (digits == 4 && token.p[4] == '-') || (digits == 2 && token.p[2] == ':');
}

static void scan_date(struct scan *s, struct toml_time *t)
{
	t->year = (uint16_t)take_digits(s, 4);
	take_mark(s, '-');
	t->month = (uint8_t)take_digits(s, 2);
	take_mark(s, '-');
	t->day = (uint8_t)take_digits(s, 2);
}

static void scan_fraction(struct scan *s, struct toml_time *t)
{
	uint32_t unit = 100000000;

	if (!take_any(s, "."))
		return;
	t->nanosecond = take_digits(s, 1) * unit;
	while (s->rest.n && is_digit(s->rest.p[0])) {
		unit /= 10;
		t->nanosecond += take_digits(s, 1) * unit;
	}
}

static void scan_clock(struct scan *s, struct toml_time *t)
{
	t->hour = (uint8_t)take_digits(s, 2);
	take_mark(s, ':');
	t->minute = (uint8_t)take_digits(s, 2);
	take_mark(s, ':');
	t->second = (uint8_t)take_digits(s, 2);
	if (s->ok)
		scan_fraction(s, t);
}

/* Z or +hh:mm; *ret_wrong is set when its numbers are out of range. */
static void scan_offset(struct scan *s, struct toml_time *t, bool *ret_wrong)
{
	unsigned hours, minutes;
	char sign;

	if (take_any(s, "Zz"))
		return;
	sign = take_any(s, "+-");
	hours = take_digits(s, 2);
	take_mark(s, ':');
	minutes = take_digits(s, 2);
	*ret_wrong = hours > 23 || minutes > 59;
	t->offset = (int16_t)(hours * 60 + minutes);
	if (sign == '-')
		t->offset = (int16_t)-t->offset;
}

static unsigned days_of(unsigned year, unsigned month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

static const char *date_fault(const struct toml_time *t)
{
	if (t->month < 1 || t->month > 12)
		return "the month must be 01 to 12";
	if (t->day < 1 || t->day > days_of(t->year, t->month))
		return "that month has no such day";
	return NULL;
}

static const char *clock_fault(const struct toml_time *t)
{
	if (t->hour > 23)
		return "the hour must be 00 to 23";
	if (t->minute > 59)
		return "the minute must be 00 to 59";
	return t->second > 59 ? "the second must be 00 to 59" : NULL;
}

/* Fills type and time; false when the token has not the form of any kind. */
static bool scan_token(struct str token, struct toml_value *v, bool *ret_wrong_offset)
{
	struct scan s = { token, true };

	v->type = token.p[2] == ':' ? TOML_LOCAL_TIME : TOML_LOCAL_DATE;
	if (v->type == TOML_LOCAL_TIME) {
		scan_clock(&s, &v->time);
		return s.ok && !s.rest.n;
	}
	scan_date(&s, &v->time);
	if (s.ok && take_any(&s, "Tt ")) {
		v->type = TOML_LOCAL_DATETIME;
		scan_clock(&s, &v->time);
	}
	if (s.ok && s.rest.n && v->type == TOML_LOCAL_DATETIME) {
		v->type = TOML_DATETIME;
		scan_offset(&s, &v->time, ret_wrong_offset);
	}
	return s.ok && !s.rest.n;
}

int toml_read_time(struct toml_in *in, size_t start, struct str token, struct toml_value *ret)
{
	struct toml_value v = { .at = toml_place(in, start) };
	bool wrong_offset = false;
	const char *fault = NULL;

	v.time = (struct toml_time){ 0 };
	if (!scan_token(token, &v, &wrong_offset))
		return toml_fail(in, start,
				 "%s is not a date or time; expected a form like 2026-01-31, "
				 "07:32:00 or 2026-01-31T07:32:00Z",
				 quote(token).text);
	if (v.type != TOML_LOCAL_TIME)
		fault = date_fault(&v.time);
	if (!fault && v.type != TOML_LOCAL_DATE)
		fault = clock_fault(&v.time);
	if (!fault && wrong_offset)
		fault = "the offset must be between -23:59 and +23:59";
	if (fault)
		return toml_fail(in, start, "impossible date or time %s: %s", quote(token).text,
				 fault);
	*ret = v;
	return 0;
}
