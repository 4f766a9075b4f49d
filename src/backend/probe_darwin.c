/* SPDX-License-Identifier: Apache-2.0 */
/* Both probes on macOS: there is sandbox-exec or there is nothing. */
#include "backend/probe.h"

#include <stdlib.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/seatbelt.h"
#include "base/testing.h"

/* In libSystem, and in no header. Not 0: the process is in a sandbox. */
int sandbox_check(pid_t pid, const char *operation, int type, ...);

bool probe_knows(enum cap cap)
{
	return cap == CAP_SANDBOX_EXEC;
}

bool probe_confined(void)
{
	return sandbox_check(getpid(), NULL, 0) != 0;
}

static void say_why(struct caps *caps)
{
	for (unsigned c = 0; c < CAP_COUNT; c++)
		caps->why[c] = "this is macOS";
	caps->why[CAP_SANDBOX_EXEC] = NULL;
}

int probe_cheap(struct arena *a, struct str workdir, const char *path_env, struct caps *ret,
		struct cordon_error *err)
{
	const char *mask = testing_value("CORDON_CAPS_MASK");
	const char *own = testing_value("CORDON_SANDBOX_EXEC");
	struct caps caps = { 0 };

	(void)a, (void)workdir, (void)path_env;
	say_why(&caps);
	caps.sandbox_exec_path = own ? own : SANDBOX_EXEC_PATH;
	caps.value[CAP_SANDBOX_EXEC] = own || access(SANDBOX_EXEC_PATH, X_OK) == 0;
	caps.inside = getenv(LAUNCH_INSIDE) && probe_confined();
	*ret = caps;
	return mask ? caps_mask(ret, str_of(mask), err) : 0;
}

int probe_thorough(struct arena *a, struct str workdir, const char *path_env, struct caps *ret,
		   struct cordon_error *err)
{
	return probe_cheap(a, workdir, path_env, ret, err);
}
