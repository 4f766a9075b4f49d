/* SPDX-License-Identifier: Apache-2.0 */
/* egress_relay: the supervisor's side of cordon-relay, and what is told of it. */
#ifndef CORDON_RUN_EGRESS_RELAY_H
#define CORDON_RUN_EGRESS_RELAY_H

#include "base/spawn.h"
#include "base/loop.h"
#include "net/relay.h"
#include "policy/policy.h"
#include "run/result.h"

struct run;

/* A connection that the relay has. */
struct egress_connection {
	struct run_host *host; /* NULL: free */
	uint16_t port;	       /* the host may be the one for all that do not fit */
	bool to_address;       /* what was asked for is no name */
	uint64_t since;
	uint32_t next_free;
};

struct egress_relay {
	/* Called when it has ended by itself. */
	void (*gone)(void *data);
	void *data;
	/* Its own. */
	struct run *run;
	struct arena *arena;
	const char *program;
	const struct policy *policy;
	int theirs; /* its end of control, until it is started; -1 */
	struct spawned process;
	struct cordon_error error; /* why it could not be started */
	struct loop_watch control;
	struct run_host hosts[RUN_HOSTS_MAX];
	size_t n_hosts;
	struct run_host others; /* those that do not fit */
	struct run_host published; /* these are nobody's host */
	struct egress_connection connections[RELAY_CONNECTIONS_MAX];
	uint32_t first_free;
	size_t n_active;
	size_t n_out, most_out; /* those to hosts, and how many there may be */
	bool limited;		/* in bytes */
	bool lost; /* it ended by itself */
};

/* Before the run. The arena, the program's path and the policy are used later. */
int egress_relay_prepare(struct egress_relay *r, struct arena *a, const char *program,
			 const struct policy *policy, const struct proxies *proxies,
			 struct cordon_error *err);
int egress_relay_begin(struct egress_relay *r, struct run *run, struct cordon_error *err);
/* Something may soon be sent to it: starts it, the first time. */
void egress_relay_wake(struct egress_relay *r);

enum egress_relay_sent {
	EGRESS_RELAY_SENT,
	EGRESS_RELAY_BUSY, /* later perhaps */
	EGRESS_RELAY_FULL, /* too many connections, or it is gone */
};
/* Hands the connection over, to be made by a proxy or (PROXY_USES) directly; *fd is -1
 * when it was. */
enum egress_relay_sent egress_relay_send(struct egress_relay *r, const struct host *target,
					 enum proxy_use proxy, int *fd);

/* Hands a connection from outside over, with the sockets that lead inside (six: -1 for
 * none); the caller's copies are the caller's to close. */
enum egress_relay_sent egress_relay_publish(struct egress_relay *r, uint16_t port, int fd,
					    int four, int six);

/* Takes the last reports and ends it. The hosts go into the result. */
void egress_relay_end(struct egress_relay *r, struct run_result *result);

#endif
