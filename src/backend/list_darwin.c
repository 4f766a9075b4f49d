/* SPDX-License-Identifier: Apache-2.0 */
/* The table of backends. What only Linux has is known by name, and said not to be in this
 * build; bubblewrap is in it, and never found. */
#include "backend/list.h"

#include <stddef.h>

const struct backend native_backend = {
	.name = "native",
	.summary = "cordon's own, on Linux",
};

const struct backend landlock_backend = {
	.name = "landlock",
	.summary = "Landlock and filters, on Linux",
};

const struct backend *const backends[] = {
	&seatbelt_backend, &native_backend,	 &bwrap_backend,
	&landlock_backend, &passthrough_backend, NULL,
};

struct spawn_ahead *backend_ahead(const struct policy *policy)
{
	(void)policy;
	return NULL;
}
