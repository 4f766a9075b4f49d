/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals to additions that were tried. */
#include "cli/learner.h"

#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cli/effective.h"
#include "cli/remedy.h"

#define stage "learn"
#define TRY_BYTES_MAX ((size_t)64 << 20)
#define TEXT_MAX ((size_t)64 << 10)

#define RULE_CLOSED (RULE_SECRET | RULE_CONTROL)

/* --- opening ------------------------------------------------------------------------------ */

static int build_yardstick(struct learner *l, const struct situation *s, struct cordon_error *err)
{
	struct policy_input in = {
		.profile = "moderate",
		.builtin = &s->builtin,
		.places = s->places,
		.world = &s->world,
	};

	return policy_build(l->o->arena, &in, &l->yardstick, err);
}

static int keep_rule(struct learner *l, const struct learner_rule *rule, struct cordon_error *err)
{
	struct learner_rule *slot = vec_push(&l->rules, l->o->arena);

	if (!slot)
		return err_nomem(err, stage);
	*slot = *rule;
	return 0;
}

int learner_open(struct learner *l, const struct situation *s, struct cordon_error *err)
{
	int r = build_yardstick(l, s, err);

	for (size_t i = 0; i < l->o->flags.statements.n && r == 0; i++) {
		const struct statement *said = &l->o->flags.statements.at[i];
		struct learner_rule rule = { .add = { said->key, said->text.p, NULL } };
		enum key_type type = key_rows[said->key].type;

		if (type == TYPE_PATHS || type == TYPE_PATTERNS)
			r = keep_rule(l, &rule, err);
	}
	return r;
}

/* --- what was refused --------------------------------------------------------------------- */

static enum policy_op op_of(enum key key)
{
	return key == KEY_READ ? POLICY_READ : key == KEY_WRITE ? POLICY_WRITE : POLICY_EXEC;
}

/* What the policy takes a refused path for. */
static unsigned closed_by(const struct policy *policy, enum policy_op op, struct str object)
{
	const struct ruleset *rules = policy->trusted.rules;
	unsigned flags = 0;
	struct decision d;

	if (policy_allows(policy, op, object, &d))
		return 0;
	for (size_t i = 0; i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);

		if (rule->kind != RULE_GLOB && path_below(object, rule->path))
			flags |= rule->flags & RULE_CLOSED;
	}
	return flags;
}

/* Why it is left out, and what somebody types who wants it all the same. */
static const char *unless_meant(const struct learner *l, const char *why, const struct fix *fix)
{
	const char *text;

	if (!fix->flags || fix->remark)
		return why;
	text = arena_printf(l->o->arena, "%s; if it is meant: %s%s%s", why,
			    fix->first ? fix->first : "", fix->first ? ", then " : "", fix->flags);
	return text ? text : why;
}

static const char *unless_path_meant(const struct learner *l, const struct explainer *e,
				     enum key key, struct str object, const char *why)
{
	struct fix fix = { 0 };

	remedy_of_path(e, op_of(key), object, LAYER_TRUSTED, &fix);
	return unless_meant(l, why, &fix);
}

/* Why a path must not be opened by what was merely seen; NULL: it may be. */
static const char *closed(const struct learner *l, const struct explainer *e, enum key key,
			  struct str object)
{
	const struct policy *policy = e->setup.situation.policy;
	struct decision d;
	enum layer_id layer;
	unsigned flags;

	if (policy_allows(policy, op_of(key), object, &d))
		return "the rules on the path allow it; what was done to it is refused";
	layer = key == KEY_EXEC ? d.exec_layer : d.data_layer;
	if (layer == LAYER_PROJECT || layer == LAYER_LOCKED || layer == LAYER_CORDON)
		return remedy_why_not(layer);
	flags = closed_by(policy, op_of(key), object) | closed_by(l->yardstick, op_of(key), object);
	if (remedy_is_secret(policy, object) || flags & RULE_SECRET)
		return unless_path_meant(l, e, key, object, "it may hold secrets");
	if (flags & RULE_CONTROL)
		return unless_path_meant(l, e, key, object,
					 key == KEY_WRITE ? "it decides what runs later, outside"
							  : "the profile closes it by its name");
	/* A rule for the path may not do: what is refused is its being hidden. */
	if (key == KEY_WRITE && layer == LAYER_HIDDEN)
		return unless_path_meant(l, e, key, object, "hidden_writes refuses it");
	return NULL;
}

static bool exists(struct str path, const char *below)
{
	char text[PATH_BYTES_MAX + 8];
	struct stat st;

	if (path.n > PATH_BYTES_MAX)
		return false;
	memcpy(text, path.p, path.n);
	memcpy(text + path.n, below, strlen(below) + 1);
	return lstat(text, &st) == 0;
}

/* A rule for what is not there would have to be made for the directory, and so one for what is
 * taken away or moved: a name belongs to its directory. */
static struct str place_of_rule(const struct explainer *e, enum key key, struct str object,
				const struct violation *v)
{
	bool of_name = v->removes || v->moves || !exists(object, "");

	return key == KEY_WRITE && of_name ? remedy_above(e, object) : object;
}

