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

static void goes_and_comes(enum dns_type type, const uint8_t *address, size_t bytes)
{
	uint8_t asked[DNS_QUERY_MAX], out[DNS_ANSWER_MAX];
	struct dns_addresses found;
	size_t n = dns_write_query(0x1234, "one.example", type, asked), m;

	cr_assert(dns_read_query(asked, n, &query));
	cr_assert_str_eq(query.name, "one.example");
	m = dns_write_address(asked, &query, type, address, out);
	cr_assert_leq(m, sizeof(out));
	cr_assert(dns_read_addresses(out, m, asked, n, &found));
	cr_assert_eq(found.code, DNS_NO_ERROR);
	cr_assert_eq(found.n, 1);
	cr_assert_arr_eq(found.at[0] + 16 - bytes, address, bytes);
	/* Cut off anywhere, it is no answer or has no address. */
	for (size_t i = 0; i < m; i++)
		cr_assert(!dns_read_addresses(out, i, asked, n, &found) || found.n == 0);
}

Test(dns, an_address_comes_back_as_it_went)
{
	static const uint8_t four[4] = { 198, 18, 0, 7 };
	static const uint8_t six[16] = { 0xfd, 0x63, [8] = 1, [15] = 7 };

	goes_and_comes(DNS_A, four, sizeof(four));
	goes_and_comes(DNS_AAAA, six, sizeof(six));
}

#define ZEROS_8 "0.0.0.0.0.0.0.0."

