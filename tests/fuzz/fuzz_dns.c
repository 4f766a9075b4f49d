/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the readers of DNS questions and answers. A question that is accepted has a name
 * of plain characters within its bounds, and an answer that repeats the question and
 * nothing else. An answer yields addresses within their bounds, none of IPv4 in disguise.
 */
#include <string.h>

#include "fuzz.h"
#include "net/dns.h"

static void check_name(const char *name)
{
	size_t n = strlen(name);

	CHECK(n < DNS_NAME_TEXT_MAX);
	for (size_t i = 0; i < n; i++) {
		char c = name[i];

		CHECK((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
		      c == '.' || c == '\\');
	}
	CHECK(!n || name[n - 1] != '.');
}

/* The bytes as the answer to a question that has their number and question. */
static void check_answer(const uint8_t *data, size_t size)
{
	static const enum dns_type types[] = { DNS_A, DNS_AAAA };
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	for (size_t i = 0; size > 2 && i < 2; i++) {
		uint8_t query[DNS_QUERY_MAX];
		size_t n = dns_write_query((uint16_t)(data[0] << 8 | data[1]), "a.example",
					   types[i], query);
		struct dns_addresses found;

		CHECK(n > 0);
		if (!dns_read_addresses(data, size, query, n, &found))
			continue;
		CHECK(found.n <= DNS_ADDRESSES_MAX);
		for (size_t k = 0; k < found.n; k++)
			CHECK((types[i] == DNS_A) == (memcmp(found.at[k], mapped, 12) == 0));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t out[DNS_ANSWER_MAX];
	struct dns_query query;
	size_t n;

	check_answer(data, size);
	if (!dns_read_query(data, size, &query))
		return 0;
	check_name(query.name);
	CHECK(query.question_end <= size && query.question_end <= sizeof(out));
	n = dns_write_answer(data, &query, DNS_NO_NAME, out);
	CHECK(n == query.question_end);
	CHECK(memcmp(out, data, 2) == 0 && out[2] & 0x80 && (out[3] & 0xf) == DNS_NO_NAME);
	CHECK(memcmp(out + 12, data + 12, n - 12) == 0);
	/* An answer is no question. */
	CHECK(!dns_read_query(out, n, &query));
	return 0;
}
