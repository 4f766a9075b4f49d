/* SPDX-License-Identifier: Apache-2.0 */
/* The table of backends. */
#include "backend/list.h"

#include <sched.h>
#include <stddef.h>

#include "base/spawn.h"

const struct backend *const backends[] = {
	&native_backend,   &bwrap_backend,	 &landlock_backend,
	&seatbelt_backend, &passthrough_backend, NULL,
};

/* All but the one of processes, which begins with a process; and only where there is to be a
 * network, which takes longer to make than all the others together. */
#define AHEAD \
	(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

struct spawn_ahead *backend_ahead(const struct policy *policy)
{
	struct str wanted = policy->effective[KEY_BACKEND].text;
	bool native = str_eq(wanted, STR("auto")) || str_eq(wanted, str_of(native_backend.name));

	/* The clock of a limit of processor time is inherited, so it has to be there first. */
	if (!native || !policy->confined || policy_net_mode(policy) == NET_ON ||
	    policy_number(policy, KEY_CPU))
		return NULL;
	return spawn_ahead_start(AHEAD);
}
