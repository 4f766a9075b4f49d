/* SPDX-License-Identifier: Apache-2.0 */
/* No boundary at all: the command with its limits. Only when asked for. */
#include "backend/list.h"

static void passthrough_claims(const struct caps *caps, struct claims *ret)
{
	static const enum op_kind kept[] = { OP_LIMIT, OP_ENV_CLEAR, OP_ENV_SET, OP_CHDIR };

	(void)caps;
	*ret = (struct claims){ 0 };
	for (size_t i = 0; i < OP_KIND_COUNT; i++)
		ret->missing[i] = CAP_COUNT;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		ret->enforces[kept[i]] = true;
}

static int passthrough_available(const struct caps *caps, struct cordon_error *err)
{
	(void)caps;
	(void)err;
	return 0;
}

static int passthrough_prepare(struct arena *a, const struct launch_input *in, struct launch *ret,
			       struct cordon_error *err)
{
	launch_init(ret);
	ret->program = in->program;
	ret->argv = in->argv;
	ret->envp = launch_environ(a, in->plan, false);
	vec_each(op, &in->plan->ops)
		if (op->kind == OP_CHDIR)
			ret->cwd = op->path.p;
	return ret->envp ? 0 : err_nomem(err, "launch");
}

const struct backend passthrough_backend = {
	.name = "passthrough",
	.summary = "no confinement",
	.claims = passthrough_claims,
	.available = passthrough_available,
	.prepare = passthrough_prepare,
};
