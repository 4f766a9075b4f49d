/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts with their reasons. */
#include "cli/verdict.h"

#include <stdlib.h>

#include "backend/probe.h"
#include "base/path.h"
#include "cli/effective.h"
#include "cli/out.h"
#include "fmt/toml.h"

#define stage "explain"
#define TEXT_MAX ((size_t)64 << 10)
#define TRY_BYTES_MAX ((size_t)64 << 20)

int explainer_open(const struct opts *o, struct explainer *ret, struct cordon_error *err)
{
	struct setup *s = &ret->setup;
	int r;

	*ret = (struct explainer){ .opts = o };
	r = setup_policy(o, &s->situation, err);
	if (r == 0)
		r = probe_cheap(o->arena, s->situation.places.workdir, getenv("PATH"), &s->caps,
				err);
	if (r < 0)
		return r;
	if (situation_plan(&s->situation, &s->caps, &s->backend, &s->plan, &ret->refusal) < 0)
		s->plan = NULL;
	return 0;
}

void explainer_of_plan(const struct opts *o, const struct setup *setup, struct explainer *ret)
{
	*ret = (struct explainer){ .opts = o, .setup = *setup };
}

static const char *keep(const struct explainer *e, const struct buf *b)
{
	return b->failed ? "" : arena_dup(e->opts->arena, buf_str(b));
}

/* --- the rule in words ----------------------------------------------------------------- */

static const char *layer_phrase(enum layer_id layer)
{
	switch (layer) {
	case LAYER_TRUSTED:
		return "";
	case LAYER_PROJECT:
		return ", by a project file";
	case LAYER_LOCKED:
		return ", locked by the system's configuration";
	case LAYER_HIDDEN:
		return ", capped by hidden_writes";
	case LAYER_SECRET:
		return ", a secret";
	case LAYER_CORDON:
		return ", cordon's own";
	}
	return "";
}

static void describe_rule(const struct explainer *e, struct verdict *v)
{
	const struct policy *policy = e->setup.situation.policy;
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (v->layer == LAYER_HIDDEN) {
		const struct setting *hidden = &policy->effective[KEY_HIDDEN_WRITES];

		v->origin = &hidden->origin;
		buf_addf(&b, "hidden_writes = \"%s\"",
			 choice_to_string(CHOICES_HIDDEN, (unsigned)hidden->number));
	} else if (v->rule) {
		buf_addf(&b, "%s ", right_to_string(v->rule->right));
		buf_add_escaped(&b, v->rule->spelled);
		if (v->rule->set)
			buf_addf(&b, " (@%s)", v->rule->set);
		buf_adds(&b, layer_phrase(v->layer));
		if (v->rule->flags & RULE_PRIVATE)
			buf_adds(&b, ", the sandbox's own and not the host's");
	} else {
		buf_adds(&b, "no rule mentions it");
	}
	v->by = keep(e, &b);
}

/* --- what holds it ---------------------------------------------------------------------- */

static bool covers(const struct op *op, struct str object)
{
	return !op->path.n || path_below(object, op->path);
}

/* What is on top at the object, and how much of it that lets through. */
static const struct op *shown_by(const struct plan *plan, struct str object, enum access *ret)
{
	static const enum access through[] = {
		[VIEW_NONE] = ACCESS_WRITE, [VIEW_HIDDEN] = ACCESS_NONE, [VIEW_OWN] = ACCESS_WRITE,
		[VIEW_READ] = ACCESS_READ,  [VIEW_WRITE] = ACCESS_WRITE,
	};
	const struct op *op = plan_shown_by(plan, object, NULL);

	*ret = op ? through[op_view_of(op)] : ACCESS_WRITE;
	if (op && op->kind == OP_ROOT_EMPTY)
		*ret = ACCESS_NONE;
	return op;
}

/* The last of NOEXEC and EXEC that covers the object. */
static const struct op *exec_op(const struct plan *plan, struct str object)
{
	const struct op *found = NULL;

	vec_each(op, &plan->ops)
		if ((op->kind == OP_NOEXEC || op->kind == OP_EXEC) && covers(op, object))
			found = op;
	return found;
}

