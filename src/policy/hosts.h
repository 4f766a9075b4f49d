/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host patterns: the one parser for every name or address a policy mentions and
 * every one a program asks for (DESIGN 4, rule 14).
 *
 *	example.com        that name, any port
 *	*.example.com:443  one or more labels below it, never example.com itself
 *	192.0.2.1:80       an address; also 192.0.2.0/24, [2001:db8::1]:443, 2001:db8::/32
 *	localhost:8080     a service on the host
 *
 * Names are lower case A-labels without a trailing dot: upper case and one trailing
 * dot are folded, anything else outside letters, digits, hyphen and underscore is
 * refused rather than guessed at. Numbers that only look like addresses
 * (0x7f.1, 2130706433, 127.1) are refused too, because resolvers disagree on them.
 */
#ifndef CORDON_POLICY_HOSTS_H
#define CORDON_POLICY_HOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum host_kind { HOST_NAME, HOST_SUFFIX, HOST_ADDRESS };

#define HOST_NAME_MAX_BYTES 253
/* Inside a sandbox with a list of hosts, addresses out of these nets stand for names. They
 * belong to nobody (RFC 2544, RFC 4193). */
#define HOST_SYNTHETIC_NET "198.18.0.0/15"
#define HOST_SYNTHETIC_NET_SIX "fd63:6f72:646f:6e00::/64"

struct host {
	enum host_kind kind;
	uint16_t port;			/* 0: any */
	uint8_t name_length;
	char name[HOST_NAME_MAX_BYTES + 1];	/* without the "*." of a suffix */
	uint8_t address[16];		/* IPv4 is kept as ::ffff:a.b.c.d */
	uint8_t prefix_bits;		/* 0..128, counted on the 16 bytes */
};

/* A pattern, as written in a policy. */
int host_parse(struct str text, struct host *ret, struct cordon_error *err);
/* One destination, as a program names it: no wildcard, no prefix length. */
int host_parse_target(struct str text, struct host *ret, struct cordon_error *err);
/* Does the pattern cover the target, or all that a second pattern covers? What has no
 * port is covered only by a pattern without one. */
bool host_covers(const struct host *pattern, const struct host *target);
/* Of an address: is it one of IPv4? */
bool host_is_v4(const struct host *address);
/* Of an address: is it the loopback of whoever uses it? */
bool host_is_loopback(const struct host *address);
/* Is it that loopback, by address or as "localhost" (or what is below that)? */
bool host_is_local(const struct host *host);
/* The canonical spelling, which parses back to the same host. */
void host_print(struct buf *b, const struct host *host);

#endif
