/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns: both sides of one question and its answer. Pure: bytes to a value and back.
 *
 * Of questions only what a stub resolver sends is read: a standard query with one
 * question, its name spelled out. Everything else is refused as a whole. Of answers the
 * addresses are taken and names are only stepped over. So nothing in a packet can make
 * either reader jump or loop.
 */
#ifndef CORDON_NET_DNS_H
#define CORDON_NET_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A name of 255 bytes, every one of them written as \DDD. */
#define DNS_NAME_TEXT_MAX 1024
/* A header and one question fit; larger queries carry nothing that is looked at. */
#define DNS_PACKET_MAX 4096
/* The question, and one record whose data is a name. */
#define DNS_ANSWER_MAX (12 + 255 + 4 + 12 + 255)
#define DNS_QUERY_MAX (12 + 255 + 4 + 11)
#define DNS_ADDRESSES_MAX 8

enum dns_code {
	DNS_NO_ERROR = 0,
	DNS_FORMAT_ERROR = 1,
	DNS_SERVER_FAILED = 2,
	DNS_NO_NAME = 3,
	DNS_NOT_KNOWN = 4,
	DNS_REFUSED = 5,
};
enum dns_type { DNS_A = 1, DNS_PTR = 12, DNS_AAAA = 28 };
#define DNS_INTERNET 1

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
/* The same with the address of the name, of 4 bytes for DNS_A and 16 for DNS_AAAA, or the
 * name of an address. */
size_t dns_write_address(const uint8_t *packet, const struct dns_query *query, enum dns_type type,
			 const uint8_t *address, uint8_t *out);
size_t dns_write_pointer(const uint8_t *packet, const struct dns_query *query, const char *name,
			 uint8_t *out);

/* The address that a name below in-addr.arpa or ip6.arpa is about; IPv4 as
 * ::ffff:a.b.c.d. False: it is no such name. */
bool dns_read_reverse(struct str name, uint8_t ret[16]);

/* The other side: a question for a name of plain labels; out has room for DNS_QUERY_MAX.
 * 0: it is no such name. */
size_t dns_write_query(uint16_t id, const char *name, enum dns_type type, uint8_t *out);
/* Takes the extension out of it that some servers do not understand; the length it has then. */
size_t dns_simplify_query(uint8_t *query, size_t n);

struct dns_addresses {
	enum dns_code code;
	bool cut; /* there was more than fits into a datagram */
	size_t n;
	uint8_t at[DNS_ADDRESSES_MAX][16]; /* IPv4 as ::ffff:a.b.c.d */
};
/* The addresses in an answer; those that do not fit are left out, and so is an IPv6
 * address that is one of IPv4 in disguise. False: it is not the answer to that query. */
bool dns_read_addresses(const uint8_t *packet, size_t n, const uint8_t *query, size_t query_n,
			struct dns_addresses *ret);

#endif
