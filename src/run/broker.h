/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker: changing calls are carried out on behalf of the command (DESIGN 5.2, exact).
 *
 * Every call that makes or changes a name or a file waits for a process of its own, the
 * broker. It reads the arguments once, resolves them as the kernel would for the caller,
 * asks the policy, and then does what was asked for itself, on the very objects it has
 * judged; an opened file is put into the caller's table of descriptors. A call is never
 * let go on: the kernel would read the arguments a second time, and another thread could
 * have changed them.
 *
 * The broker has entered the sandbox's user and mount namespaces, so it sees what the
 * command sees and may do to files what the command may; it has one capability more, to
 * look at processes. It is not in the sandbox's pid namespace, where the command could
 * end it. It serves one call after the other, so between judging and acting no other
 * process of the sandbox changes a name.
 *
 * When it ends unasked, the listener closes: every waiting and later call fails with
 * ENOSYS, and the run is ended.
 */
#ifndef CORDON_RUN_BROKER_H
#define CORDON_RUN_BROKER_H

#include "run/part.h"

/* A part that takes listener and namespaces, when the backend hands those over. */
part_maker_fn broker_make;

#endif
