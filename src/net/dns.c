/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing one question and its answer. */
#include "net/dns.h"

#include <string.h>

#include "base/num.h"

#define HEADER 12
#define LABEL_MAX 63
#define NAME_MAX_BYTES 255
/* Bits of the third and fourth byte. */
#define RESPONSE 0x80
#define OPCODE 0x78
#define RECURSION_DESIRED 0x01
#define CUT 0x02
#define RECURSION_AVAILABLE 0x80
#define CODE 0x0f
/* What a record has between its name and its data. */
#define RECORD_HEADER 10
/* An address given out stays what it is for the whole run. */
#define SECONDS_TO_LIVE 60
#define OPT 41
#define OPT_BYTES 11
#define PAYLOAD 1232
#define POINTER 0xc0

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint8_t *put16(uint8_t *to, unsigned value)
{
	*to++ = (uint8_t)(value >> 8);
	*to++ = (uint8_t)value;
	return to;
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

/* The head of a record about the name that was asked for. */
static uint8_t *put_record(uint8_t *to, unsigned type, size_t length)
{
	to = put16(to, POINTER << 8 | HEADER);
	to = put16(to, type);
	to = put16(to, DNS_INTERNET);
	to = put16(to, 0);
	to = put16(to, SECONDS_TO_LIVE);
	return put16(to, (unsigned)length);
}

size_t dns_write_address(const uint8_t *packet, const struct dns_query *query, enum dns_type type,
			 const uint8_t *address, uint8_t *out)
{
	size_t n = dns_write_answer(packet, query, DNS_NO_ERROR, out);
	size_t length = type == DNS_AAAA ? 16 : 4;
	uint8_t *to = put_record(out + n, type, length);

	put16(out + 6, 1);
	memcpy(to, address, length);
	return (size_t)(to + length - out);
}

/* Returns where it ends; NULL: it is no name of plain labels. */
static uint8_t *put_name(uint8_t *to, const char *name)
{
	size_t all = strlen(name);

	if (!all || all > NAME_MAX_BYTES - 2)
		return NULL;
	for (;;) {
		size_t n = strcspn(name, ".");

		if (!n || n > LABEL_MAX)
			return NULL;
		for (size_t i = 0; i < n; i++)
			if (!is_plain((uint8_t)name[i]))
				return NULL;
		*to++ = (uint8_t)n;
		memcpy(to, name, n);
		to += n;
		name += n;
		if (!*name)
			break;
		name++;
	}
	*to++ = 0;
	return to;
}

size_t dns_write_pointer(const uint8_t *packet, const struct dns_query *query, const char *name,
			 uint8_t *out)
{
	size_t n = dns_write_answer(packet, query, DNS_NO_ERROR, out);
	uint8_t *record = out + n, *data = record + 2 + RECORD_HEADER, *end = put_name(data, name);

	if (!end)
		return dns_write_answer(packet, query, DNS_NO_NAME, out);
	put_record(record, DNS_PTR, (size_t)(end - data));
	put16(out + 6, 1);
	return (size_t)(end - out);
}

/* d.c.b.a.in-addr.arpa */
static bool read_reverse_four(struct str name, uint8_t ret[4])
{
	struct str rest = name, label;

	for (unsigned i = 4; i-- > 0;) {
		uint64_t byte;

		if (!str_cut(rest, '.', &label, &rest) || !num_parse_u64(label, 255, &byte))
			return false;
		ret[i] = (uint8_t)byte;
	}
	return str_eq(rest, STR("in-addr.arpa"));
}

/* The digits one by one, the last first, each with a dot after it. */
static bool read_reverse_six(struct str name, uint8_t ret[16])
{
	static const char digits[] = "0123456789abcdef";

	if (name.n != 64 + sizeof("ip6.arpa") - 1 || !str_ends(name, STR(".ip6.arpa")))
		return false;
	for (unsigned i = 0; i < 32; i++) {
		const char *digit = memchr(digits, name.p[2 * i], 16);
		unsigned value = digit ? (unsigned)(digit - digits) : 0;
		uint8_t *byte = &ret[15 - i / 2];

		if (!digit || name.p[2 * i + 1] != '.')
			return false;
		*byte = (uint8_t)(i % 2 ? *byte | value << 4 : value);
	}
	return true;
}

bool dns_read_reverse(struct str name, uint8_t ret[16])
{
	memset(ret, 0, 10);
	memset(ret + 10, 0xff, 2);
	return read_reverse_four(name, ret + 12) || read_reverse_six(name, ret);
}

/* With the one extension that lets an answer be larger than 512 bytes. */
size_t dns_write_query(uint16_t id, const char *name, enum dns_type type, uint8_t *out)
{
	uint8_t *to = out + HEADER;

	memset(out, 0, HEADER);
	put16(out, id);
	out[2] = RECURSION_DESIRED;
	out[5] = 1;
	out[11] = 1;
	to = put_name(to, name);
	if (!to)
		return 0;
	to = put16(to, type);
	to = put16(to, DNS_INTERNET);
	*to++ = 0;
	to = put16(to, OPT);
	to = put16(to, PAYLOAD);
	memset(to, 0, 6);
	return (size_t)(to + 6 - out);
}

size_t dns_simplify_query(uint8_t *query, size_t n)
{
	put16(query + 10, 0);
	return n - OPT_BYTES;
}

/* Steps over a name, which may end in a pointer. */
static bool skip_name(const uint8_t *packet, size_t n, size_t *at)
{
	while (*at < n) {
		uint8_t length = packet[*at];

		if (length == 0 || length >= POINTER) {
			*at += length ? 2 : 1;
			return *at <= n;
		}
		if (length > LABEL_MAX)
			return false;
		*at += 1u + length;
	}
	return false;
}

static bool is_mapped(const uint8_t *address)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(address, prefix, sizeof(prefix)) == 0;
}

