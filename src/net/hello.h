/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello: the name in the first message of a TLS client, and whether the server asks for
 * another such message. Pure, and decrypts nothing: these messages are not encrypted.
 */
#ifndef CORDON_NET_HELLO_H
#define CORDON_NET_HELLO_H

#include <stddef.h>
#include <stdint.h>

/* A longer message is refused; those of programs in use have less than 3,000 bytes. */
#define HELLO_BYTES_MAX 16384
#define HELLO_NAME_MAX 255

enum hello {
	HELLO_MORE,  /* it goes on after these bytes */
	HELLO_OTHER, /* something else than TLS */
	HELLO_NAMELESS,
	HELLO_NAME,
	HELLO_BAD, /* not as it should be */
};

/* The first bytes of a connection; the message may be spread over many records. The name
 * is as it was sent, with a NUL after it and none in it. ret_n, of a message with or without a
 * name: where its records end. */
enum hello hello_read(const uint8_t *bytes, size_t n, char ret_name[HELLO_NAME_MAX + 1],
		      size_t *ret_n);

/* What may stand before a message and is no part of it: a change of ciphers, an alert, data
 * sent early. */
enum hello_record {
	HELLO_RECORD_MORE,
	HELLO_RECORD_BESIDE, /* such a record, and ret_n its length */
	HELLO_RECORD_NOT,
};
enum hello_record hello_record(const uint8_t *bytes, size_t n, size_t *ret_n);

/* What a server says to a hello. */
enum hello_answer {
	HELLO_ANSWER_MORE,
	HELLO_ANSWER,
	HELLO_ANSWER_AGAIN, /* the client is to send another (HelloRetryRequest) */
};
enum hello_answer hello_answer(const uint8_t *bytes, size_t n);

#endif
