/* SPDX-License-Identifier: Apache-2.0 */
/* The table of backends. */
#include "backend/list.h"

#include <stddef.h>

const struct backend *const backends[] = {
	&native_backend,   &bwrap_backend,	 &landlock_backend,
	&seatbelt_backend, &passthrough_backend, NULL,
};
