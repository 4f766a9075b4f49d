/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress: the part of a run that lets the command reach the hosts its policy lists.
 *
 * Inside, every listed name has an address of its own that leads nowhere but to sockets
 * which the supervisor listens with. So a connection says by its destination which name
 * and port is meant. The policy decides on that, here; what it allows is handed to
 * cordon-relay, which dials from the host's network. Nothing else leads out of the
 * sandbox's network, so a mistake in here refuses, and a relay that is gone ends it.
 */
#ifndef CORDON_RUN_EGRESS_H
#define CORDON_RUN_EGRESS_H

#include "run/part.h"
#include "run/request.h"

struct egress;

/* A part_maker_fn; for a launch that hands over sockets. Must come before the parts that
 * use what follows. */
int egress_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		struct cordon_error *err);

/* Is the name, spelled as in a policy, listed with any port? */
bool egress_lists(const struct egress *e, struct str name);
/* The addresses that stand for it; false: there are too many. */
bool egress_address(struct egress *e, struct str name, uint8_t ret_four[4], uint8_t ret_six[16]);
/* Do those of IPv6 lead anywhere? */
bool egress_has_six(const struct egress *e);
/* The name that an address stands for (IPv4 as ::ffff:a.b.c.d); NULL: none. */
const char *egress_name(const struct egress *e, const uint8_t address[16]);

/* A call of connect that is about to go on: makes a socket listen where it leads to, if
 * that is listed, and notes it if it is not. */
void egress_expect(struct egress *e, const struct request *call);
/* The same for who has read the address. */
void egress_expect_address(struct egress *e, pid_t tid, const void *address, size_t n);

#endif