/* What is there for names that no mount can hold. */
static const struct op *guard_op(const struct plan *plan, struct str object,
				 const struct verdict *v)
{
	const struct op *found = NULL;

	vec_each(op, &plan->ops) {
		bool fits = false;

		if (op->kind == OP_GUARD_NAME)
			fits = path_below(object, op->path);
		else if (op->kind == OP_GUARD_GLOB || op->kind == OP_HIDE_GLOB)
			fits = op->rule == v->rule;
		else if (op->kind == OP_GUARD_HIDDEN)
			fits = v->layer == LAYER_HIDDEN;
		if (fits)
			found = op;
	}
	return found;
}

static void held(const struct explainer *e, const struct op *op, struct verdict *v)
{
	const struct plan *plan = e->setup.plan;
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (plan->enforced[op_rows[op->kind].guarantee]) {
		buf_addf(&b, "%s%s", op_rows[op->kind].name, op->path.n ? " " : "");
		buf_add_escaped(&b, op->path);
		v->held_by = keep(e, &b);
		return;
	}
	buf_addf(&b, "the %s backend cannot promise '%s' (%s%s", plan->backend,
		 guarantee_rows[op_rows[op->kind].guarantee].name, op_rows[op->kind].name,
		 op->path.n ? " " : "");
	buf_add_escaped(&b, op->path);
	buf_adds(&b, ")");
	v->loose = keep(e, &b);
}

static bool is_loose(const struct explainer *e, struct verdict *v)
{
	const struct policy *policy = e->setup.situation.policy;

	if (!policy->confined)
		v->loose = policy->unconfined_reason;
	else if (!e->setup.plan)
		v->loose = arena_dup(e->opts->arena, str_of(e->refusal.message));
	return v->loose != NULL;
}

/* Does what is shown there already give the verdict? */
static bool settles(enum access shown, enum policy_op what, bool allowed)
{
	enum access needed = what == POLICY_WRITE ? ACCESS_WRITE : ACCESS_READ;

	return (shown >= needed) == allowed;
}

static const struct op *holder(const struct plan *plan, enum policy_op what, struct str object,
			       const struct decision *d, const struct verdict *v)
{
	enum access shown;
	const struct op *op = shown_by(plan, object, &shown);
	const struct op *exec = exec_op(plan, object);

	if (what == POLICY_EXEC && d->data != ACCESS_NONE) {
		if (exec && (exec->kind == OP_EXEC) == v->allowed)
			return exec;
		return v->allowed && !exec ? op : NULL;
	}
	return settles(shown, what, v->allowed) ? op : guard_op(plan, object, v);
}

static void find_holder(const struct explainer *e, enum policy_op what, struct str object,
			const struct decision *d, struct verdict *v)
{
	const struct op *op;

	if (is_loose(e, v))
		return;
	op = holder(e->setup.plan, what, object, d, v);
	if (op)
		held(e, op, v);
	else
		v->loose = "no operation of the plan covers it";
}

/* --- what would change it ----------------------------------------------------------------- */

/* For KEY_NETWORK, where a list of hosts could stand as well. */
static const char all_hosts[] = "on";

/* The world remembers what it has seen in the arena it was asked with, so it is a new one. */
int explainer_rebuild(const struct explainer *e, struct arena *a, const struct amendment *changes,
		      size_t n, struct situation *ret, struct cordon_error *err)
{
	struct policy_input in = situation_input(&e->setup.situation);
	struct layer layer = { 0 };
	int r;

	*ret = e->setup.situation;
	ret->arena = a;
	r = world_os_init(a, &ret->world, err);
	if (r < 0)
		return r;
	in.profile = e->opts->value[OPTION_PROFILE];
	in.flags = &layer;
	in.world = &ret->world;
	vec_each(old, &e->opts->flags.statements) {
		struct statement *slot = vec_push(&layer.statements, a);

		if (!slot)
			return err_nomem(err, stage);
		*slot = *old;
	}
	for (size_t i = 0; i < n && r == 0; i++) {
		struct origin origin = { SOURCE_FLAGS, key_rows[changes[i].key].flag, 0, 0 };

		r = layer_add_text(a, &layer, changes[i].key, str_of(changes[i].text), &origin,
				   err);
	}
	return r < 0 ? r : policy_build(a, &in, &ret->policy, err);
}

/* The line of one key, which holds all the changes to it: TOML takes a key once. Nothing
 * when an earlier change had the key. */
