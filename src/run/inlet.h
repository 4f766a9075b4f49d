/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlet: standard input that is a file, carried to the command by the supervisor.
 *
 * A descriptor keeps the mount it was opened on, the host's: through one that only reads,
 * the file's mode can be changed, and it can be opened once more for writing. native opens
 * it again on a read-only mount and gives the position back afterwards; a backend that cannot
 * do that says `carries_input`, and its command gets a pipe instead. What the command did not
 * read is still there for the caller: the position of the caller's descriptor is where the
 * command left off.
 */
#ifndef CORDON_RUN_INLET_H
#define CORDON_RUN_INLET_H

#include "run/part.h"

/* Would the command be given a standard stream that is exposed (base/fd.h)? Refused. */
int inlet_check(const struct plan *plan, const struct launch *launch,
		const struct execute_options *options, struct cordon_error *err);
int inlet_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err);

#endif