static void take_address(const uint8_t *data, size_t length, unsigned type,
			 struct dns_addresses *ret)
{
	uint8_t *to = ret->at[ret->n];

	if (ret->n == DNS_ADDRESSES_MAX)
		return;
	if (type == DNS_A && length == 4) {
		memset(to, 0, 10);
		memset(to + 10, 0xff, 2);
		memcpy(to + 12, data, 4);
		ret->n++;
	} else if (type == DNS_AAAA && length == 16 && !is_mapped(data)) {
		memcpy(to, data, 16);
		ret->n++;
	}
}

/* The first record that is cut off ends them: what came before it is good. */
static void read_records(const uint8_t *packet, size_t n, size_t at, unsigned type,
			 struct dns_addresses *ret)
{
	for (unsigned i = get16(packet + 6); i > 0; i--) {
		size_t length;

		if (!skip_name(packet, n, &at) || n - at < RECORD_HEADER)
			return;
		length = get16(packet + at + 8);
		if (n - at - RECORD_HEADER < length)
			return;
		if (get16(packet + at) == type && get16(packet + at + 2) == DNS_INTERNET)
			take_address(packet + at + RECORD_HEADER, length, type, ret);
		at += RECORD_HEADER + length;
	}
}

/* Who did not understand the question need not repeat it. */
static bool is_bare_error(const uint8_t *packet, size_t n)
{
	return n == HEADER && (packet[3] & CODE) == DNS_FORMAT_ERROR;
}

bool dns_read_addresses(const uint8_t *packet, size_t n, const uint8_t *query, size_t query_n,
			struct dns_addresses *ret)
{
	struct dns_query asked, echoed;
	uint8_t head[DNS_QUERY_MAX];

	if (!dns_read_query(query, query_n, &asked) || n < HEADER ||
	    memcmp(packet, query, 2) != 0 || !(packet[2] & RESPONSE))
		return false;
	if (is_bare_error(packet, n)) {
		*ret = (struct dns_addresses){ .code = DNS_FORMAT_ERROR };
		return true;
	}
	if (n < asked.question_end)
		return false;
	/* What it repeats is read as the question that it is. */
	memcpy(head, packet, asked.question_end);
	head[2] &= (uint8_t)~RESPONSE;
	memset(head + 6, 0, HEADER - 6);
	if (!dns_read_query(head, asked.question_end, &echoed) ||
	    strcmp(echoed.name, asked.name) != 0 || echoed.type != asked.type ||
	    echoed.class != asked.class)
		return false;
	*ret = (struct dns_addresses){ .code = packet[3] & CODE, .cut = packet[2] & CUT };
	read_records(packet, n, asked.question_end, asked.type, ret);
	return true;
}
