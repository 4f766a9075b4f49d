/* SPDX-License-Identifier: Apache-2.0 */
/* A second choice of backend when the first could not be set up. */
#include "run/attempt.h"

#include <errno.h>
#include <string.h>

/* Where the set-up of a backend fails for lack of what; the stages are those of the
 * errors its child reports. */
static const struct {
	const char *backend;
	const char *stage;
	enum cap cap;
} signs[] = {
	{ "native", "clone", CAP_USERNS },  { "native", "namespaces", CAP_USERNS },
	{ "native", "mount", CAP_MOUNTNS }, { "native", "proc", CAP_PROC_FRESH },
	{ "bwrap", "bwrap", CAP_BWRAP },
};

/* What the kernel says when something is not allowed or not there, as opposed to a path
 * that is gone or memory that is out. */
static bool says_unavailable(int errnum)
{
	return errnum == EPERM || errnum == EACCES || errnum == ENOSPC || errnum == EUSERS ||
	       errnum == EINVAL || errnum == ENOSYS;
}

enum cap attempt_lacks(const struct backend *backend, const struct cordon_error *error)
{
	bool wrapped = strcmp(backend->name, "bwrap") == 0;

	/* bubblewrap does not pass on an errno. */
	if (!wrapped && !says_unavailable(error->sys_errno))
		return CAP_COUNT;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strcmp(signs[i].backend, backend->name) == 0 &&
		    strcmp(signs[i].stage, error->stage) == 0)
			return signs[i].cap;
	return CAP_COUNT;
}

/* Gives up what the failure shows to be missing. False: nothing to give up. */
static bool give_up(struct arena *a, struct attempt *attempt, const struct cordon_error *why)
{
	struct caps *caps = attempt->caps;
	enum cap cap = attempt_lacks(attempt->backend, why);

	if (cap == CAP_COUNT || !caps->value[cap])
		return false;
	caps->value[cap] = 0;
	caps->assumed[cap] = false;
	caps->why[cap] = arena_dup(a, str_of(why->message));
	return true;
}

static int choose_again(struct attempt *attempt, struct cordon_error *err)
{
	int r = situation_plan(attempt->situation, attempt->caps, &attempt->backend, &attempt->plan,
			       err);

	return r < 0 || !attempt->changed ? r : attempt->changed(attempt->data, err);
}

int attempt_execute(struct arena *a, struct attempt *attempt, const struct execute_options *options,
		    struct run_result *ret, struct cordon_error *err)
{
	for (;;) {
		struct cordon_error why;
		int r = execute(a, attempt->situation, attempt->backend, attempt->plan,
				attempt->caps, options, ret, err);

		if (r < 0 || ret->cause != RUN_CAUSE_setup)
			return r;
		why = ret->error;
		if (!give_up(a, attempt, &why))
			return 0;
		run_result_free(ret);
		r = choose_again(attempt, err);
		if (r < 0)
			return r;
	}
}
