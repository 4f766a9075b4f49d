/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts with their reasons. */
#include "cli/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "backend/probe.h"
#include "base/path.h"
#include "cli/out.h"
#include "cli/remedy.h"

#define stage "explain"
#define TEXT_MAX ((size_t)64 << 10)

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
static const struct op *guard_op(const struct plan *plan, enum policy_op what, struct str object,
				 const struct verdict *v)
{
	enum op_kind hides = what == POLICY_EXEC ? OP_NOEXEC_GLOB : OP_HIDE_GLOB;
	const struct op *found = NULL;

	vec_each(op, &plan->ops) {
		bool fits = false;

		if (op->kind == OP_GUARD_NAME)
			fits = path_below(object, op->path);
		else if (op->kind == OP_GUARD_GLOB || op->kind == hides)
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
	if (settles(shown, what, v->allowed))
		return op;
	if (what == POLICY_EXEC && exec && exec->kind == OP_NOEXEC)
		return exec;
	return guard_op(plan, what, object, v);
}

static bool is_absent(const struct explainer *e, struct str object)
{
	const struct world *world = &e->setup.situation.world;
	struct cordon_error ignored;
	struct node node;
	struct str real;

	return world->resolve(world, e->opts->arena, object, &real, &node, &ignored) == 0 &&
	       node.type == NODE_ABSENT;
}

/* A rule of a profile opens nothing where there is nothing. */
static void not_there_to_open(const struct explainer *e, struct verdict *v)
{
	autobuf struct buf b = buf_make(TEXT_MAX);

	v->loose = "it does not exist, and cannot be made inside";
	if (!v->rule || v->rule->kind == RULE_GLOB)
		return;
	buf_adds(&b, "it has to be there before the run: mkdir -p ");
	out_shell_quote(&b, v->rule->path);
	v->fix.why_not = keep(e, &b);
}

/* What no operation covers because there is nothing to cover. */
static void held_when_made(const struct explainer *e, struct str object, struct verdict *v)
{
	const struct plan *plan = e->setup.plan;

	if (v->allowed)
		not_there_to_open(e, v);
	else if (plan->enforced[GUARANTEE_LANDLOCK] && !plan_is_in_writable(plan, object))
		v->held_by = "landlock, when it appears; it does not exist";
	else
		v->loose = "it does not exist; what appears there during a run is not covered";
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
	else if (is_absent(e, object))
		held_when_made(e, object, v);
	else
		v->loose = "no operation of the plan covers it";
}

/* A control file in a tree that is not writable either: a deeper rule that says the same, and
 * the one that still holds when the tree is opened. */
static const struct rule *closest_rule(const struct policy *policy, enum policy_op op,
				       struct str object, const struct decision *d)
{
	struct match m;

	if (op == POLICY_EXEC)
		return d->exec_rule;
	if (op == POLICY_READ || d->data != ACCESS_READ || d->data_layer != LAYER_TRUSTED)
		return d->data_rule;
	ruleset_match(policy->trusted.rules, object, &m);
	return m.control.rule && m.control.depth > m.data.depth ? m.control.rule : d->data_rule;
}

/* The policy gives the command a directory of its own there, and this backend cannot. */
static bool is_closed(const struct explainer *e, struct str object, struct verdict *v)
{
	const struct plan *plan = e->setup.plan;
	const struct op *op = plan ? plan_shown_by(plan, object, NULL) : NULL;

	if (!op || !plan_closes(plan, op))
		return false;
	v->allowed = false;
	v->by = arena_printf(e->opts->arena,
			     "%.*s is the host's here, and closed: TMPDIR names a directory of "
			     "the run's own",
			     STR_ARG(op->path));
	v->origin = NULL;
	v->held_by = plan->backend;
	return true;
}

/* The path may be written, but not to make anything but a directory there (rule 11). */
static void only_a_directory(struct str object, struct verdict *v)
{
	bool git = str_eq(path_last(object), STR(".git"));

	v->by = "only a directory may be made there, for rules are about what would be in it";
	v->origin = NULL;
	v->rule = NULL;
	v->fix = (struct fix){
		.why_not = git ? "a file of that name would point git elsewhere, to hooks that "
				 "run outside; make it there"
			       : "a file would get around them; make it outside",
	};
}

int verdict_of_path(const struct explainer *e, enum policy_op op, struct str object,
		    struct verdict *ret, struct cordon_error *err)
{
	const struct policy *policy = e->setup.situation.policy;
	struct verdict v = { .op = policy_op_to_string(op) };
	struct decision d;

	v.allowed = policy_allows(policy, op, object, &d);
	v.rule = closest_rule(policy, op, object, &d);
	v.layer = op == POLICY_EXEC ? d.exec_layer : d.data_layer;
	/* A cap on writing says nothing about reading. */
	if (op == POLICY_READ && v.layer == LAYER_HIDDEN)
		v.layer = LAYER_TRUSTED;
	v.origin = v.rule ? &v.rule->origin : NULL;
	if (v.allowed && is_closed(e, object, &v)) {
		remedy_of_closed(e, op, object, &v.fix);
	} else {
		describe_rule(e, &v);
		find_holder(e, op, object, &d, &v);
	}
	if (!v.allowed && !v.fix.flags)
		remedy_of_path(e, op, object, v.layer, &v.fix);
	if (op == POLICY_CREATE && !v.allowed && d.data == ACCESS_WRITE)
		only_a_directory(object, &v);
	if (!v.by || (!v.held_by && !v.loose))
		return err_nomem(err, stage);
	*ret = v;
	return 0;
}

/* Does the plan put something there, or below? What is above a mount is there, too. */
static bool shows_part(const struct plan *plan, struct str object)
{
	vec_each(op, &plan->ops)
		if (op->path.n && op_view_of(op) != VIEW_NONE && path_below(op->path, object))
			return true;
	return false;
}

/* The empty directory of the sandbox's own that is in the place of what is on the host. */
static const struct op *in_its_place(const struct explainer *e, struct str object)
{
	const struct plan *plan = e->setup.plan;
	const struct op *top = plan ? plan_shown_by(plan, object, NULL) : NULL;

	if (!top || top->kind != OP_TMPFS || shows_part(plan, object))
		return NULL;
	return plan->enforced[GUARANTEE_FILES] || plan->enforced[GUARANTEE_LANDLOCK] ? top : NULL;
}

int verdict_of_file(const struct explainer *e, enum policy_op op, struct str object,
		    struct verdict *ret, struct cordon_error *err)
{
	/* A file can be made anew where its directory is. */
	const struct op *own = in_its_place(e, op == POLICY_WRITE ? path_parent(object) : object);
	int r = verdict_of_path(e, op, object, ret, err);

	if (r < 0 || !ret->allowed || !own)
		return r;
	ret->allowed = false;
	ret->by = arena_printf(e->opts->arena, "not there inside, where %.*s is the sandbox's own",
			       STR_ARG(own->path));
	ret->origin = NULL;
	/* What may be executed need only be shown. */
	remedy_of_path(e, op == POLICY_EXEC ? POLICY_READ : op, object, ret->layer, &ret->fix);
	return ret->by ? 0 : err_nomem(err, stage);
}

/* --- sockets ------------------------------------------------------------------------------- */

static const struct op *find_op(const struct plan *plan, enum op_kind kind, struct str path)
{
	vec_each(op, &plan->ops)
		if (op->kind == kind && (!op->path.n || str_eq(op->path, path)))
			return op;
	return NULL;
}

/* Covered by name, or in a place where nothing of the host shows. */
static const struct op *socket_cover(const struct plan *plan, struct str path)
{
	const struct op *top = plan_shown_by(plan, path, NULL);
	enum op_view view = top ? op_view_of(top) : VIEW_NONE;

	return view == VIEW_HIDDEN || view == VIEW_OWN ? top : NULL;
}

/* The kernel tells of such a socket only how its address was spelled; whoever looks at calls
 * sees that it is older than the run (SECURITY.md). */
static bool is_unknown_socket(const struct explainer *e, struct str path)
{
	const struct plan *plan = e->setup.plan;

	return strcmp(plan->backend, "landlock") != 0 && !plan->enforced[GUARANTEE_SOCKETS] &&
	       !plan->enforced[GUARANTEE_GUARD] && !plan->enforced[GUARANTEE_EXACT] &&
	       policy_decide(e->setup.situation.policy, path).data == ACCESS_WRITE;
}

static void decide_socket(const struct explainer *e, struct str path, struct verdict *v)
{
	const struct plan *plan = e->setup.plan;
	const struct op *named = find_op(plan, OP_SOCKET, path);
	const struct op *cover = socket_cover(plan, path);

	v->allowed = named || (!cover && is_unknown_socket(e, path));
	if (named)
		v->by = "unix, which names it";
	else if (v->allowed)
		v->by = "no server is known by this path, and the command may write there";
	if (!cover)
		cover = find_op(plan, OP_COVER_SOCKETS, path);
	if (named || (cover && !v->allowed))
		held(e, named ? named : cover, v);
	else
		v->loose = "no operation of the plan covers it";
}

int verdict_of_socket(const struct explainer *e, struct str path, struct verdict *ret,
		      struct cordon_error *err)
{
	struct verdict v = { .op = "connect", .by = VERDICT_SOCKETS };

	if (is_loose(e, &v))
		v.allowed = !e->setup.situation.policy->confined;
	else
		decide_socket(e, path, &v);
	if (!v.allowed)
		v.fix = remedy_of_socket(e, path);
	if (!v.held_by && !v.loose)
		return err_nomem(err, stage);
	*ret = v;
	return 0;
}

/* --- hosts --------------------------------------------------------------------------------- */

static void hold_network(const struct explainer *e, const struct host_decision *d,
			 struct verdict *v)
{
	enum op_kind kind = d->denied ? OP_NET_DENY : OP_NET_HOST;
	const struct op *found = NULL;

	if (is_loose(e, v))
		return;
	vec_each(op, &e->setup.plan->ops)
		if (op->kind == OP_UNSHARE_NET || op->kind == kind)
			found = op;
	if (found)
		held(e, found, v);
	else
		v->held_by = "nothing: the host's network is shared";
}

/* What is denied stays denied, whatever else is allowed. */
static const char *why_denied(enum layer_id layer)
{
	return layer == LAYER_TRUSTED ? "deny_hosts holds against every list; only taking it back "
					"where it was said changes it"
				      : remedy_why_not(layer);
}

int verdict_of_host(const struct explainer *e, const struct host *target, struct verdict *ret,
		    struct cordon_error *err)
{
	const struct policy *policy = e->setup.situation.policy;
	struct host_decision d = policy_decide_host(policy, target);
	struct verdict v = { .op = "connect", .allowed = d.allowed, .layer = d.layer };
	autobuf struct buf b = buf_make(TEXT_MAX);

	buf_adds(&b, d.denied ? key_rows[KEY_DENY_HOSTS].name : "network");
	if (d.host || d.denied) {
		const struct net_host *by = d.denied ? d.denied : d.host;

		buf_addc(&b, ' ');
		host_print(&b, &by->host);
		v.origin = &by->origin;
	} else {
		buf_addf(&b, " %s", net_mode_to_string(policy_net_mode(policy)));
		v.origin = d.origin ? d.origin : &policy->trusted.net.origin;
	}
	buf_adds(&b, layer_phrase(d.layer));
	v.by = keep(e, &b);
	hold_network(e, &d, &v);
	if (d.denied)
		v.fix.why_not = why_denied(v.layer);
	else if (!v.allowed)
		remedy_of_host(e, target, v.layer, &v.fix);
	if (!v.by || (!v.held_by && !v.loose))
		return err_nomem(err, stage);
	*ret = v;
	return 0;
}
