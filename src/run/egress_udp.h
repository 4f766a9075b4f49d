/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_udp: who sends UDP to a listed host is refused by the kernel, at once, because
 * nobody listens there. This only hears of it, so that the report can say why.
 */
#ifndef CORDON_RUN_EGRESS_UDP_H
#define CORDON_RUN_EGRESS_UDP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"

struct egress_udp {
	/* Called with each; IPv4 is ::ffff:a.b.c.d. False: it is nothing to be told. */
	bool (*refused)(void *data, const uint8_t address[16], uint16_t port);
	void *data;
	/* Its own. */
	struct loop *loop;
	struct loop_watch four, six;
	unsigned told;
};

void egress_udp_init(struct egress_udp *u);
/* Takes a socket that hears the kernel's answers, of one family. */
void egress_udp_take(struct egress_udp *u, struct loop *loop, int fd, bool six);
/* Hears what is left. */
void egress_udp_end(struct egress_udp *u);

#endif
