/* SPDX-License-Identifier: Apache-2.0 */
/* What is handed over; how is in handover_linux.c. */
#include "backend/handover.h"

static const char *const names[HANDOVER_KIND_COUNT] = {
#define HANDOVER(id, name, what) [HANDOVER_##id] = name,
#include "backend/handovers.def"
#undef HANDOVER
};

const char *handover_kind_to_string(enum handover_kind kind)
{
	return names[kind];
}
