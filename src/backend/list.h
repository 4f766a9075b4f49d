/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of this build, for the tables in list_linux.c and list_darwin.c. */
#ifndef CORDON_BACKEND_LIST_H
#define CORDON_BACKEND_LIST_H

#include "backend/backend.h"

extern const struct backend native_backend;
extern const struct backend bwrap_backend;
extern const struct backend landlock_backend;
extern const struct backend seatbelt_backend;
extern const struct backend passthrough_backend;

#endif
