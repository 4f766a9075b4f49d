/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish: servers of the command on the host's loopback, where its policy says so.
 *
 * The supervisor listens outside, on 127.0.0.1 and ::1 and nowhere else, before the
 * command begins. Each connection goes to cordon-relay together with sockets of the
 * sandbox's network (nursery.h), with which the relay connects inside.
 */
#ifndef CORDON_RUN_PUBLISH_H
#define CORDON_RUN_PUBLISH_H

#include "base/loop.h"
#include "policy/policy.h"
#include "run/egress_relay.h"
#include "run/nursery.h"

#define PUBLISH_PORTS_MAX 64

struct publish_listener {
	struct publish *publish;
	struct loop_watch watch;
	uint16_t port; /* inside */
};

struct publish {
	struct egress_relay *relay;
	struct run *run;
	const struct nursery *four, *six;
	struct publish_listener listeners[2 * PUBLISH_PORTS_MAX];
	size_t n_listeners;
	int waiting; /* a connection that the relay had no room for yet; -1: none */
	uint16_t waiting_for;
	struct loop_timer pause;
};

/* Of a zeroed one; publish_end is to be called from here on. */
void publish_init(struct publish *p);
/* Listens outside. A port that is in use is an error. */
int publish_open(struct publish *p, const struct policy *policy, struct cordon_error *err);
/* From here on connections are taken. The sockets that lead inside are of the nurseries,
 * the second of which may be empty. */
int publish_begin(struct publish *p, struct run *run, struct egress_relay *relay,
		  const struct nursery *four, const struct nursery *six,
		  struct cordon_error *err);
void publish_end(struct publish *p);

#endif
