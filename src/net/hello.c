/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records are put together to one message, which is then read field by field. Every
 * length is compared with what is left before it is used.
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
#define VERSION_AND_RANDOM 34
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
	enum hello found = HELLO_OTHER;

	while (!all.bad && all.n) {
		size_t kind = take_number(&all, 2);
		struct rest one = take_field(&all, 2);

		if (all.bad || (kind == EXTENSION_NAME && found != HELLO_OTHER))
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

	take(&m, VERSION_AND_RANDOM);
	take_field(&m, 1); /* session */
	take_field(&m, 2); /* ciphers */
	take_field(&m, 1); /* compression */
	if (m.bad)
		return HELLO_BAD;
	if (!m.n)
		return HELLO_OTHER;
	extensions = take_field(&m, 2);
	return extensions.bad || m.n ? HELLO_BAD : read_extensions(extensions, ret);
}

/* The message so far, and what there is of it. */
static enum hello look(const uint8_t *message, size_t n, char *ret)
{
	struct rest m = { .p = message, .n = n };
	size_t kind, length;

	if (n && message[0] != CLIENT_HELLO)
		return HELLO_BAD;
	if (n < MESSAGE_HEADER)
		return HELLO_MORE;
	kind = take_number(&m, 1);
	length = take_number(&m, 3);
	if (kind != CLIENT_HELLO || length > HELLO_BYTES_MAX)
		return HELLO_BAD;
	if (m.n < length)
		return HELLO_MORE;
	m.n = length;
	return read_message(m, ret);
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

enum hello hello_read(const uint8_t *bytes, size_t n, char ret_name[HELLO_NAME_MAX + 1])
{
	uint8_t message[MESSAGE_HEADER + HELLO_BYTES_MAX];
	size_t have = 0, at = 0;
	enum head head;

	while ((head = record_head(bytes + at, n - at)) == HEAD_HANDSHAKE) {
		size_t length = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
		size_t part = n - at - RECORD_HEADER < length ? n - at - RECORD_HEADER : length;
		enum hello found;

		if (!length || length > RECORD_MAX)
			return HELLO_BAD;
		if (part > sizeof(message) - have)
			part = sizeof(message) - have;
		memcpy(message + have, bytes + at + RECORD_HEADER, part);
		have += part;
		found = look(message, have, ret_name);
		if (found != HELLO_MORE)
			return found;
		if (part < length)
			return HELLO_MORE;
		at += RECORD_HEADER + length;
	}
	if (head == HEAD_MORE)
		return HELLO_MORE;
	/* Something else in the middle of a message is wrong, too. */
	return at || head == HEAD_WRONG ? HELLO_BAD : HELLO_OTHER;
}
