/* SPDX-License-Identifier: Apache-2.0 */
/* Private directories without mounts: made on the host, named by variables. */
#include "backend/unmounted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/scratch.h"
#include "policy/caches.h"

#define stage "scratch"

bool unmounted_cache(const struct plan *plan, const struct op *op)
{
	const struct cache *cache = policy_cache_at(plan->policy, op->path);

	return cache && (!cache->covers || cache->named);
}

static bool has_private_tmp(const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_TMPFS && str_eq(op->path, STR("/tmp")))
			return true;
	return false;
}

/* By its real path: no rule is added through a link. */
static int make_scratch(struct arena *a, const char *parent, const char **ret,
			struct cordon_error *err)
{
	char *real = realpath(parent, NULL);
	int r;

	if (!real)
		return err_set(err, CORDON_E_PATH, errno, stage, "%s", parent);
	r = scratch_make(a, real, ret, err);
	free(real);
	return r;
}

/* A broker carries out there what the policy allows there. */
static bool may_hold_scratch(const struct plan *plan, struct str dir)
{
	return path_is_normal(dir) && (!plan->enforced[GUARANTEE_EXACT] ||
				       policy_decide(plan->policy, dir).data == ACCESS_WRITE);
}

/* Inside another cordon /tmp is closed and TMPDIR is the way. */
int unmounted_scratch(struct arena *a, const struct plan *plan, struct launch *launch,
		      struct cordon_error *err)
{
	struct cordon_error ignored;

	if (!has_private_tmp(plan))
		return 0;
	if (may_hold_scratch(plan, plan->caller_tmp) &&
	    make_scratch(a, plan->caller_tmp.p, &launch->scratch, &ignored) == 0)
		return 0;
	return make_scratch(a, "/tmp", &launch->scratch, err);
}

const char *unmounted_tmp(const struct plan *plan, const struct launch *launch)
{
	const struct op *shared = plan_find_op(plan, OP_SHARED_TMP);

	return shared ? shared->source.p : launch->scratch;
}

/* envp with one variable more, or with another value; NULL: out of memory. */
static char **with_variable(struct arena *a, char **envp, const char *name, const char *value)
{
	const char *pair = value ? arena_printf(a, "%s=%s", name, value) : NULL;
	size_t n = 0, kept = 0, length = strlen(name) + 1;
	char **with;

	while (envp && envp[n])
		n++;
	with = arena_array(a, n + 2, sizeof(*with));
	if (!envp || !pair || !with)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncmp(envp[i], pair, length) != 0)
			with[kept++] = envp[i];
	with[kept] = (char *)pair;
	return with;
}

char **unmounted_environ(struct arena *a, const struct plan *plan, const char *tmp)
{
	char **envp = launch_environ(a, plan, true);

	if (envp && tmp)
		envp = with_variable(a, envp, "TMPDIR", tmp);
	vec_each(op, &plan->ops) {
		const struct cache *cache = op->kind == OP_CACHE && unmounted_cache(plan, op)
						    ? policy_cache_at(plan->policy, op->path)
						    : NULL;

		if (envp && cache && cache->covers)
			envp = with_variable(a, envp, cache->row->sets,
					     cache_value(a, plan->policy, cache));
	}
	return envp;
}
