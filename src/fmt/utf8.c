/* SPDX-License-Identifier: Apache-2.0 */
/* Single UTF-8 characters. Whole texts are checked by str_is_utf8. */
#include "fmt/utf8.h"

size_t utf8_length(struct str s)
{
	for (size_t n = 1; n <= UTF8_BYTES_MAX && n <= s.n; n++)
		if (str_is_utf8(str_take(s, n)))
			return n;
	return 0;
}

uint32_t utf8_point(struct str c)
{
	uint32_t point = (unsigned char)c.p[0];

	if (c.n > 1)
		point &= 0xffu >> (c.n + 1);
	for (size_t i = 1; i < c.n; i++)
		point = point << 6 | ((unsigned char)c.p[i] & 0x3f);
	return point;
}

size_t utf8_put(char out[UTF8_BYTES_MAX], uint32_t point)
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = 1 + (point > 0x7f) + (point > 0x7ff) + (point > 0xffff);

	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (point & 0x3f));
		point >>= 6;
	}
	out[0] = (char)(lead[n] | point);
	return n;
}

bool utf8_is_scalar(uint32_t point)
{
	return point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}