static void print_toml_line(struct buf *b, const struct amendment *changes, size_t n, size_t at)
{
	const struct key_row *row = &key_rows[changes[at].key];
	bool list = key_type_is_list(row->type) && changes[at].text != all_hosts;

	for (size_t i = 0; i < at; i++)
		if (changes[i].key == changes[at].key)
			return;
	buf_addf(b, "%s%s = %s", at ? "\n" : "", row->name, list ? "[" : "");
	for (size_t i = at; i < n; i++) {
		if (changes[i].key != changes[at].key)
			continue;
		buf_adds(b, i > at ? ", " : "");
		toml_print_string(b, str_of(changes[i].text));
	}
	buf_adds(b, list ? "]" : "");
}

static void name_fix(const struct explainer *e, const struct amendment *changes, size_t n,
		     struct fix *fix)
{
	autobuf struct buf flags = buf_make(TEXT_MAX);
	autobuf struct buf toml = buf_make(TEXT_MAX);

	for (size_t i = 0; i < n; i++) {
		const struct key_row *row = &key_rows[changes[i].key];

		buf_addf(&flags, "%s%s%c", i ? " " : "", row->flag,
			 row->type == TYPE_NETWORK ? '=' : ' ');
		out_shell_quote(&flags, str_of(changes[i].text));
		print_toml_line(&toml, changes, n, i);
	}
	fix->flags = keep(e, &flags);
	fix->toml = keep(e, &toml);
}

/* What a grant on a path opens beyond what was asked for, when that is a great deal; an
 * empty path is that of a set, which opens what it says. */
static const char *breadth(const struct places *places, struct str path)
{
	if (!path.n)
		return NULL;
	if (str_eq(path, STR("/")))
		return "that opens the whole machine";
	if (str_eq(path, places->home))
		return "that opens your whole home directory";
	if (str_eq(path, STR("/etc")))
		return "that opens the settings of the whole machine";
	if (path_below(places->workdir, path) && !str_eq(path, places->workdir))
		return "that opens a directory above the workdir, and all that is in it";
	return NULL;
}

bool verdict_is_secret(const struct policy *policy, struct str object)
{
	struct match m;

	ruleset_match(policy->trusted.rules, object, &m);
	return m.secret.rule && !(m.opener.rule && m.opener.depth >= m.secret.depth);
}

/* Would the changed policy still run here? */
static bool compiles(const struct explainer *e, struct situation *changed, struct plan **ret,
		     struct cordon_error *err)
{
	const struct backend *backend;

	return situation_plan(changed, &e->setup.caps, &backend, ret, err) == 0;
}

/* Tries one set of changes; true when it gives what is wanted. A policy that cannot be
 * enforced counts only when nothing else helps. */
static bool try_path(const struct explainer *e, enum policy_op op, struct str object,
		     struct str granted, const struct amendment *changes, size_t n,
		     bool must_compile, struct fix *fix)
{
	autoarena struct arena a = { .max = TRY_BYTES_MAX };
	struct situation changed;
	struct cordon_error err;
	struct decision d;
	struct plan *plan;
	bool good;

	if (explainer_rebuild(e, &a, changes, n, &changed, &err) < 0 ||
	    !policy_allows(changed.policy, op, object, &d))
		return false;
	good = !e->setup.plan || compiles(e, &changed, &plan, &err);
	if (!good && must_compile)
		return false;
	name_fix(e, changes, n, fix);
	fix->opens_secret = verdict_is_secret(e->setup.situation.policy, object);
	fix->breadth = breadth(&e->setup.situation.places, granted);
	fix->remark = good ? NULL : arena_dup(e->opts->arena, str_of(err.message));
	return true;
}

const char *verdict_why_not(enum layer_id layer)
{
	if (layer == LAYER_CORDON)
		return "nothing opens cordon's own home";
	if (layer == LAYER_PROJECT)
		return "a project file refuses it; only editing that file changes it";
	if (layer == LAYER_LOCKED)
		return "the system's configuration locks it; only an administrator can change it";
	return "no single flag allows it";
}

