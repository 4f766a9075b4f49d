/* SPDX-License-Identifier: Apache-2.0 */
/* cordon policy render: the plan, in the forms there are. */
#include <string.h>

#include "backend/bwrap.h"
#include "backend/seatbelt.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "fmt/json.h"

enum format { FORMAT_PLAN, FORMAT_JSON, FORMAT_BWRAP, FORMAT_SBPL };

/* The lowest that are free: some shells know none of two digits. */
#define FIRST_FD 3

/* Each hidden file is an empty one of its own, which a descriptor brings along. */
static int number_descriptors(struct arena *a, struct bwrap_args *args, struct cordon_error *err)
{
	size_t next = FIRST_FD;

	vec_each(slot, &args->empty_file_slots) {
		const char *number = arena_printf(a, "%zu", next++);

		if (!number)
			return err_nomem(err, "render");
		args->options.at[*slot] = number;
	}
	return 0;
}

/* One option and its values a line, as it can be pasted into a shell. */
static void print_bwrap(struct buf *b, const struct bwrap_args *args)
{
	buf_adds(b, "bwrap");
	vec_each(word, &args->options) {
		bool option = strncmp(*word, "--", 2) == 0;

		buf_adds(b, option ? " \\\n  " : " ");
		out_shell_quote(b, str_of(*word));
	}
	buf_adds(b, " \\\n  -- COMMAND");
	for (size_t i = 0; i < args->empty_file_slots.n; i++)
		buf_addf(b, " %zu</dev/null", FIRST_FD + i);
	buf_addc(b, '\n');
}

static json_t *bwrap_to_json(const struct bwrap_args *args)
{
	json_t *list = json_array();
	int bad = !list;

	vec_each(word, &args->options) {
		json_t *item = json_object();

		/* As text, because an argument need not be UTF-8. */
		bad |= !item || !json_set_text(item, "argument", str_of(*word));
		bad |= json_array_append_new(list, item);
	}
	if (!bad)
		return json_pack("{s:o, s:i, s:i}", "arguments", list, "first_empty_descriptor",
				 FIRST_FD, "empty_descriptors", (int)args->empty_file_slots.n);
	json_decref(list);
	return NULL;
}

static int render_sbpl(struct opts *o, const struct plan *plan)
{
	autobuf struct buf b = buf_make(SEATBELT_BYTES_MAX), lost = buf_make(1024);
	struct cordon_error err;

	if (seatbelt_profile(o->arena, plan, &b, &err) < 0)
		return out_error(o, &err);
	plan_print_degraded(&lost, plan);
	if (lost.n)
		out_note(o, "warning: not enforced by Seatbelt: %s", lost.p);
	if (opts_given(o, OPTION_JSON))
		return out_json(o,
				json_pack("{s:s, s:s}", "backend", plan->backend, "profile", b.p));
	return out_text(o, &b);
}

static int render(struct opts *o, const struct plan *plan, enum format format)
{
	struct bwrap_args args = { 0 };
	struct cordon_error err;
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	switch (format) {
	case FORMAT_JSON:
		return out_json(o, plan_to_json(plan));
	case FORMAT_PLAN:
		if (opts_given(o, OPTION_JSON))
			return out_json(o, plan_to_json(plan));
		plan_print(&b, plan);
		break;
	case FORMAT_BWRAP:
		if (bwrap_options(o->arena, plan, &args, &err) < 0 ||
		    number_descriptors(o->arena, &args, &err) < 0)
			return out_error(o, &err);
		if (opts_given(o, OPTION_JSON))
			return out_json(o, bwrap_to_json(&args));
		print_bwrap(&b, &args);
		break;
	case FORMAT_SBPL:
		return render_sbpl(o, plan);
	}
	return out_text(o, &b);
}

/* The text is for another machine than this one. */
static int setup_sbpl(struct opts *o, struct setup *ret, struct cordon_error *err)
{
	int r = setup_policy(o, &ret->situation, err);

	if (r < 0)
		return r;
	if (!ret->situation.policy->confined) {
		err_set(err, CORDON_E_USAGE, 0, "render",
			"%s asks for no confinement: there is "
			"no profile to print",
			ret->situation.policy->unconfined_reason);
		return err_hint(err, "name a --profile, or --mode sandbox");
	}
	ret->caps.value[CAP_SANDBOX_EXEC] = 1;
	return situation_plan_for(&ret->situation, &ret->caps, STR("seatbelt"), &ret->backend,
				  &ret->plan, err);
}

int cmd_policy(struct opts *o)
{
	static const char *const names[] = { "render", NULL };
	static const char *const formats[] = { "plan", "json", "bwrap", "sbpl", NULL };
	struct setup setup = { 0 };
	struct cordon_error err;
	int format = -1, r = opts_subcommand(o, names, &err);

	if (r >= 0)
		r = opts_words(o, 1, 1, &err);
	if (r >= 0)
		r = format = opts_choice(o, OPTION_FORMAT, formats,
					 opts_given(o, OPTION_JSON) ? FORMAT_JSON : FORMAT_PLAN,
					 &err);
	if (r >= 0)
		r = format == FORMAT_SBPL ? setup_sbpl(o, &setup, &err)
					  : setup_plan(o, &setup, &err);
	if (r < 0)
		return out_error(o, &err);
	setup_warn(o, setup.plan->policy);
	return render(o, setup.plan, (enum format)format);
}
