/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard: protected names that do not exist yet are not made (DESIGN 5.2).
 *
 * Calls that make names wait for the supervisor. Those that can concern a guarded name
 * (selection.h) are resolved as the kernel would for the caller and judged by the
 * policy; everything else goes on at once. A refused call gets the errno of a read-only
 * place and is a violation.
 *
 * The kernel reads the arguments of a call that goes on a second time, so a thread that
 * changes them in between can still make a name; that such a name does not stay is the
 * sentry's business.
 */
#ifndef CORDON_RUN_GUARD_H
#define CORDON_RUN_GUARD_H

#include "run/part.h"

/* A part that takes the listener, when the backend hands one over. */
part_maker_fn guard_make;

#endif