static const char *unfit(const struct learner *l, const struct explainer *e,
			 const struct learn_refusal *r)
{
	const struct places *places = &e->setup.situation.places;
	const char *why = closed(l, e, r->key, r->object);

	if (!why)
		why = learn_unfit(r->key, r->object, places);
	/* Its hooks would be open, too. */
	if (!why && r->key == KEY_WRITE && !path_below(r->place, places->workdir) &&
	    exists(r->place, "/.git"))
		why = "a repository of its own; use -C there";
	return why;
}

struct refusals {
	VEC(struct learn_refusal) list;
};

static struct learn_refusal *add(struct learner *l, struct refusals *to, enum key key,
				 const struct violation *v, struct cordon_error *err)
{
	struct learn_refusal *slot = vec_push(&to->list, l->o->arena);
	const char *object = arena_dup(l->o->arena, v->object);
	const char *program = arena_dup(l->o->arena, str_of(v->program));

	if (!slot || !object || !program) {
		err_nomem(err, stage);
		return NULL;
	}
	*slot = (struct learn_refusal){
		.key = key,
		.object = str_of(object),
		.place = str_of(object),
		.program = program,
	};
	return slot;
}

static int add_path(struct learner *l, const struct explainer *e, struct refusals *to, enum key key,
		    const struct violation *v, struct cordon_error *err)
{
	struct learn_refusal *r = add(l, to, key, v, err);

	if (!r)
		return -err->code;
	if (v->source == VIOLATION_BY_inferred) {
		r->left_out = "it was only guessed from the output";
	} else if (v->source == VIOLATION_BY_kernel) {
		r->left_out = "programs of another architecture do not run inside";
	} else {
		r->place = place_of_rule(e, key, r->object, v);
		r->left_out = unfit(l, e, r);
	}
	return 0;
}

/* A program is read, too. */
static int add_exec(struct learner *l, const struct explainer *e, struct refusals *to,
		    const struct violation *v, struct cordon_error *err)
{
	struct decision d;
	int r = 0;

	if (!policy_allows(e->setup.situation.policy, POLICY_READ, v->object, &d))
		r = add_path(l, e, to, KEY_READ, v, err);
	if (r == 0 && !policy_decide(e->setup.situation.policy, v->object).exec)
		r = add_path(l, e, to, KEY_EXEC, v, err);
	return r;
}

/* Something that is asked for with a flag, or not to be had. */
static int add_closed(struct learner *l, struct refusals *to, enum key key,
		      const struct violation *v, const char *why, struct cordon_error *err)
{
	struct learn_refusal *r = add(l, to, key, v, err);

	if (!r)
		return -err->code;
	r->left_out = why;
	return 0;
}

static int add_host(struct learner *l, const struct explainer *e, struct refusals *to,
		    const struct violation *v, struct cordon_error *err)
{
	struct fix fix;

	if (v->object.p[0] != '/')
		return add(l, to, KEY_NETWORK, v, err) ? 0 : -err->code;
	fix = remedy_of_socket(e, v->object);
	return add_closed(l, to, KEY_UNIX, v, unless_meant(l, "it is a service outside", &fix),
			  err);
}

static const char *why_no_call(const struct violation *v)
{
	return v->source == VIOLATION_BY_notify ? "no rule allows such a system call" : v->reason;
}

static int add_violation(struct learner *l, const struct explainer *e, struct refusals *to,
			 const struct violation *v, struct cordon_error *err)
{
	switch (v->op) {
	case VIOLATION_read:
		return add_path(l, e, to, KEY_READ, v, err);
	case VIOLATION_write:
		return add_path(l, e, to, KEY_WRITE, v, err);
	case VIOLATION_exec:
		return add_exec(l, e, to, v, err);
	case VIOLATION_connect:
	case VIOLATION_resolve:
		return add_host(l, e, to, v, err);
	case VIOLATION_bind:
		return add_closed(l, to, KEY_BIND, v, "only --allow-bind opens a port", err);
	case VIOLATION_send:
		return add_closed(l, to, KEY_COUNT, v, "only TCP is passed on, no UDP", err);
	case VIOLATION_call:
		return add_closed(l, to, KEY_COUNT, v, why_no_call(v), err);
	case VIOLATION_OP_COUNT:
		break;
	}
	return 0;
}

/* --- trying ------------------------------------------------------------------------------- */

/* "~/x" rather than where this user's home is. */
static const char *spell(const struct learner *l, const struct explainer *e, struct str place)
{
	const struct places *places = &e->setup.situation.places;
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (path_below(place, places->workdir)) {
		buf_adds(&b, "{workdir}");
		effective_print_path(&b, str_skip(place, places->workdir.n));
	} else if (path_below(place, places->home)) {
		buf_adds(&b, "~");
		effective_print_path(&b, str_skip(place, places->home.n));
	} else if (place.p[0] == '/') {
		effective_print_path(&b, place);
	} else {
		buf_add(&b, place);
	}
	return b.failed ? NULL : arena_dup(l->o->arena, buf_str(&b));
}

