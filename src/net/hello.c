/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records are put together to one message, which is then read field by field. Every
 * length is compared with what is left before it is used. A message that is looked at ends
 * with its record: nothing else stands behind it, so that it can be sent by itself.
 */
#include "net/hello.h"

#include <stdbool.h>
#include <string.h>

#define RECORD_HEADER 5
#define RECORD_MAX (16384 + 256)
#define CHANGE_CIPHER 0x14 /* the first kind of record, */
#define HANDSHAKE 0x16
#define APPLICATION 0x17 /* and the last */
#define MAJOR 3
#define MESSAGE_HEADER 4
#define CLIENT_HELLO 1
#define SERVER_HELLO 2
#define VERSION 2
#define RANDOM 32
#define EXTENSION_NAME 0
#define NAME_OF_HOST 0

/* What is left to be read. */
struct rest {
	const uint8_t *p;
	size_t n;
	bool bad;
};

static size_t take_number(struct rest *r, unsigned bytes)
{
	size_t value = 0;

	if (r->n < bytes) {
		r->bad = true;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | r->p[i];
	r->p += bytes;
	r->n -= bytes;
	return value;
}

static struct rest take(struct rest *r, size_t n)
{
	struct rest part = { .p = r->p, .n = n };

	if (r->bad || r->n < n) {
		r->bad = true;
		return (struct rest){ .bad = true };
	}
	r->p += n;
	r->n -= n;
	return part;
}

/* A field with its length before it. */
static struct rest take_field(struct rest *r, unsigned length_bytes)
{
	return take(r, take_number(r, length_bytes));
}

static enum hello read_name(struct rest list, char *ret)
{
	struct rest names = take_field(&list, 2), name;
	size_t kind = take_number(&names, 1);

	name = take_field(&names, 2);
	/* One name only: which of two would a server take? */
	if (list.bad || list.n || names.bad || names.n || kind != NAME_OF_HOST || !name.n ||
	    name.n > HELLO_NAME_MAX || memchr(name.p, 0, name.n))
		return HELLO_BAD;
	memcpy(ret, name.p, name.n);
	ret[name.n] = '\0';
	return HELLO_NAME;
}

static enum hello read_extensions(struct rest all, char *ret)
{
	enum hello found = HELLO_NAMELESS;

	while (!all.bad && all.n) {
		size_t kind = take_number(&all, 2);
		struct rest one = take_field(&all, 2);

		if (all.bad || (kind == EXTENSION_NAME && found != HELLO_NAMELESS))
			return HELLO_BAD;
		if (kind == EXTENSION_NAME)
			found = read_name(one, ret);
		if (found == HELLO_BAD)
			return HELLO_BAD;
	}
	return found;
}

static enum hello read_message(struct rest m, char *ret)
{
	struct rest extensions;

	take(&m, VERSION + RANDOM);
	take_field(&m, 1); /* session */
	take_field(&m, 2); /* ciphers */
	take_field(&m, 1); /* compression */
	if (m.bad)
		return HELLO_BAD;
	if (!m.n)
		return HELLO_NAMELESS;
	extensions = take_field(&m, 2);
	return extensions.bad || m.n ? HELLO_BAD : read_extensions(extensions, ret);
}

/* The message so far, and what there is of it; `whole` counts what the record still brings. */
static enum hello look(const uint8_t *message, size_t n, size_t whole, char *ret)
{
	struct rest m = { .p = message, .n = n };
	size_t kind, length;

	if (n && message[0] != CLIENT_HELLO)
		return HELLO_BAD;
	if (n < MESSAGE_HEADER)
		return HELLO_MORE;
	kind = take_number(&m, 1);
	length = take_number(&m, 3);
	if (kind != CLIENT_HELLO || length > HELLO_BYTES_MAX || whole > MESSAGE_HEADER + length)
		return HELLO_BAD;
	return m.n < length ? HELLO_MORE : read_message(m, ret);
}

enum head { HEAD_OTHER, HEAD_MORE, HEAD_HANDSHAKE, HEAD_WRONG };

/* Servers overlook what a record before the first message says, and some its version: what
 * begins like TLS and not with a handshake would hide a name behind it. */
static enum head record_head(const uint8_t *p, size_t n)
{
	if (!n)
		return HEAD_MORE;
	if (p[0] < CHANGE_CIPHER || p[0] > APPLICATION)
		return HEAD_OTHER;
	if (p[0] != HANDSHAKE || (n > 1 && p[1] != MAJOR))
		return HEAD_WRONG;
	return n < RECORD_HEADER ? HEAD_MORE : HEAD_HANDSHAKE;
}

/* Of what stands behind the header. */
static size_t record_length(const uint8_t *header)
{
	return (size_t)header[3] << 8 | header[4];
}

/* Adds what there is of a record to a message of which `have` bytes are known. */
static size_t add_record(uint8_t *message, size_t size, size_t have, const uint8_t *record,
			 size_t n)
{
	size_t length = record_length(record), part = n - RECORD_HEADER;

	if (part > length)
		part = length;
	if (part > size - have)
		part = size - have;
	memcpy(message + have, record + RECORD_HEADER, part);
	return have + part;
}

enum hello hello_read(const uint8_t *bytes, size_t n, char ret_name[HELLO_NAME_MAX + 1],
		      size_t *ret_n)
{
	uint8_t message[MESSAGE_HEADER + HELLO_BYTES_MAX];
	size_t have = 0, at = 0;
	enum head head;

	while ((head = record_head(bytes + at, n - at)) == HEAD_HANDSHAKE) {
		size_t length = record_length(bytes + at), before = have;
		enum hello found;

		if (!length || length > RECORD_MAX)
			return HELLO_BAD;
		have = add_record(message, sizeof(message), have, bytes + at, n - at);
		found = look(message, have, before + length, ret_name);
		*ret_n = at + RECORD_HEADER + length;
		if (found != HELLO_MORE || have < before + length)
			return found;
		at = *ret_n;
	}
	if (head == HEAD_MORE)
		return HELLO_MORE;
	/* Something else in the middle of a message is wrong, too. */
	return at || head == HEAD_WRONG ? HELLO_BAD : HELLO_OTHER;
}

enum hello_record hello_record(const uint8_t *bytes, size_t n, size_t *ret_n)
{
	if (!n)
		return HELLO_RECORD_MORE;
	if (bytes[0] == HANDSHAKE || bytes[0] < CHANGE_CIPHER || bytes[0] > APPLICATION)
		return HELLO_RECORD_NOT;
	if (n < RECORD_HEADER)
		return HELLO_RECORD_MORE;
	*ret_n = RECORD_HEADER + record_length(bytes);
	return bytes[1] == MAJOR && *ret_n <= RECORD_HEADER + RECORD_MAX ? HELLO_RECORD_BESIDE
									 : HELLO_RECORD_NOT;
}

enum hello_answer hello_answer(const uint8_t *bytes, size_t n)
{
	/* RFC 8446, 4.1.3: it is told from an answer by what stands for the random bytes. */
	static const uint8_t again[RANDOM] = {
		0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
		0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
		0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
	};
	uint8_t message[MESSAGE_HEADER + VERSION + RANDOM];
	size_t have = 0, at = 0;
	enum head head;

	while ((head = record_head(bytes + at, n - at)) == HEAD_HANDSHAKE) {
		size_t length = record_length(bytes + at);

		have = add_record(message, sizeof(message), have, bytes + at, n - at);
		if (have && message[0] != SERVER_HELLO)
			return HELLO_ANSWER;
		if (have == sizeof(message))
			return memcmp(message + MESSAGE_HEADER + VERSION, again, RANDOM) == 0
				       ? HELLO_ANSWER_AGAIN
				       : HELLO_ANSWER;
		if (n - at < RECORD_HEADER + length)
			return HELLO_ANSWER_MORE;
		at += RECORD_HEADER + length;
	}
	return head == HEAD_MORE ? HELLO_ANSWER_MORE : HELLO_ANSWER;
}
