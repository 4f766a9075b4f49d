/* SPDX-License-Identifier: Apache-2.0 */
/* What of spawn is another thing on another system. */
#ifndef CORDON_BASE_SPAWN_IN_H
#define CORDON_BASE_SPAWN_IN_H

#include "base/spawn.h"

/* Where a process can only be watched while it lives, it waits until it is. */
extern const bool spawn_child_waits;

/* Makes the process, which calls spawn_child_main; in the parent like fork. Fills pidfd
 * where it comes with the process (else -1, as before), and in_cgroup. */
pid_t spawn_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		 const sigset_t *mask, struct spawned *s);
/* The same by the one who went ahead; -1 when it has to be done without. */
pid_t spawn_ahead_fork(const struct spawn_request *r, const struct spawn_pipes *pipes,
		       const sigset_t *mask, struct spawned *s);
/* A descriptor that is readable when the child has ended; -1 with errno. */
int spawn_watch(pid_t pid);

/* Waits for what was started detached and is ending, where it has become our child after all:
 * a first process and a subreaper adopt what others leave. */
void spawn_reap_orphan(int pidfd);

/* In the child: SIGKILL when the parent ends, where the kernel offers that. 0 or -1. */
CHILD_SAFE int spawn_child_bind(void);
/* Closes from first to last, both included. 0 or -1. */
CHILD_SAFE int spawn_child_close(unsigned first, unsigned last);

#endif
