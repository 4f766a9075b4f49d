/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish: servers of the command on the host's loopback, where its policy says so.
 *
 * The supervisor listens outside, on 127.0.0.1 and ::1 and nowhere else, before the
 * command begins. Each connection goes to cordon-relay together with sockets of the
 * sandbox's network, with which the relay connects inside. These sockets can only be made
 * inside, before the command is executed, so there is a stock of them and each serves one
 * connection after the other; who comes when all are in use waits in the kernel's queue.
 */
#ifndef CORDON_RUN_PUBLISH_H
#define CORDON_RUN_PUBLISH_H

#include "backend/linux/native.h"
#include "base/loop.h"
#include "policy/policy.h"
#include "run/egress_relay.h"

#define PUBLISH_PORTS_MAX 64

struct publish_listener {
	struct publish *publish;
	struct loop_watch watch;
	uint16_t port; /* inside */
};

struct publish {
	struct egress_relay *relay;
	struct run *run;
	struct publish_listener listeners[2 * PUBLISH_PORTS_MAX];
	size_t n_listeners;
	/* By slot; -1: there is none of this family. */
	int four[NATIVE_SOCKETS], six[NATIVE_SOCKETS];
	bool taken[NATIVE_SOCKETS];
	size_t n_four, n_six;
	int waiting; /* a connection that the relay had no room for yet; -1: none */
	uint16_t waiting_for;
	struct loop_timer pause;
};

/* Of a zeroed one; publish_end is to be called from here on. */
void publish_init(struct publish *p);
/* Listens outside. A port that is in use is an error. */
int publish_open(struct publish *p, const struct policy *policy, struct cordon_error *err);
/* A socket of the sandbox's network for the stock. */
void publish_stock(struct publish *p, int family, int fd);
/* From here on connections are taken. */
int publish_begin(struct publish *p, struct run *run, struct egress_relay *relay,
		  struct cordon_error *err);
/* The relay is done with the sockets of a slot. */
void publish_returned(struct publish *p, uint32_t slot);
void publish_end(struct publish *p);

#endif
