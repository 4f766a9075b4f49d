/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nursery: sockets of a network namespace, made from outside it.
 *
 * A socket belongs to the namespace of whoever made it, and the supervisor is not in the
 * sandbox's. But what a listening socket accepts is of the listener's namespace. So two
 * sockets that the sandbox's init made before the command began are enough: one listens
 * for a moment, the other connects to it, and what was accepted is disconnected, which
 * leaves a socket as fresh as a new one. It does not matter who connected: should the
 * command be faster, its connection is reset and serves as well.
 */
#ifndef CORDON_RUN_NURSERY_H
#define CORDON_RUN_NURSERY_H

#include <stdbool.h>

struct nursery {
	int listens, connects; /* -1: not there */
	bool six;	       /* they are of IPv6 */
};

#define NURSERY_NONE ((struct nursery){ .listens = -1, .connects = -1 })

/* Takes a socket; false when it has two already, or the namespace no loopback of IPv6. */
bool nursery_stock(struct nursery *n, int fd, bool six);
bool nursery_works(const struct nursery *n);
/* A stream socket, neither bound nor connected, that does not wait. -1: not now. */
int nursery_socket(const struct nursery *n);
void nursery_close(struct nursery *n);

#endif