static bool is_allowed(const struct policy *policy, const struct learn_refusal *r)
{
	struct cordon_error ignored;
	struct decision d;
	struct host host;

	if (r->key == KEY_NETWORK)
		return host_parse_target(r->object, &host, &ignored) == 0 &&
		       policy_decide_host(policy, &host).allowed;
	return policy_allows(policy, op_of(r->key), r->object, &d);
}

/* *ret_why stays NULL when the rule does what it is for and nothing that it must not. */
static int try_rule(struct learner *l, const struct explainer *e, const struct refusals *all,
		    const struct learn_rule *rule, const char *text, const char **ret_why,
		    struct cordon_error *err)
{
	autoarena struct arena a = { .max = TRY_BYTES_MAX };
	struct amendment change = { rule->key, text, NULL };
	const struct backend *backend;
	struct situation changed;
	struct plan *plan;
	int r = remedy_rebuild(e, &a, &change, 1, &changed, err);

	if (r == 0)
		r = situation_plan(&changed, &e->setup.caps, &backend, &plan, err);
	if (r < 0) {
		*ret_why = arena_dup(l->o->arena, str_of(err->message));
		return r == -CORDON_E_NOMEM || !*ret_why ? err_nomem(err, stage) : 0;
	}
	vec_each(refusal, &all->list)
		if (!refusal->left_out && learn_answers(rule, refusal) &&
		    !is_allowed(changed.policy, refusal))
			*ret_why = "no single rule allows it";
	if (remedy_opens(l->yardstick->trusted.rules, RULE_CLOSED, e->setup.situation.policy,
			 changed.policy))
		*ret_why = "a secret or a file that decides what runs later would be open, too";
	return 0;
}

static int leave_out(struct learner *l, const struct refusals *all, const struct learn_rule *rule,
		     const char *why, struct cordon_error *err)
{
	vec_each(r, &all->list) {
		struct learn_refusal *slot;

		if (r->left_out || r->key != rule->key || !learn_answers(rule, r))
			continue;
		slot = vec_push(&l->last.left_out, l->o->arena);
		if (!slot)
			return err_nomem(err, stage);
		*slot = *r;
		slot->left_out = why;
	}
	return 0;
}

static int take_rule(struct learner *l, const struct explainer *e, const struct refusals *all,
		     const struct learn_rule *rule, size_t *count, struct cordon_error *err)
{
	struct origin origin = { SOURCE_FLAGS, key_rows[rule->key].flag, 0, 0 };
	const char *text = spell(l, e, rule->place);
	const char *why = NULL;
	int r;

	if (!text)
		return err_nomem(err, stage);
	r = try_rule(l, e, all, rule, text, &why, err);
	if (r < 0 || why)
		return r < 0 ? r : leave_out(l, all, rule, why, err);
	++*count;
	r = keep_rule(l,
		      &(struct learner_rule){ { rule->key, text }, rule->program, rule->refusals },
		      err);
	/* For the next run, and for the tries that follow. */
	return r < 0 ? r
		     : layer_add_text(l->o->arena, &l->o->flags, rule->key, str_of(text), &origin,
				      err);
}

/* Where the system's loader and libraries may not be executed no program starts, whatever
 * is granted on itself. */
static int take_runtime(struct learner *l, const struct explainer *e, const struct refusals *all,
			size_t *count, struct cordon_error *err)
{
	static const struct amendment runtime[] = {
		{ KEY_READ, "@runtime" },
		{ KEY_EXEC, "@system-exec" },
	};
	struct decision d;
	bool wanted = false;
	int r = 0;

	vec_each(refusal, &all->list)
		wanted |= refusal->key == KEY_EXEC || refusal->key == KEY_READ;
	if (!wanted || policy_allows(e->setup.situation.policy, POLICY_EXEC, STR("/usr/lib"), &d))
		return 0;
	for (size_t i = 0; i < 2 && r == 0; i++) {
		struct origin origin = { SOURCE_FLAGS, key_rows[runtime[i].key].flag, 0, 0 };

		++*count;
		r = keep_rule(l, &(struct learner_rule){ runtime[i], "", 1 }, err);
		if (r == 0)
			r = layer_add_text(l->o->arena, &l->o->flags, runtime[i].key,
					   str_of(runtime[i].text), &origin, err);
	}
	return r;
}

int learner_take(struct learner *l, const struct explainer *e, const struct violations *refused,
		 size_t *ret_new, struct cordon_error *err)
{
	struct refusals all = { 0 };
	size_t count = 0, runtime = 0;
	int r = 0;

	for (size_t i = 0; i < violations_count(refused) && r == 0; i++)
		r = add_violation(l, e, &all, violations_at(refused, i), err);
	if (r == 0)
		r = take_runtime(l, e, &all, &runtime, err);
	l->last = (struct learned){ 0 };
	/* What is still refused with the runtime is seen in the next run. */
	if (r == 0 && !runtime)
		r = learn_rules(l->o->arena, all.list.at, all.list.n, &e->setup.situation.places,
				&l->last, err);
	for (size_t i = 0; i < l->last.rules.n && r == 0; i++)
		r = take_rule(l, e, &all, &l->last.rules.at[i], &count, err);
	if (r == 0)
		*ret_new = runtime + count;
	return r;
}