/* In the order in which they are tried: what gives least comes first. */
static const struct {
	enum policy_op op;
	enum key keys[2];
} candidates[] = {
	{ POLICY_READ, { KEY_READ, KEY_COUNT } },
	{ POLICY_READ, { KEY_READ, KEY_EXEC } },
	{ POLICY_WRITE, { KEY_WRITE, KEY_COUNT } },
	{ POLICY_WRITE, { KEY_WRITE, KEY_EXEC } },
	{ POLICY_WRITE, { KEY_HIDDEN_WRITES, KEY_COUNT } },
	{ POLICY_EXEC, { KEY_EXEC, KEY_COUNT } },
	{ POLICY_EXEC, { KEY_READ, KEY_EXEC } },
};

#define CHANGES_MAX 4

/* Where the system's loader and libraries may not be executed no program starts, whatever
 * is granted on itself. */
static size_t runtime_first(const struct explainer *e, enum policy_op op, struct amendment *changes)
{
	struct decision d;

	if (op != POLICY_EXEC ||
	    policy_allows(e->setup.situation.policy, POLICY_EXEC, STR("/usr/lib"), &d))
		return 0;
	changes[0] = (struct amendment){ KEY_READ, "@runtime" };
	changes[1] = (struct amendment){ KEY_EXEC, "@system-exec" };
	return 2;
}

/* `granted` is the path of the grants, `path` the same as it is written. */
static bool try_candidates(const struct explainer *e, enum policy_op op, struct str object,
			   struct str granted, const char *path, bool must_compile, struct fix *fix)
{
	struct amendment changes[CHANGES_MAX];
	size_t before = runtime_first(e, op, changes);

	if (before && try_path(e, op, object, STR(""), changes, before, must_compile, fix))
		return true;
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		size_t n = before;

		if (candidates[i].op != op)
			continue;
		for (size_t k = 0; k < 2 && candidates[i].keys[k] != KEY_COUNT; k++, n++) {
			changes[n].key = candidates[i].keys[k];
			changes[n].text = changes[n].key == KEY_HIDDEN_WRITES ? "allow" : path;
		}
		if (try_path(e, op, object, granted, changes, n, must_compile, fix))
			return true;
	}
	return false;
}

struct str explainer_above(const struct explainer *e, struct str object)
{
	const struct situation *s = &e->setup.situation;
	struct cordon_error ignored;
	struct node node = { .type = NODE_ABSENT };
	struct str real = object;

	while (node.type == NODE_ABSENT && object.n > 1) {
		const char *copy;

		object = path_parent(object);
		copy = arena_dup(e->opts->arena, object);
		if (!copy || s->world.resolve(&s->world, e->opts->arena, str_of(copy), &real,
					      &node, &ignored) < 0)
			break;
	}
	return real;
}

static const char *spell(const struct explainer *e, struct str path)
{
	autobuf struct buf b = buf_make(TEXT_MAX);

	effective_print_path(&b, path);
	return keep(e, &b);
}

static bool try_above(const struct explainer *e, enum policy_op op, struct str object,
		      struct fix *fix)
{
	struct str above = explainer_above(e, object);

	if (op != POLICY_WRITE || above.n <= 1 ||
	    !try_candidates(e, op, object, above, spell(e, above), true, fix))
		return false;
	fix->note = "all of that directory, since the file does not exist yet";
	return true;
}

static void find_path_fix(const struct explainer *e, enum policy_op op, struct str object,
			  struct verdict *v)
{
	const char *path = spell(e, object);

	if (path && *path && !try_candidates(e, op, object, object, path, true, &v->fix) &&
	    !try_above(e, op, object, &v->fix) &&
	    !try_candidates(e, op, object, object, path, false, &v->fix))
		v->fix.why_not = verdict_why_not(v->layer);
}

int verdict_of_path(const struct explainer *e, enum policy_op op, struct str object,
		    struct verdict *ret, struct cordon_error *err)
{
	const struct policy *policy = e->setup.situation.policy;
	struct verdict v = { .op = policy_op_to_string(op) };
	struct decision d;

	v.allowed = policy_allows(policy, op, object, &d);
	v.rule = op == POLICY_EXEC ? d.exec_rule : d.data_rule;
	v.layer = op == POLICY_EXEC ? d.exec_layer : d.data_layer;
	/* A cap on writing says nothing about reading. */
	if (op == POLICY_READ && v.layer == LAYER_HIDDEN)
		v.layer = LAYER_TRUSTED;
	v.origin = v.rule ? &v.rule->origin : NULL;
	describe_rule(e, &v);
	find_holder(e, op, object, &d, &v);
	if (!v.allowed)
		find_path_fix(e, op, object, &v);
	if (!v.by || (!v.held_by && !v.loose))
		return err_nomem(err, stage);
	*ret = v;
	return 0;
}

