/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon doctor: tries what this machine can enforce, and says which backend each
 * profile would get. The exit status is 0 when the profile in force can be enforced.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/probe.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "fmt/json.h"
#include "policy/profiles.h"
#include "run/execute.h"

struct prospect {
	const char *profile;
	const char *backend;	/* NULL: refused */
	const char *text;	/* what is lost, or why it is refused */
	const char *hint;
};

struct doctor {
	struct opts *o;
	struct situation situation;
	struct caps caps;
	struct layer confining;	/* flags: confinement is on, whatever the files say */
	VEC(struct prospect) prospects;
	bool can_run;		/* the profile in force */
	bool confined;		/* commands are */
	struct cordon_error err;
};

static int confine(struct doctor *d)
{
	struct origin origin = { .source = SOURCE_FLAGS, .file = "--sandbox" };

	return layer_add_text(d->o->arena, &d->confining, KEY_ENABLED, STR("true"), &origin,
			      &d->err);
}

/* What would happen with one profile, the configuration files on top of it. */
static int look_at(struct doctor *d, const char *profile)
{
	struct situation_options options;
	struct prospect *p = vec_push(&d->prospects, d->o->arena);
	const struct backend *backend;
	struct situation s;
	struct plan *plan;
	autobuf struct buf lost = buf_make(4096);
	struct cordon_error err;

	if (!p)
		return err_nomem(&d->err, "doctor");
	p->profile = profile;
	opts_situation(d->o, &options);
	options.profile = profile;
	options.flags = &d->confining;
	if (situation_read(d->o->arena, &options, &s, &err) < 0 ||
	    situation_plan(&s, &d->caps, &backend, &plan, &err) < 0) {
		p->text = arena_dup(d->o->arena, str_of(err.message));
		p->hint = arena_dup(d->o->arena, str_of(err.hint));
		return 0;
	}
	plan_print_degraded(&lost, plan);
	p->backend = plan->backend;
	p->text = arena_dup(d->o->arena, buf_str(&lost));
	return p->text ? 0 : err_nomem(&d->err, "doctor");
}

static int examine(struct doctor *d)
{
	struct cordon_error refused;
	const struct backend *backend;
	struct plan *plan;
	int r = setup_policy(d->o, &d->situation, &d->err);

	if (r == 0)
		r = probe_thorough(d->o->arena, d->situation.places.workdir, getenv("PATH"),
				   &d->caps, &d->err);
	if (r < 0)
		return r;
	r = confine(d);
	d->can_run = situation_plan(&d->situation, &d->caps, &backend, &plan, &refused) == 0;
	d->confined = d->can_run ? execute_confines(plan) : d->situation.policy->confined;
	for (const struct builtin_file *f = builtin_files; f->name && r == 0; f++)
		if (strcmp(f->name, "defaults") != 0)
			r = look_at(d, f->name);
	return r;
}

static bool lacks_any(const struct caps *caps)
{
	for (unsigned c = 0; c < CAP_COUNT; c++)
		if (!caps->value[c] && probe_knows(c))
			return true;
	return false;
}

/* What the boundary around this cordon refuses the machine may well have. */
static const char *fix_of(const struct caps *caps, enum cap c)
{
	bool elsewhere = c == CAP_CGROUP2 || c == CAP_RELAY || c == CAP_BWRAP ||
			 c == CAP_SANDBOX_EXEC;

	if (caps->inside && !caps->value[c] && !elsewhere)
		return "this is already inside cordon, which refuses it; ask outside";
	return cap_rows[c].fix;
}

static void print_caps(struct buf *b, const struct caps *caps)
{
	buf_adds(b, "This machine can enforce:\n");
	for (unsigned c = 0; c < CAP_COUNT; c++) {
		const char *path = c == CAP_BWRAP ? caps->bwrap_path :
				   c == CAP_RELAY ? caps->relay_path :
						    NULL;

		if (!caps->value[c])
			continue;
		buf_addf(b, "  %-18s%s", cap_rows[c].name, cap_rows[c].purpose);
		if (c == CAP_LANDLOCK)
			buf_addf(b, " (ABI %u)", caps->value[c]);
		if (path) {
			buf_adds(b, " (");
			buf_add_escaped(b, str_of(path));
			buf_adds(b, ")");
		}
		buf_addc(b, '\n');
	}
	buf_adds(b, "\nIt cannot:\n");
	if (!lacks_any(caps))
		buf_adds(b, "  (nothing is missing)\n");
	for (unsigned c = 0; c < CAP_COUNT; c++) {
		if (caps->value[c] || !probe_knows(c))
			continue;
		buf_addf(b, "  %-18s%s\n", cap_rows[c].name, cap_rows[c].purpose);
		if (caps->why[c])
			buf_addf(b, "%20swhy: %s\n", "", caps->why[c]);
		buf_addf(b, "%20sfix: %s\n", "", fix_of(caps, c));
	}
}

/* 0, or why the backend cannot be used; an error with code 0 means "not built". */
static int backend_state(const struct backend *backend, const struct caps *caps,
			 struct cordon_error *err)
{
	*err = (struct cordon_error){ 0 };
	return backend->claims ? backend->available(caps, err) : -1;
}

