/* SPDX-License-Identifier: Apache-2.0 */
/* cordon status: in which mode, profile and backend a command would run now. */
#include <stdlib.h>
#include <string.h>

#include "backend/probe.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "fmt/json.h"
#include "fmt/located.h"
#include "policy/modes.h"

struct status {
	struct setup setup;
	struct cordon_error refusal;	/* code 0: a plan could be made */
	enum mode mode;
	enum mode setting;	/* the same with --mode; what providers are told otherwise */
	bool enabled;
};

/* A run without confinement is in mode rwx, whatever the setting says, and one that is
 * confined is not: in a file the setting chooses nothing. */
static int read_status(struct opts *o, struct status *ret, struct cordon_error *err)
{
	struct setup *s = &ret->setup;
	const struct policy *policy;
	int r = setup_policy(o, &s->situation, err);

	if (r == 0)
		r = probe_cheap(o->arena, s->situation.places.workdir, getenv("PATH"), &s->caps,
				err);
	if (r < 0)
		return r;
	if (situation_plan(&s->situation, &s->caps, &s->backend, &s->plan, &ret->refusal) < 0)
		s->plan = NULL;
	policy = s->situation.policy;
	ret->setting = (enum mode)policy_number(policy, KEY_MODE);
	ret->mode = ret->setting == MODE_RWX ? MODE_SANDBOX : ret->setting;
	ret->enabled = policy_number(policy, KEY_ENABLED) && policy->confined;
	if (!policy->confined)
		ret->mode = MODE_RWX;
	return 0;
}

static json_t *guarantees(const struct plan *plan, bool enforced)
{
	json_t *list = json_array();

	for (unsigned g = 0; plan && g < GUARANTEE_COUNT; g++)
		if (plan->promised[g] && plan->enforced[g] == enforced)
			json_array_append_new(list, json_string(guarantee_rows[g].name));
	return list;
}

static int print_json(struct opts *o, const struct status *st)
{
	const struct setup *s = &st->setup;
	const struct policy *policy = s->situation.policy;
	json_t *root = json_pack("{s:s, s:s, s:s, s:b, s:b, s:s?, s:o, s:o}", "mode",
				 choice_to_string(CHOICES_MODE, st->mode), "mode_setting",
				 choice_to_string(CHOICES_MODE, st->setting), "display_name",
				 mode_display_name(st->mode), "enabled", st->enabled, "confined",
				 policy->confined, "backend", s->plan ? s->plan->backend : NULL,
				 "enforced", guarantees(s->plan, true), "degraded",
				 guarantees(s->plan, false));

	if (!root || !json_set_text(root, "profile", str_of(policy->profile)) ||
	    !json_set_text(root, "workdir", policy->places.workdir) ||
	    (!s->plan && json_object_set_new(root, "error", out_error_to_json(&st->refusal)) < 0)) {
		json_decref(root);
		root = NULL;
	}
	return out_json(o, root);
}

static int print_text(struct opts *o, const struct status *st)
{
	const struct setup *s = &st->setup;
	const struct policy *policy = s->situation.policy;
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);
	autobuf struct buf lost = buf_make(4096);

	buf_addf(&b, "mode      %s (%s)\n", choice_to_string(CHOICES_MODE, st->mode),
		 mode_display_name(st->mode));
	if (policy->confined && st->setting == MODE_RWX)
		buf_adds(&b, "          the setting mode = \"rwx\" is for providers; it does "
			     "not lift the boundary\n");
	buf_adds(&b, "profile   ");
	buf_add_escaped(&b, str_of(policy->profile));
	buf_addf(&b, "\nbackend   %s\nenabled   %s", s->plan ? s->plan->backend : "none",
		 st->enabled ? "yes" : "no");
	if (!policy->confined)
		buf_addf(&b, " (%s)", policy->unconfined_reason);
	buf_adds(&b, "\nworkdir   ");
	buf_add_escaped(&b, policy->places.workdir);
	buf_addc(&b, '\n');
	if (s->plan)
		plan_print_degraded(&lost, s->plan);
	if (lost.n && policy->confined)
		buf_addf(&b, "missing   %s\n", lost.p);
	if (!s->plan) {
		buf_adds(&b, "refused   ");
		out_add_message(&b, str_of(st->refusal.message));
		buf_addc(&b, '\n');
	}
	return out_text(o, &b);
}

/* The sentences describe the profile of the provider modes; of another they would be
 * untrue. */
static int check_prompt(const struct status *st, struct cordon_error *err)
{
	const struct policy *policy = st->setup.situation.policy;

	if (!policy->confined || strcmp(policy->profile, "agent") == 0)
		return 0;
	err_set(err, CORDON_E_USAGE, 0, "status",
		"--prompt describes a provider mode, and the profile in force is %s",
		quote(str_of(policy->profile)).text);
	return err_hint(err, "say which mode: --mode sandbox, --mode rx or --mode rwx");
}

static int print_prompt(struct opts *o, const struct status *st)
{
	const char *text = mode_prompt_constraint(o->arena, st->mode,
						  st->setup.situation.places.workdir);
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (!text)
		b.failed = true;
	else if (opts_given(o, OPTION_JSON))
		return out_json(o, json_pack("{s:s, s:s}", "mode",
					     choice_to_string(CHOICES_MODE, st->mode), "prompt",
					     text));
	else if (*text)
		buf_addf(&b, "%s\n", text);
	return out_text(o, &b);
}

int cmd_status(struct opts *o)
{
	struct status st = { 0 };
	struct cordon_error err;
	int r = opts_words(o, 0, 0, &err);

	if (r == 0)
		r = read_status(o, &st, &err);
	if (r == 0 && opts_given(o, OPTION_PROMPT))
		r = check_prompt(&st, &err);
	if (r < 0)
		return out_error(o, &err);
	setup_warn(o, st.setup.situation.policy);
	if (opts_given(o, OPTION_PROMPT))
		return print_prompt(o, &st);
	return opts_given(o, OPTION_JSON) ? print_json(o, &st) : print_text(o, &st);
}
