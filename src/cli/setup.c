/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a policy and a plan. */
#include <stdlib.h>
#include <string.h>

#include "backend/probe.h"
#include "cli/cmd.h"
#include "cli/out.h"

int setup_policy(const struct opts *o, struct situation *ret, struct cordon_error *err)
{
	struct situation_options options;
	int r;

	opts_situation(o, &options);
	r = situation_read(o->arena, &options, ret, err);
	if (r < 0 || ret->policy->confined || !opts_given(o, OPTION_SANDBOX))
		return r;
	err_set(err, CORDON_E_USAGE, 0, "usage", "--sandbox asks for confinement and %s for none",
		ret->policy->unconfined_reason);
	return err_hint(err, "name a --profile, or --mode sandbox");
}

int setup_plan(const struct opts *o, struct setup *ret, struct cordon_error *err)
{
	int r = setup_policy(o, &ret->situation, err);

	if (r == 0 && ret->runs)
		ret->ahead = backend_ahead(ret->situation.policy);
	if (r == 0)
		r = probe_cheap(o->arena, ret->situation.places.workdir, getenv("PATH"),
				&ret->caps, err);
	if (r == 0)
		r = situation_plan(&ret->situation, &ret->caps, &ret->backend, &ret->plan, err);
	return r;
}

bool setup_observes(const struct setup *setup)
{
	const struct plan *plan = setup->plan;
	const struct caps *caps = &setup->caps;
	bool listens = strcmp(plan->backend, "native") == 0 ||
		       strcmp(plan->backend, "landlock") == 0;

	return plan->enforced[GUARANTEE_REPORT] ||
	       (listens && plan->policy->confined && caps->value[CAP_SECCOMP] &&
		caps->value[CAP_NOTIFY] && caps->value[CAP_NOTIFY_KILLABLE] &&
		policy_number(plan->policy, KEY_REPORT) >= REPORT_WRITES);
}

void setup_warn(const struct opts *o, const struct policy *policy)
{
	vec_each(text, &policy->warnings)
		out_note(o, "warning: %s", *text);
}