struct fix fix_of_socket(const struct explainer *e, struct str path)
{
	autoarena struct arena a = { .max = TRY_BYTES_MAX };
	struct amendment change = { KEY_UNIX, spell(e, path) };
	struct fix fix = { 0 };
	struct situation changed;
	struct cordon_error err;
	struct plan *plan;

	if (change.text && *change.text &&
	    explainer_rebuild(e, &a, &change, 1, &changed, &err) == 0 &&
	    compiles(e, &changed, &plan, &err))
		name_fix(e, &change, 1, &fix);
	else
		fix.why_not = "it is a socket of the host that no flag opens";
	return fix;
}

/* --- hosts --------------------------------------------------------------------------------- */

static void hold_network(const struct explainer *e, struct verdict *v)
{
	const struct op *found = NULL;

	if (is_loose(e, v))
		return;
	vec_each(op, &e->setup.plan->ops)
		if (op->kind == OP_UNSHARE_NET || op->kind == OP_NET_HOST)
			found = op;
	if (found)
		held(e, found, v);
	else
		v->held_by = "nothing: the host's network is shared";
}

/* Would the changed network be there? A loss that a fallback accepts leaves none. */
static bool connects(const struct explainer *e, struct situation *changed,
		     struct cordon_error *err)
{
	struct plan *plan;

	if (!compiles(e, changed, &plan, err))
		return false;
	vec_each(loss, &plan->degraded)
		if (loss->guarantee == GUARANTEE_NETWORK) {
			err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
				"the %s backend cannot enforce a list of hosts", plan->backend);
			return false;
		}
	return true;
}

/* Tries one value of `network`; the same rule as for paths. */
static bool try_host(const struct explainer *e, const struct host *target, const char *text,
		     bool must_compile, struct fix *fix)
{
	struct amendment change = { .key = KEY_NETWORK, .text = text };
	autoarena struct arena a = { .max = TRY_BYTES_MAX };
	struct situation changed;
	struct cordon_error err;
	bool good;

	if (explainer_rebuild(e, &a, &change, 1, &changed, &err) < 0 ||
	    !policy_decide_host(changed.policy, target).allowed)
		return false;
	good = connects(e, &changed, &err);
	if (!good && must_compile)
		return false;
	name_fix(e, &change, 1, fix);
	fix->remark = good ? NULL : arena_dup(e->opts->arena, str_of(err.message));
	return true;
}

static void find_host_fix(const struct explainer *e, const struct host *target, struct verdict *v)
{
	autobuf struct buf b = buf_make(512);
	const char *text;

	host_print(&b, target);
	text = keep(e, &b);
	if (!text || try_host(e, target, text, true, &v->fix))
		return;
	if (try_host(e, target, all_hosts, true, &v->fix))
		v->fix.note = "a list of hosts cannot be enforced here; --allow-network opens all "
			      "of it";
	else if (!try_host(e, target, text, false, &v->fix))
		v->fix.why_not = verdict_why_not(v->layer);
}

int verdict_of_host(const struct explainer *e, const struct host *target, struct verdict *ret,
		    struct cordon_error *err)
{
	const struct policy *policy = e->setup.situation.policy;
	struct host_decision d = policy_decide_host(policy, target);
	struct verdict v = { .op = "connect", .allowed = d.allowed, .layer = d.layer };
	autobuf struct buf b = buf_make(TEXT_MAX);

	buf_adds(&b, "network");
	if (d.host) {
		buf_addc(&b, ' ');
		host_print(&b, &d.host->host);
		v.origin = &d.host->origin;
	} else {
		buf_addf(&b, " %s", net_mode_to_string(policy_net_mode(policy)));
		v.origin = d.origin ? d.origin : &policy->trusted.net.origin;
	}
	buf_adds(&b, layer_phrase(d.layer));
	v.by = keep(e, &b);
	hold_network(e, &v);
	if (!v.allowed)
		find_host_fix(e, target, &v);
	if (!v.by || (!v.held_by && !v.loose))
		return err_nomem(err, stage);
	*ret = v;
	return 0;
}