Test(dns, the_address_in_a_name)
{
	static const char *const bad[] = {
		"",
		"arpa",
		"ip6.arpa",
		"1.0.18.198",
		"0.18.198.in-addr.arpa",
		"5.1.0.18.198.in-addr.arpa",
		"256.0.18.198.in-addr.arpa",
		"1.0.18.198.in-addr.arpa.evil",
		ZEROS_8 ZEROS_8 ZEROS_8 "0.0.0.0.0.0.0.ip6.arpa",
		ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 "0.ip6.arpa",
		ZEROS_8 ZEROS_8 ZEROS_8 "0.0.0.0.0.0.0.g.ip6.arpa",
		ZEROS_8 ZEROS_8 ZEROS_8 "0.0.0.0.0.0.000.ip6.arpa",
		ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 "ip6.arpb",
	};
	uint8_t address[16];

	cr_assert(dns_read_reverse(STR("1.0.18.198.in-addr.arpa"), address));
	cr_assert_arr_eq(address, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc6\x12\0\1", 16);
	cr_assert(dns_read_reverse(STR("1.0.0.0.2.1.6.c." ZEROS_8 "0.0.e.6.f.6.4.6."
				       "2.7.f.6.3.6.d.f.ip6.arpa"),
				   address));
	cr_assert_arr_eq(address, "\xfd\x63\x6f\x72\x64\x6f\x6e\0\0\0\0\0\xc6\x12\0\1", 16);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_not(dns_read_reverse(str_of(bad[i]), address), "%s", bad[i]);
}

Test(dns, a_pointer_names_it)
{
	uint8_t out[DNS_ANSWER_MAX];
	size_t n;

	QUESTION("\1"
		 "7\1"
		 "0\2"
		 "18\3"
		 "198\7in-addr\4arpa",
		 12);
	cr_assert(dns_read_query(packet, size, &query));
	n = dns_write_pointer(packet, &query, "one.example", out);
	cr_assert_eq(n, size + 12 + 13);
	cr_assert_arr_eq(out + n - 13, "\3one\7example", 13);
	cr_assert_eq(dns_write_pointer(packet, &query, "", out), size, "no name");
	cr_assert_eq(out[3] & 0xf, DNS_NO_NAME);
}

Test(dns, only_plain_names_are_asked_for)
{
	static const char *const bad[] = { "", ".", "a..b", ".a", "a.", "a b", "A", "a\\000b" };
	char label[66] = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(dns_write_query(1, bad[i], DNS_A, packet), 0, "%s", bad[i]);
	memset(label, 'a', 63);
	cr_assert(dns_write_query(1, label, DNS_A, packet));
	label[63] = 'a';
	cr_assert_not(dns_write_query(1, label, DNS_A, packet));
}

/* An answer to `asked` with one record; name compressed, as servers do. */
static size_t answer_with(const uint8_t *asked, size_t asked_n, uint16_t type, const char *data,
			  uint16_t length, uint8_t *out)
{
	const uint8_t record[] = {
		0xc0, 12, 0, (uint8_t)type, 0, 1, 0, 0, 0, 5, 0, (uint8_t)length
	};

	cr_assert(dns_read_query(asked, asked_n, &query));
	dns_write_answer(asked, &query, DNS_NO_ERROR, out);
	out[7] = 1;
	memcpy(out + query.question_end, record, sizeof(record));
	memcpy(out + query.question_end + sizeof(record), data, length);
	return query.question_end + sizeof(record) + length;
}

Test(dns, what_is_not_the_answer)
{
	uint8_t asked[DNS_QUERY_MAX], out[1024];
	struct dns_addresses found;
	size_t n = dns_write_query(7, "one.example", DNS_A, asked);
	size_t m = answer_with(asked, n, DNS_A, "\1\2\3\4", 4, out);

	cr_assert(dns_read_addresses(out, m, asked, n, &found) && found.n == 1);
	out[0] ^= 1;
	cr_assert_not(dns_read_addresses(out, m, asked, n, &found), "another number");
	out[0] ^= 1;
	out[2] &= 0x7f;
	cr_assert_not(dns_read_addresses(out, m, asked, n, &found), "a question");
	out[2] |= 0x80;
	out[13] ^= 1;
	cr_assert_not(dns_read_addresses(out, m, asked, n, &found), "another name");
	out[13] ^= 1 ^ 0x20;
	cr_assert(dns_read_addresses(out, m, asked, n, &found), "the same in capitals");
	out[query.question_end - 3] = DNS_AAAA;
	cr_assert_not(dns_read_addresses(out, m, asked, n, &found), "another kind");
}

Test(dns, which_records_are_taken)
{
	uint8_t asked[DNS_QUERY_MAX], out[1024];
	struct dns_addresses found;
	size_t n = dns_write_query(7, "one.example", DNS_AAAA, asked), m;

	m = answer_with(asked, n, DNS_AAAA, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16, out);
	cr_assert(dns_read_addresses(out, m, asked, n, &found) && found.n == 1);
	m = answer_with(asked, n, DNS_AAAA, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16, out);
	cr_assert(dns_read_addresses(out, m, asked, n, &found) && found.n == 0, "in disguise");
	m = answer_with(asked, n, DNS_A, "\1\2\3\4", 4, out);
	cr_assert(dns_read_addresses(out, m, asked, n, &found) && found.n == 0, "not asked for");
	m = answer_with(asked, n, DNS_AAAA, "\1\2\3\4", 4, out);
	cr_assert(dns_read_addresses(out, m, asked, n, &found) && found.n == 0, "too short");
	out[7] = 255;
	cr_assert(dns_read_addresses(out, m, asked, n, &found) && found.n == 0, "fewer than said");
}

Test(dns, what_was_cut_off_is_told)
{
	uint8_t asked[DNS_QUERY_MAX], out[1024];
	struct dns_addresses found;
	size_t n = dns_write_query(7, "one.example", DNS_A, asked);
	size_t m = answer_with(asked, n, DNS_A, "\1\2\3\4", 4, out);

	cr_assert(dns_read_addresses(out, m, asked, n, &found) && !found.cut);
	out[2] |= 2;
	cr_assert(dns_read_addresses(out, m, asked, n, &found) && found.cut && found.n == 1);
}

Test(dns, a_question_without_extension_is_the_same_question)
{
	uint8_t asked[DNS_QUERY_MAX];
	struct dns_query with, without;
	size_t n = dns_write_query(7, "one.example", DNS_A, asked), m;

	cr_assert(dns_read_query(asked, n, &with));
	m = dns_simplify_query(asked, n);
	cr_assert(dns_read_query(asked, m, &without));
	cr_assert_eq(without.question_end, m, "nothing is behind it");
	cr_assert_eq(asked[11], 0);
	cr_assert_str_eq(without.name, with.name);
}

Test(dns, who_did_not_understand_need_not_repeat)
{
	static const uint8_t error[12] = { 0, 7, 0x81, 0x80 | DNS_FORMAT_ERROR };
	uint8_t asked[DNS_QUERY_MAX], other[12];
	struct dns_addresses found;
	size_t n = dns_write_query(7, "one.example", DNS_A, asked);

	cr_assert(dns_read_addresses(error, sizeof(error), asked, n, &found));
	cr_assert_eq(found.code, DNS_FORMAT_ERROR);
	cr_assert_eq(found.n, 0);
	memcpy(other, error, sizeof(other));
	other[3] = 0x80 | DNS_NO_NAME;
	cr_assert_not(dns_read_addresses(other, sizeof(other), asked, n, &found), "no such name");
	memcpy(other, error, sizeof(other));
	other[1] = 8;
	cr_assert_not(dns_read_addresses(other, sizeof(other), asked, n, &found), "another number");
	cr_assert_not(dns_read_addresses(error, 11, asked, n, &found), "less than a header");
}
