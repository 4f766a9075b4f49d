/* SPDX-License-Identifier: Apache-2.0 */
/* Names in the first message of a TLS client: whole, in parts, in many records. */
#include <criterion/criterion.h>
#include <string.h>

#include "net/hello.h"

#define NAME "ok.test"

struct bytes {
	uint8_t at[HELLO_BYTES_MAX * 8];
	size_t n;
};

static void add(struct bytes *b, const void *p, size_t n)
{
	cr_assert_leq(b->n + n, sizeof(b->at));
	memcpy(b->at + b->n, p, n);
	b->n += n;
}

static void add_number(struct bytes *b, size_t value, unsigned bytes)
{
	while (bytes-- > 0)
		add(b, &(uint8_t){ (uint8_t)(value >> 8 * bytes) }, 1);
}

static void add_name(struct bytes *b, const char *name, size_t n)
{
	add_number(b, 0, 2);
	add_number(b, n + 5, 2);
	add_number(b, n + 3, 2);
	add_number(b, 0, 1);
	add_number(b, n, 2);
	add(b, name, n);
}

/* The message with these extensions, without a record around it. */
static struct bytes *message(const struct bytes *extensions)
{
	static struct bytes m;
	static const uint8_t zero[34];

	m.n = 0;
	add_number(&m, 1, 1);
	add_number(&m, 34 + 1 + 2 + 2 + 1 + 1 + 2 + extensions->n, 3);
	add(&m, zero, 34);
	add_number(&m, 0, 1);
	add_number(&m, 2, 2);
	add_number(&m, 0x1301, 2);
	add_number(&m, 1, 1);
	add_number(&m, 0, 1);
	add_number(&m, extensions->n, 2);
	add(&m, extensions->at, extensions->n);
	return &m;
}

/* The message in records of at most `each` bytes. */
static struct bytes *records(const struct bytes *m, size_t each)
{
	static struct bytes r;

	r.n = 0;
	for (size_t i = 0; i < m->n; i += each) {
		size_t n = m->n - i < each ? m->n - i : each;

		add(&r, "\x16\x03\x01", 3);
		add_number(&r, n, 2);
		add(&r, m->at + i, n);
	}
	return &r;
}

static enum hello look(const struct bytes *b, char *name)
{
	size_t end = 0;
	enum hello found = hello_read(b->at, b->n, name, &end);

	if (found == HELLO_NAME || found == HELLO_NAMELESS)
		cr_assert_eq(end, b->n);
	return found;
}

/* What is in it nobody reads: the name beside it is the one that counts. */
Test(hello, of_an_encrypted_hello_the_outer_name_is_read)
{
	static struct bytes extensions;
	static const uint8_t sealed[200] = "\0\0\1\0\1";
	char name[HELLO_NAME_MAX + 1];

	for (unsigned before = 0; before < 2; before++) {
		extensions.n = 0;
		if (!before)
			add_name(&extensions, NAME, strlen(NAME));
		add_number(&extensions, 0xfe0d, 2);
		add_number(&extensions, sizeof(sealed), 2);
		add(&extensions, sealed, sizeof(sealed));
		if (before)
			add_name(&extensions, NAME, strlen(NAME));
		cr_assert_eq(look(records(message(&extensions), 16384), name), HELLO_NAME);
		cr_assert_str_eq(name, NAME);
	}
}

Test(hello, a_name_in_one_or_many_records_and_more_before_it_is_whole)
{
	static struct bytes extensions;
	char name[HELLO_NAME_MAX + 1];

	add_number(&extensions, 10, 2);
	add_number(&extensions, 0, 2);
	add_name(&extensions, NAME, strlen(NAME));
	for (size_t each = 1; each < 100; each++) {
		struct bytes *b = records(message(&extensions), each);
		size_t whole = b->n;

		cr_assert_eq(look(b, name), HELLO_NAME);
		cr_assert_str_eq(name, NAME);
		for (b->n = 0; b->n < whole; b->n++)
			cr_assert_eq(look(b, name), HELLO_MORE, "%zu", b->n);
	}
}

Test(hello, other_things)
{
	static struct bytes none, b;
	char name[HELLO_NAME_MAX + 1];

	cr_assert_eq(look(records(message(&none), 1000), name), HELLO_NAMELESS);
	add(&b, "GET / HTTP/1.1", 14);
	cr_assert_eq(look(&b, name), HELLO_OTHER);
}

