/* SPDX-License-Identifier: Apache-2.0 */
/* What is installed on this machine for whoever runs it, outside any sandbox. */
#ifndef CORDON_CLI_INSTALLED_H
#define CORDON_CLI_INSTALLED_H

#include "run/situation.h"

/* Does a grant to write to `path` (a real one) let a program be changed or added there: one that
 * is there, one that is found through the caller's PATH, one of a toolchain in the home? What
 * lies in the workdir is the run's own. `a` is for the time of the call. */
bool installed_is_in(const struct situation *s, struct arena *a, struct str path);

#endif
