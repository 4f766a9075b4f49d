/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine can enforce, found out by trying.
 *
 * The cheap probe is made at every start: calls that answer at once. Namespaces are
 * assumed there, because trying them costs more than failing once. The thorough probe,
 * for doctor, tries everything in a child process.
 */
#ifndef CORDON_BACKEND_PROBE_H
#define CORDON_BACKEND_PROBE_H

#include "base/arena.h"
#include "base/err.h"
#include "plan/caps.h"

/* Is this process held by the kernel as what runs inside a boundary is? */
bool probe_confined(void);

/* Is it a thing of this system? What is not is not missing. */
bool probe_knows(enum cap cap);

/* workdir: bubblewrap is never taken from below it. path_env: PATH; may be NULL. */
int probe_cheap(struct arena *a, struct str workdir, const char *path_env, struct caps *ret,
		struct cordon_error *err);
int probe_thorough(struct arena *a, struct str workdir, const char *path_env, struct caps *ret,
		   struct cordon_error *err);

#endif
