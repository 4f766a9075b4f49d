/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused: calls that a filter refuses, left to the listener so that somebody hears of them
 * (TELL in filters.def). Nothing of such a call is looked at.
 */
#ifndef CORDON_RUN_REFUSED_H
#define CORDON_RUN_REFUSED_H

#include "report/violation.h"

/* The errno to answer with; 0: it goes on, because this plan does not refuse it. heard: as
 * in struct launch. Where it is worth a line, ret has op, object, reason and errno; else
 * its object stays empty. */
int refused_call(int heard, int nr, struct violation *ret);

#endif
