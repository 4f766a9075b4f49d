/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the cheap and the thorough probe. */
#ifndef CORDON_BACKEND_PROBE_IN_H
#define CORDON_BACKEND_PROBE_IN_H

#include <stdint.h>
#include "base/arena.h"

uint64_t probe_sysctl(struct arena *a, const char *path, uint64_t missing);

#endif
