/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the cheap and the thorough probe. */
#ifndef CORDON_BACKEND_PROBE_IN_H
#define CORDON_BACKEND_PROBE_IN_H

#include <stdint.h>
#include "base/arena.h"
#include "plan/caps.h"

uint64_t probe_sysctl(struct arena *a, const char *path, uint64_t missing);

/* Inside another run there may be a listener already, and the kernel knows but one: tried in a
 * process of its own, for capabilities of notification. -1: out of memory. */
int probe_listener(struct arena *a, struct caps *caps);

#endif
