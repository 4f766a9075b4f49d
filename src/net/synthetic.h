/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic: the addresses that stand for names inside a sandbox.
 *
 * Each name that is asked for gets an address of its own out of HOST_SYNTHETIC_NET and
 * keeps it for the whole run. So whoever connects to the address has said which name is
 * meant. The same number at the end of HOST_SYNTHETIC_NET_SIX is its address of IPv6.
 */
#ifndef CORDON_NET_SYNTHETIC_H
#define CORDON_NET_SYNTHETIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

/* More names than this are not given addresses: memory is the supervisor's. */
#define SYNTHETIC_NAMES_MAX 16384

struct synthetic {
	struct arena *arena;
	struct map by_name;
	VEC(const char *) names; /* the first has the first address */
};

/* False: there are too many, or memory is out. */
bool synthetic_address(struct synthetic *s, struct str name, uint8_t ret[4]);
/* The address of IPv6 for one of IPv4. */
void synthetic_six(const uint8_t four[4], uint8_t ret[16]);
/* NULL: the address was not given out. Here and below IPv4 is ::ffff:a.b.c.d. */
const char *synthetic_name(const struct synthetic *s, const uint8_t address[16]);
/* Is it in one of the two nets? */
bool synthetic_is(const uint8_t address[16]);

#endif
