/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of cordon-relay, shared by its files and by no one else. */
#ifndef CORDON_NET_RELAY_IN_H
#define CORDON_NET_RELAY_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/loop.h"
#include "base/vec.h"
#include "net/dns.h"
#include "net/hello.h"
#include "net/relay.h"

#define RELAY_SERVERS_MAX 3

/* --- relay_config.c: what is read before the relay locks itself in --------------- */

struct relay_known {
	const char *name;
	uint8_t address[16];
};

struct relay_server {
	uint8_t address[16];
	uint32_t device; /* by which a link-local one is reached; 0: by the routes */
};

struct relay_config {
	struct relay_server servers[RELAY_SERVERS_MAX];
	size_t n_servers;
	VEC(struct relay_known) hosts; /* of /etc/hosts */
};

/* Files that cannot be read are as good as empty. */
void relay_read_config(struct arena *a, struct relay_config *ret);
/* The same from their texts. */
void relay_read_servers(struct str text, struct relay_config *ret);
void relay_read_hosts(struct arena *a, struct str text, struct relay_config *ret);

/* --- relay_confine.c ------------------------------------------------------------- */

/* Gives up files, programs, privileges and every kind of socket but TCP and UDP. */
int relay_confine(struct cordon_error *err);

/* --- relay_route.c --------------------------------------------------------------- */

/* A socket that answers which way packets go; opened before the relay locks itself in. */
int relay_open_routes(void);
enum relay_way {
	RELAY_WAY_OUT,	/* packets leave this machine, for one other */
	RELAY_WAY_HERE, /* they do not, or not for one alone */
	RELAY_WAY_NONE, /* there is no way */
};
enum relay_way relay_way(int routes, const uint8_t address[16]);

/* --- relay_lookup.c: the addresses of a name -------------------------------------- */

struct relay_lookup {
	struct loop *loop;
	const struct relay_config *config;
	/* Called once; the lookup is over and may be started again. code is the answer's, or
	 * DNS_SERVER_FAILED when none came. */
	void (*done)(void *data, const struct dns_addresses *found);
	void *data;
	/* Its own. */
	struct loop_watch watch;
	struct loop_timer timer;
	unsigned tries;
	bool simple; /* the question has no extension any more */
	size_t seen; /* of an answer over TCP */
	uint8_t query[DNS_QUERY_MAX];
	size_t query_n;
};

void relay_lookup_start(struct relay_lookup *l, const char *name, enum dns_type type);
void relay_lookup_stop(struct relay_lookup *l);

/* --- relay_proxy.c ----------------------------------------------------------------- */

bool relay_proxy_ask(int fd, const struct host *target, const struct proxy *proxy);
enum relay_says {
	RELAY_SAYS_LATER, /* not known yet; the socket is readable when there is more */
	RELAY_SAYS_YES,
	RELAY_SAYS_NO,
};
/* *seen is 0 the first time; ret_status is set when there was an answer. */
enum relay_says relay_proxy_says(int fd, size_t *seen, unsigned *ret_status);

/* --- relay_pump.c: bytes from one socket to another -------------------------------- */

#define RELAY_ALL UINT64_MAX

struct relay_piece;

struct relay_spare {
	struct relay_piece *first;
	size_t n;
};

struct relay_pieces {
	struct relay_spare spare[2]; /* small ones, large ones */
	size_t n_large;		     /* that flows have */
	uint64_t left;		     /* how many bytes may still be moved */
	bool spent;		     /* and there were more */
};

struct relay_flow {
	int from, to;
	uint64_t may; /* be taken in now, so many bytes; RELAY_ALL: whatever comes */
	bool blocked; /* what waits is known, and nothing is to be done with it yet */
	struct relay_piece *piece; /* while it holds something */
	size_t held, at;	   /* of which so much, from there on */
	bool bulk;		   /* much comes at once */
	bool ended;		   /* nothing more comes */
	bool over;		   /* and all of it went */
	uint64_t bytes;
};

void relay_flow_begin(struct relay_flow *flow, int from, int to);
/* Moves what can be moved without waiting. False: the connection is broken. */
bool relay_flow_run(struct relay_pieces *pieces, struct relay_flow *flow);
void relay_flow_drop(struct relay_pieces *pieces, struct relay_flow *flow);

/* --- relay_name.c: for which name TLS asks ------------------------------------------ */

enum relay_stage {
	RELAY_STAGE_OVER,  /* nothing is looked at any more */
	RELAY_STAGE_FIRST, /* the first hello of the client is awaited, */
	RELAY_STAGE_ANSWER, /* what the server says to it, */
	RELAY_STAGE_AGAIN,  /* the hello that the server asked for */
};

struct relay_check {
	enum relay_stage stage;
	const char *name; /* the one to ask for */
	size_t seen;	  /* ahead */
};

/* For flows that have begun: an urgent byte would be left out here otherwise and sent all the
 * same. */
void relay_check_begin(struct relay_check *check, const char *name, struct relay_flow *up);
/* Looks at what waits, and lets the flows take what may go on. False: the client asks for
 * another name, or in a way that cannot be read. ret_other has room for HELLO_NAME_MAX + 1
 * and is "" where no name was found. */
bool relay_check(struct relay_check *check, struct relay_flow *up, struct relay_flow *down,
		 char *ret_other);

/* From here on the socket is readable only when this many bytes wait, or at its end. */
void relay_wait_for(int fd, size_t bytes);

/* --- relay_connection.c ------------------------------------------------------------ */

struct connection;

struct relay {
	struct loop *loop;
	struct loop_watch control;
	struct relay_config config;
	VEC(struct host) literals, denied;
	int routes;
	struct relay_setup setup;
	struct relay_pieces pieces;
	struct connection *first;
	size_t n_connections, connections_max;
	size_t n_published;
};

/* Serves a request, whose descriptors it takes, the connection first; -1: none. */
void relay_begin(struct relay *relay, const struct relay_request *q, int *fds);
/* Reports that there was no room for it. */
void relay_refuse(struct relay *relay, const struct relay_request *q, int *fds);
/* The run is over; what was moved so far still counts. */
void relay_finish_all(struct relay *relay);

#endif
