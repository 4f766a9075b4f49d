/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlet: standard input that is a file, carried to the command by the supervisor.
 *
 * A descriptor keeps the mount it was opened on, the host's: through one that only reads,
 * the file's mode can be changed, and it can be opened once more for writing. native opens
 * it again on a read-only mount; a backend that cannot do that says `bare_streams`, and its
 * command gets a pipe instead. What the command did not read is still there for the caller
 * afterwards: the position of the caller's descriptor is where the command left off.
 */
#ifndef CORDON_RUN_INLET_H
#define CORDON_RUN_INLET_H

#include "run/part.h"

/* A device that is the caller's own cannot be carried: that is refused. */
int inlet_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err);

#endif
