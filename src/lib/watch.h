/* SPDX-License-Identifier: Apache-2.0 */
/* What of watching a supervisor, and of being watched by it, is another thing on another
 * system. */
#ifndef CORDON_LIB_WATCH_H
#define CORDON_LIB_WATCH_H

/* A descriptor that is readable when one of the two is; -1 with errno. */
int watch_both(int socket, int process);
/* The socket is about to be closed, and not to count any more. */
void watch_forget(int both, int socket);
/* For the supervisor: readable when this process has ended. -1: the end of the socket has
 * to do. */
int watch_own_life(void);
/* Takes the status of a process that has ended, if it is ours to take: only where the
 * caller adopts orphans, as a first process does. */
void watch_reap(int process);

#endif
