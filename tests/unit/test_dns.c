/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "net/dns.h"

static uint8_t packet[1024];
static size_t size;
static struct dns_query query;

/* A question for a name given as labels, each with its length before it. */
static void question(const char *labels, size_t n, uint16_t type)
{
	static const uint8_t header[12] = { 0x12, 0x34, 0x01, 0x00, 0, 1 };

	memcpy(packet, header, sizeof(header));
	memcpy(packet + 12, labels, n);
	packet[12 + n] = 0;
	packet[13 + n] = (uint8_t)(type >> 8);
	packet[14 + n] = (uint8_t)type;
	packet[15 + n] = 0;
	packet[16 + n] = 1;
	size = 17 + n;
}
#define QUESTION(labels, type) question(labels, sizeof(labels) - 1, type)

Test(dns, a_question_is_read)
{
	QUESTION("\7Example\3COM", 28);
	cr_assert(dns_read_query(packet, size, &query));
	cr_assert_str_eq(query.name, "example.com");
	cr_assert_eq(query.type, 28);
	cr_assert_eq(query.class, 1);
	cr_assert_eq(query.question_end, size);
	QUESTION("", 2);
	cr_assert(dns_read_query(packet, size, &query));
	cr_assert_str_eq(query.name, "");
}

Test(dns, what_follows_the_question_is_left_alone)
{
	QUESTION("\1a", 1);
	memset(packet + size, 0xff, 100);
	packet[11] = 1;
	cr_assert(dns_read_query(packet, size + 100, &query));
	cr_assert_eq(query.question_end, size);
}

Test(dns, bytes_that_are_no_letters_are_escaped)
{
	QUESTION("\3a.b\4\0\x1b[\xff", 1);
	cr_assert(dns_read_query(packet, size, &query));
	cr_assert_str_eq(query.name, "a\\046b.\\000\\027\\091\\255");
}

Test(dns, the_longest_name_fits_and_no_longer_one)
{
	char labels[4 * 64];

	memset(labels, 0xff, sizeof(labels));
	labels[0] = labels[64] = labels[128] = 63;
	labels[192] = 61;
	question(labels, 192 + 62, 1);
	cr_assert(dns_read_query(packet, size, &query));
	cr_assert_eq(strlen(query.name), 4 * (3 * 63 + 61) + 3);
	labels[192] = 62;
	question(labels, 192 + 63, 1);
	cr_assert_not(dns_read_query(packet, size, &query));
}

Test(dns, anything_else_is_refused)
{
	QUESTION("\7example\3com", 1);
	for (size_t n = 0; n < size; n++)
		cr_assert_not(dns_read_query(packet, n, &query), "cut at %zu", n);
	packet[2] = 0x81;
	cr_assert_not(dns_read_query(packet, size, &query), "an answer");
	packet[2] = 0x28;
	cr_assert_not(dns_read_query(packet, size, &query), "an update");
	packet[2] = 0x01;
	packet[5] = 2;
	cr_assert_not(dns_read_query(packet, size, &query), "two questions");
	packet[5] = 1;
	packet[7] = 1;
	cr_assert_not(dns_read_query(packet, size, &query), "a question with an answer");
	QUESTION("\xc0\x0c", 1);
	cr_assert_not(dns_read_query(packet, size, &query), "a pointer to itself");
	QUESTION("\x40"
		 "a",
		 1);
	cr_assert_not(dns_read_query(packet, size, &query), "a label of a kind unknown");
}

Test(dns, an_answer_repeats_the_question)
{
	uint8_t out[DNS_ANSWER_MAX];
	size_t n;

	QUESTION("\1a", 1);
	packet[11] = 1;
	packet[size] = 0;
	cr_assert(dns_read_query(packet, size + 1, &query));
	n = dns_write_answer(packet, &query, DNS_NO_NAME, out);
	cr_assert_eq(n, size);
	cr_assert_arr_eq(out, ((uint8_t[]){ 0x12, 0x34, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0 }), 12);
	cr_assert_arr_eq(out + 12, packet + 12, n - 12);
}
