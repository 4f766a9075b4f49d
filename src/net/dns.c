/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one question and writing one answer. */
#include "net/dns.h"

#include <string.h>

#define HEADER 12
#define LABEL_MAX 63
#define NAME_MAX_BYTES 255
/* Bits of the third and fourth byte. */
#define RESPONSE 0x80
#define OPCODE 0x78
#define RECURSION_DESIRED 0x01
#define RECURSION_AVAILABLE 0x80

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool is_plain(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static char *write_byte(char *to, uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		c = (uint8_t)(c - 'A' + 'a');
	if (is_plain(c)) {
		*to++ = (char)c;
		return to;
	}
	*to++ = '\\';
	*to++ = (char)('0' + c / 100);
	*to++ = (char)('0' + c / 10 % 10);
	*to++ = (char)('0' + c % 10);
	return to;
}

/* The name at *at, which moves behind it. A length of 64 or more is a pointer or
 * something newer, neither of which belongs into a question. */
static bool read_name(const uint8_t *packet, size_t n, size_t *at, char *ret)
{
	size_t i = *at;
	char *to = ret;

	for (;;) {
		size_t length = i < n ? packet[i] : LABEL_MAX + 1;

		if (length > LABEL_MAX || i + 1 + length > n ||
		    i + 1 + length - *at > NAME_MAX_BYTES)
			return false;
		i++;
		if (length == 0)
			break;
		if (to != ret)
			*to++ = '.';
		for (; length > 0; length--)
			to = write_byte(to, packet[i++]);
	}
	*to = '\0';
	*at = i;
	return true;
}

bool dns_read_query(const uint8_t *packet, size_t n, struct dns_query *ret)
{
	size_t at = HEADER;

	if (n < HEADER || packet[2] & (RESPONSE | OPCODE) || get16(packet + 4) != 1 ||
	    get16(packet + 6) != 0)
		return false;
	if (!read_name(packet, n, &at, ret->name) || n - at < 4)
		return false;
	ret->type = get16(packet + at);
	ret->class = get16(packet + at + 2);
	ret->question_end = at + 4;
	return true;
}

size_t dns_write_answer(const uint8_t *packet, const struct dns_query *query, enum dns_code code,
			uint8_t *out)
{
	memcpy(out, packet, query->question_end);
	out[2] = (uint8_t)(RESPONSE | (packet[2] & RECURSION_DESIRED));
	out[3] = (uint8_t)(RECURSION_AVAILABLE | code);
	memset(out + 6, 0, HEADER - 6);
	return query->question_end;
}
