/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused: calls that a filter refuses, left to the listener so that somebody hears of them
 * (TELL in filters.def). Nothing of such a call is looked at.
 */
#ifndef CORDON_RUN_REFUSED_H
#define CORDON_RUN_REFUSED_H

#include "backend/backend.h"
#include "report/violation.h"

/* What is connected to where not even a socket can be made. */
#define REFUSED_NETWORK "the network"

/* Whose memory may not be read is not served. */
#define REFUSED_CLOSED                                                                             \
	"what it names cannot be seen, for it keeps its memory closed, as does a program that "    \
	"may be executed and not read"

/* The errno to answer with; 0: it goes on, because this plan does not refuse it. Where it is
 * worth a line, ret has op, object, reason and errno; else its object stays empty. */
int refused_call(const struct launch *launch, int nr, struct violation *ret);

/* The same of a call that names something, by whom nobody may look at (target_is_closed). */
void refused_closed(int nr, struct violation *ret);

#endif
