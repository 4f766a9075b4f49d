/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay: what the supervisor and cordon-relay say to each other.
 *
 * The supervisor sends a request with one descriptor, a connection of the command to a
 * destination that the policy allows; the relay dials the destination and moves bytes
 * until both sides are done, and then reports once. Before the first request comes what
 * holds for all of them, so that no secret is on a command line or in an environment.
 * Messages keep their bounds (SOCK_SEQPACKET) and both ends are of one build. The relay
 * reads what strangers send, so its reports are taken with care: nothing in them is used as
 * an index or a length before it was compared with what is known.
 *
 * The relay ends when the supervisor's end is closed.
 */
#ifndef CORDON_NET_RELAY_H
#define CORDON_NET_RELAY_H

#include <stdint.h>

#include "net/hello.h"
#include "net/proxy.h"
#include "policy/hosts.h"

#define RELAY_PROGRAM "cordon-relay"
/* Its number in the relay; what follows on the command line are the addresses that the
 * policy names, and to which a name may therefore lead. With RELAY_DENIED before it, it is
 * one to which nothing may. */
#define RELAY_CONTROL_FD 3
#define RELAY_DENIED "!"
/* At the same time; more are refused. */
#define RELAY_CONNECTIONS_MAX 2048
/* Of these, what is published. */
#define RELAY_PUBLISHED_MAX (RELAY_CONNECTIONS_MAX / 2)

/* With a published connection, which comes from outside, come the sockets of the sandbox's
 * network that lead on: IPv4 and, where there is one, IPv6. */
#define RELAY_FDS_MAX 3

struct relay_setup {
	uint64_t traffic; /* the most bytes, of all connections; 0: no limit */
	struct proxy proxies[PROXY_USES];
};

struct relay_request {
	uint32_t id;
	uint32_t proxy; /* an index into proxies; PROXY_USES: none */
	uint32_t published; /* only the port of the target counts, on the loopback inside */
	struct host target; /* a name or an address, with its port */
};

enum relay_outcome {
	RELAY_DONE,	   /* both sides have ended */
	RELAY_UNDECIDED,   /* the run was over before it came to something */
	RELAY_NO_NAME,	   /* the name has no address */
	RELAY_NO_SERVER,   /* nobody who knows names answered */
	RELAY_FORBIDDEN,   /* no name may lead to its address */
	RELAY_UNREACHABLE, /* nothing answered there */
	RELAY_OTHER_NAME,  /* in TLS another name is asked for */
	RELAY_NO_ROOM,	   /* too many connections, or no descriptors */
	RELAY_SPENT,	   /* no more bytes may be moved */
	RELAY_NO_PROXY,	   /* it was not reached, or did not answer */
	RELAY_PROXY_NO,	   /* it answered that it does not connect */
	RELAY_OUTCOME_COUNT
};

struct relay_report {
	uint32_t id;
	uint32_t outcome;
	uint32_t status;	 /* of the proxy's answer; 0: none that could be read */
	uint32_t padding;
	uint8_t address[16];	 /* that was dialled or forbidden; IPv4 as ::ffff:a.b.c.d */
	uint64_t sent, received; /* bytes, as the command sees it */
	char other[HELLO_NAME_MAX + 1]; /* the other name, of a stranger; it may be none */
};

#endif
