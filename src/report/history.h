/* SPDX-License-Identifier: Apache-2.0 */
/* history: the files in which programs keep what was typed, of which none is kept from inside. */
#ifndef CORDON_REPORT_HISTORY_H
#define CORDON_REPORT_HISTORY_H

#include "report/violation.h"

/* Is it about writing such a file, or one that is then renamed to it? */
bool history_is(const struct violation *v);
/* The same, by the program whose file it is, which goes on without. */
bool history_is_own(const struct violation *v);

#endif