/* Servers overlook some of these, and take the message that follows. */
Test(hello, what_begins_like_tls_begins_with_a_hello)
{
	static const struct {
		const char *bytes;
		size_t n;
	} wrong[] = {
		{ "\x16\x03\x01\x00\x04\x02\x00\x00\x00", 9 }, /* a server's */
		{ "\x16\x04", 2 },
		{ "\x15\x03\x01\x00\x02\x01\x5a", 7 }, /* a warning */
		{ "\x14", 1 },
		{ "\x17", 1 },
	};
	char name[HELLO_NAME_MAX + 1];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct bytes b = { .n = 0 };

		add(&b, wrong[i].bytes, wrong[i].n);
		cr_assert_eq(look(&b, name), HELLO_BAD, "%zu", i);
	}
}

Test(hello, what_two_readers_could_take_differently_is_bad)
{
	static struct bytes two, nul, empty, cut, mixed, behind, large;
	char name[HELLO_NAME_MAX + 1];
	struct bytes *b;

	add_name(&two, NAME, strlen(NAME));
	add_name(&two, "other", 5);
	cr_assert_eq(look(records(message(&two), 1000), name), HELLO_BAD);
	add_name(&nul, "ok.test\0x", 9);
	cr_assert_eq(look(records(message(&nul), 1000), name), HELLO_BAD);
	add_name(&empty, "", 0);
	cr_assert_eq(look(records(message(&empty), 1000), name), HELLO_BAD);
	add_name(&cut, NAME, strlen(NAME));
	cut.n--;
	cr_assert_eq(look(records(message(&cut), 1000), name), HELLO_BAD);
	add_name(&mixed, NAME, strlen(NAME));
	b = records(message(&mixed), 20);
	b->at[25] = 0x17;
	cr_assert_eq(look(b, name), HELLO_BAD, "another kind of record in between");
	add_name(&behind, NAME, strlen(NAME));
	b = message(&behind);
	add_number(b, 1, 1);
	cr_assert_eq(look(records(b, 1000), name), HELLO_BAD, "another message in its record");
	add(&large, "\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9);
	cr_assert_eq(look(&large, name), HELLO_BAD);
	large.n = 0;
	add(&large, "\x16\x03\x01\x00\x00", 5);
	cr_assert_eq(look(&large, name), HELLO_BAD, "an empty record");
}

/* RFC 8446, 4.1.3 */
#define RETRY_RANDOM                                                                           \
	"\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"                       \
	"\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"

Test(hello, an_answer_that_asks_for_another_hello_is_told_from_one_that_does_not)
{
	static struct bytes m;

	add(&m, "\x02\x00\x00\x26\x03\x03" RETRY_RANDOM "\x00\x13\x01\x00", 42);
	for (size_t each = 1; each < 50; each++) {
		struct bytes *b = records(&m, each);
		size_t whole = b->n;

		cr_assert_eq(hello_answer(b->at, b->n), HELLO_ANSWER_AGAIN, "%zu", each);
		for (b->n = 0; b->n < whole; b->n++)
			cr_assert_neq(hello_answer(b->at, b->n), HELLO_ANSWER, "%zu", b->n);
	}
	m.at[20] ^= 1;
	cr_assert_eq(hello_answer(records(&m, 9)->at, records(&m, 9)->n), HELLO_ANSWER);
	cr_assert_eq(hello_answer((const uint8_t *)"HTTP", 4), HELLO_ANSWER);
}

Test(hello, records_beside_a_message)
{
	size_t n = 0;

	cr_assert_eq(hello_record((const uint8_t *)"\x14\x03\x03\x00\x01\x01", 6, &n),
		     HELLO_RECORD_BESIDE);
	cr_assert_eq(n, 6);
	cr_assert_eq(hello_record((const uint8_t *)"\x17\x03\x03\x10\x00", 5, &n),
		     HELLO_RECORD_BESIDE);
	cr_assert_eq(n, 5 + 0x1000);
	cr_assert_eq(hello_record((const uint8_t *)"\x17\x03\x03\x10", 4, &n), HELLO_RECORD_MORE);
	cr_assert_eq(hello_record((const uint8_t *)"\x17\x03\x03\xff\xff", 5, &n),
		     HELLO_RECORD_NOT);
	cr_assert_eq(hello_record((const uint8_t *)"\x16\x03\x03\x00\x01", 5, &n),
		     HELLO_RECORD_NOT);
}
