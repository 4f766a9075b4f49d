/* SPDX-License-Identifier: Apache-2.0 */
/* egress_sockets: unpacking the sockets that the sandbox hands over (backend/linux/egress.c). */
#ifndef CORDON_RUN_EGRESS_SOCKETS_H
#define CORDON_RUN_EGRESS_SOCKETS_H

#include "run/egress_udp.h"
#include "run/nursery.h"

/* Where they go. */
struct egress_sockets {
	struct loop *loop;
	struct nursery *four, *six;
	struct egress_udp *udp;
};

/* Takes those that wait in the box. */
void egress_sockets_take(const struct egress_sockets *to, int box);

#endif
