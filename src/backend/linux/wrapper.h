/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child that becomes bubblewrap, for a caller who is root: bubblewrap shows the host's
 * device nodes as they are, and hands on descriptors of them, so root inside could change
 * their modes for everybody. In a mount namespace around it they are read-only first.
 */
#ifndef CORDON_BACKEND_LINUX_WRAPPER_H
#define CORDON_BACKEND_LINUX_WRAPPER_H

#include "backend/backend.h"

/* Is it needed, or can it be done? Others than root own no device node that shows. */
bool wrapper_keeps_metadata(const struct caps *caps);
/* Once the rest of the launch is filled; without it the streams are bare. */
int wrapper_prepare(struct arena *a, const struct caps *caps, struct launch *launch,
		    struct cordon_error *err);

/* Can root without capabilities come to the path, or make it so? In bubblewrap's user namespace,
 * where only uid 0 is known, nobody can do more. */
bool wrapper_reaches(struct str path);
/* Does this program run without a loader, so that it can be executed wherever it shows? */
bool wrapper_is_alone(void);

#endif