static void print_backends(struct buf *b, const struct caps *caps)
{
	struct cordon_error why;

	buf_adds(b, "\nBackends (auto takes the first that can enforce the policy, never "
		    "passthrough):\n");
	for (const struct backend *const *at = backends; *at; at++) {
		int r = backend_state(*at, caps, &why);

		buf_addf(b, "  %-18s%s: ", (*at)->name, (*at)->summary);
		if (r == 0) {
			buf_adds(b, "available\n");
		} else if (!why.code) {
			buf_adds(b, "not in this build\n");
		} else {
			buf_addf(b, "not available\n%20swhy: ", "");
			out_add_message(b, str_of(why.message));
			buf_addc(b, '\n');
		}
	}
}

/* What the table says of the profiles holds for who switches it on again. */
static void print_off(struct buf *b, const struct doctor *d)
{
	const struct policy *policy = d->situation.policy;
	bool by_backend = policy->confined;
	enum key key = by_backend ? KEY_BACKEND : KEY_ENABLED;

	buf_adds(b, "\nConfinement is switched off by ");
	origin_print(b, &policy->effective[key].origin);
	buf_addf(b,
		 " (%s): whatever the profile, commands run without it.\n"
		 "'cordon run %s' confines one all the same.\n",
		 by_backend ? "backend = \"passthrough\"" : policy->unconfined_reason,
		 by_backend ? "--backend auto" : "--sandbox");
}

static void print_in_force(struct buf *b, const struct doctor *d)
{
	buf_adds(b, "\nProfile in force: ");
	buf_add_escaped(b, str_of(d->situation.policy->profile));
	buf_addf(b, ", which can%s be enforced here.\n", d->can_run ? "" : "NOT");
}

static int print_text(struct doctor *d)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	print_caps(&b, &d->caps);
	print_backends(&b, &d->caps);
	buf_adds(&b, "\nProfiles:\n");
	vec_each(p, &d->prospects) {
		buf_addf(&b, "  %-12s", p->profile);
		if (!p->backend) {
			buf_adds(&b, "refused: ");
			out_add_message(&b, str_of(p->text));
			buf_addf(&b, "\n%14sfix: ", "");
			out_add_message(&b, str_of(p->hint));
		} else {
			buf_addf(&b, "%s%s%s", p->backend, *p->text ? ", without " : "", p->text);
		}
		buf_addc(&b, '\n');
	}
	if (d->confined)
		print_in_force(&b, d);
	else
		print_off(&b, d);
	return out_text(d->o, &b);
}

static json_t *backends_to_json(const struct caps *caps)
{
	json_t *list = json_array();
	struct cordon_error why;

	for (const struct backend *const *at = backends; *at; at++) {
		int r = backend_state(*at, caps, &why);
		json_t *row = json_pack("{s:s, s:s, s:b, s:b}", "name", (*at)->name, "purpose",
					(*at)->summary, "built", (*at)->claims != NULL, "available",
					r == 0);

		if (!row || (why.code && !json_set_text(row, "why", str_of(why.message))) ||
		    json_array_append(list, row) < 0) {
			json_decref(row);
			json_decref(list);
			return NULL;
		}
		json_decref(row);
	}
	return list;
}

static json_t *caps_to_json(const struct caps *caps)
{
	json_t *list = json_array();

	for (unsigned c = 0; c < CAP_COUNT; c++)
		if (probe_knows(c) && json_array_append_new(
			    list, json_pack("{s:s, s:i, s:s, s:s?, s:s}", "name", cap_rows[c].name,
					    "value", (int)caps->value[c], "purpose",
					    cap_rows[c].purpose, "why", caps->why[c], "fix",
					    fix_of(caps, c))) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *prospects_to_json(const struct doctor *d)
{
	json_t *list = json_array();

	vec_each(p, &d->prospects) {
		json_t *row = json_pack("{s:s, s:s?}", "profile", p->profile, "backend",
					p->backend);

		if (!row || !json_set_text(row, p->backend ? "degraded" : "refused",
					   str_of(p->text)) ||
		    json_array_append(list, row) < 0) {
			json_decref(row);
			json_decref(list);
			return NULL;
		}
		json_decref(row);
	}
	return list;
}

int cmd_doctor(struct opts *o)
{
	struct doctor d = { .o = o };
	int r = opts_words(o, 0, 0, &d.err), status;

	if (r == 0)
		r = examine(&d);
	if (r < 0)
		return out_error(o, &d.err);
	if (opts_given(o, OPTION_JSON))
		status = out_json(o, json_pack("{s:o, s:o, s:o, s:s, s:b, s:b}", "capabilities",
					       caps_to_json(&d.caps), "backends",
					       backends_to_json(&d.caps), "profiles",
					       prospects_to_json(&d), "profile",
					       d.situation.policy->profile, "confined",
					       d.confined, "enforceable", d.can_run));
	else
		status = print_text(&d);
	return status ? status : d.can_run ? 0 : STATUS_FAILED;
}
