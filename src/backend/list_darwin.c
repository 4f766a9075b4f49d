/* SPDX-License-Identifier: Apache-2.0 */
/* The backends that only Linux has: known by name, and said not to be in this build. */
#include "backend/list.h"

const struct backend native_backend = {
	.name = "native",
	.summary = "cordon's own, on Linux",
};

const struct backend landlock_backend = {
	.name = "landlock",
	.summary = "Landlock and filters, on Linux",
};
