/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy: the proxies that the caller's variables name, and the two messages with which
 * one is asked to connect (CONNECT, RFC 9110 9.3.6). Pure: text to values and back.
 *
 * As with other programs, HTTP_PROXY is for port 80, HTTPS_PROXY for all others and
 * ALL_PROXY for what has none; the spelling in small letters comes first. NO_PROXY lists
 * what is reached without one: names with what is below them, addresses, nets, or "*".
 */
#ifndef CORDON_NET_PROXY_H
#define CORDON_NET_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/hosts.h"

/* Name and password, before they are written as base64 (RFC 7617). */
#define PROXY_CREDENTIALS_MAX 768
#define PROXY_AUTHORIZATION_MAX (PROXY_CREDENTIALS_MAX / 3 * 4)
#define PROXY_REQUEST_MAX 2048
/* What comes before the connection's own bytes; more is no answer. */
#define PROXY_ANSWER_MAX 16384

struct proxy {
	struct host at; /* with its port */
	char authorization[PROXY_AUTHORIZATION_MAX + 1]; /* base64; "": none */
};

enum proxy_use { PROXY_FOR_WEB, PROXY_FOR_OTHERS, PROXY_USES };

struct proxies {
	bool has[PROXY_USES];
	struct proxy at[PROXY_USES];
	struct str without; /* of NO_PROXY */
};

/* [http://][NAME[:PASSWORD]@]HOST[:PORT][/]; errors do not tell the credentials. */
int proxy_parse(struct str url, struct proxy *ret, struct cordon_error *err);
/* From a NULL-terminated "NAME=VALUE" list, into which *ret points. Fails where a variable
 * that counts names something else. */
int proxies_read(const char *const *environ, struct proxies *ret, struct cordon_error *err);
/* Which one a destination is reached by; PROXY_USES: none. A service of this machine never
 * is. */
enum proxy_use proxies_for(const struct proxies *proxies, const struct host *target);
/* Does the list of NO_PROXY have it? */
bool proxy_is_without(struct str list, const struct host *target);

void proxy_write_request(struct buf *b, const struct host *target, const struct proxy *proxy);

enum proxy_answer {
	PROXY_ANSWER_MORE, /* it is not complete */
	PROXY_ANSWER_READ,
	PROXY_ANSWER_BAD,
};
/* Its status, and its length: what follows is the connection's. */
enum proxy_answer proxy_read_answer(const uint8_t *bytes, size_t n, unsigned *ret_status,
				    size_t *ret_length);

#endif
