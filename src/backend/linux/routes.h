/* SPDX-License-Identifier: Apache-2.0 */
/* routes: which addresses lead to the loopback device of a sandbox with a list of hosts. */
#ifndef CORDON_BACKEND_LINUX_ROUTES_H
#define CORDON_BACKEND_LINUX_ROUTES_H

#include "backend/linux/native.h"
#include "base/arena.h"
#include "policy/policy.h"

int routes_collect(struct arena *a, const struct policy *policy, struct native *n,
		   struct cordon_error *err);

#endif
