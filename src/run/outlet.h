/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outlet: output that goes to a file or a pipe, carried there by the supervisor.
 *
 * The command gets a pipe in place of the caller's descriptor, and what comes out of that is
 * written to the caller's, whose position and mode stay shared with whoever else writes
 * there. Streams that are one open file share one pipe, which keeps their order.
 *
 * Done where the difference matters. A limit of output was asked for: somebody has to count.
 * Or it is a file, and executing is limited, writing is brokered (which would refuse to open
 * /dev/stdout), or it is open for appending, which opening it again could not be held to: a
 * descriptor of a file is more than a place to write to. Its mode can be changed, it can be
 * opened again, and what was written be mapped for executing, because it keeps the mount it
 * was opened on. Elsewhere the command has what the caller has, and can seek.
 *
 * A reader that is slow makes the command wait, never the supervisor; one that goes away is
 * learnt of by the command as by any pipe. What the command has written when it ends is
 * still brought to its place, before the run is over.
 */
#ifndef CORDON_RUN_OUTLET_H
#define CORDON_RUN_OUTLET_H

#include "run/part.h"

/* The standard streams of this process that are carried, one bit for each. */
unsigned outlet_streams(const struct plan *plan, const struct execute_options *options);

/* What cannot be written (a full disk) ends the run with that error. */
int outlet_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		struct cordon_error *err);

/* Is this stream a file that can be written? */
bool outlet_is_file(int fd);

#endif
