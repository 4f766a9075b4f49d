/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify: the supervisor's end of a seccomp listener. System calls of the sandbox wait
 * here until they are answered, one at a time.
 *
 * Whoever judges a call returns 0 to let the kernel carry it out, the errno with which it
 * fails, or NOTIFY_DONE: it has been done, and the call returns 0. A call that has gone
 * meanwhile (its process was killed) is nobody's concern. Any other trouble with the
 * listener is final: it is closed, upon which every call that waits or comes later fails
 * with ENOSYS, and `broke` is called, which must end the run.
 */
#ifndef CORDON_RUN_NOTIFY_H
#define CORDON_RUN_NOTIFY_H

#include <linux/seccomp.h>

#include "base/err.h"
#include "base/loop.h"

#define NOTIFY_DONE (-1)

struct notify {
	/* Set by the owner before notify_open. */
	int (*judge)(void *data, const struct seccomp_notif *call);
	void (*broke)(void *data, const struct cordon_error *why);
	void *data;
	/* Its own. */
	struct loop *loop;
	struct loop_watch watch;
};

/* Takes the listener over; on failure it is closed. */
int notify_open(struct notify *n, struct loop *loop, int listener, struct cordon_error *err);
void notify_close(struct notify *n); /* accepts one that is closed, or was never open */

/* Does the call still wait? If not, what was read of its process may be another's. */
bool notify_waits(const struct notify *n, const struct seccomp_notif *call);

#endif
