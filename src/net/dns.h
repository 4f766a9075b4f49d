/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns: one question in, one answer out. Pure: bytes to a value and back.
 *
 * Only what a stub resolver sends is read: a standard query with one question, its name
 * spelled out. Everything else is refused as a whole, so nothing in a packet can make
 * the reader jump or loop.
 */
#ifndef CORDON_NET_DNS_H
#define CORDON_NET_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name of 255 bytes, every one of them written as \DDD. */
#define DNS_NAME_TEXT_MAX 1024
/* A header and one question fit; larger queries carry nothing that is looked at. */
#define DNS_PACKET_MAX 4096
#define DNS_ANSWER_MAX (12 + 255 + 4)

enum dns_code { DNS_NO_ERROR = 0, DNS_FORMAT_ERROR = 1, DNS_NO_NAME = 3, DNS_REFUSED = 5 };

struct dns_query {
	/* Small letters, no dot at the end; a byte that is neither letter, digit, '-' nor
	 * '_' as \DDD, so a dot in it is a boundary of labels. "" is the root. */
	char name[DNS_NAME_TEXT_MAX];
	uint16_t type, class;
	size_t question_end; /* offset in the packet */
};

/* False for anything but one standard query. */
bool dns_read_query(const uint8_t *packet, size_t n, struct dns_query *ret);
/* The answer to it without any record; out has room for DNS_ANSWER_MAX. Returns its
 * length. */
size_t dns_write_answer(const uint8_t *packet, const struct dns_query *query, enum dns_code code,
			uint8_t *out);

#endif
