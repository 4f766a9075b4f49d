/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello: the name in the first message of a TLS client. Pure, and decrypts nothing: that
 * message is not encrypted.
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
	HELLO_OTHER, /* something else, or a message without a name */
	HELLO_NAME,
	HELLO_BAD, /* not as it should be */
};

/* The first bytes of a connection; the message may be spread over many records. The name
 * is as it was sent, with a NUL after it and none in it. */
enum hello hello_read(const uint8_t *bytes, size_t n, char ret_name[HELLO_NAME_MAX + 1]);

#endif
