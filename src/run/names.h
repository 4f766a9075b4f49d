/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: the part of a run that answers the sandbox's questions for names, and notes which
 * ones it wanted and does not get.
 */
#ifndef CORDON_RUN_NAMES_H
#define CORDON_RUN_NAMES_H

#include "run/part.h"

/* A part_maker_fn; for a launch that hands over DNS sockets. */
int names_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err);

#endif
