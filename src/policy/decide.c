/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_decide: the only interpreter of policies. The numbers in comments are the
 * rules of DESIGN 4.
 */
#include "policy/policy.h"

#include <string.h>

#include "base/path.h"
#include "fmt/fold.h"

/* What is decided about, and how many of its components compare only as spelled. */
struct object {
	struct str path;
	size_t exact;
};

static const char *const op_names[] = { "read", "write", "exec", "create" };

const char *policy_op_to_string(enum policy_op op)
{
	return op_names[op];
}

bool policy_op_from_string(struct str text, enum policy_op *ret)
{
	for (unsigned i = 0; i < sizeof(op_names) / sizeof(op_names[0]); i++)
		if (str_eq(text, str_of(op_names[i]))) {
			*ret = i;
			return true;
		}
	return false;
}

const char *layer_id_to_string(enum layer_id layer)
{
	static const char *const names[] = { "trusted",	      "project", "locked",
					     "hidden_writes", "secret",	 "cordon" };

	return names[layer];
}

static enum access access_of(const struct rule *rule)
{
	switch (rule->right) {
	case RIGHT_WRITE:
		return ACCESS_WRITE;
	case RIGHT_READ:
		return ACCESS_READ;
	case RIGHT_DENY:
	case RIGHT_EXEC:
		return ACCESS_NONE;
	}
	return ACCESS_NONE;
}

static void match(const struct ruleset *rules, const struct object *object, struct match *ret)
{
	ruleset_match_folded(rules, object->path, object->exact, ret);
}

static bool in_workdir(const struct policy *policy, const struct object *object)
{
	struct str rest = object->path, workdir = policy->places.workdir, part, wanted;

	for (size_t depth = 0; path_next(&workdir, &wanted); depth++)
		if (!path_next(&rest, &part) ||
		    !(str_eq(part, wanted) || (depth >= object->exact && fold_eq(part, wanted))))
			return false;
	return true;
}

/* A folded name may have something in front of its dot that does not count. */
static bool is_hidden(struct str part, bool folds)
{
	char buffer[2 * PATH_BYTES_MAX];

	if (folds && !fold_text(part, buffer, sizeof(buffer), &part))
		return true;
	return part.n && part.p[0] == '.';
}

/* Depth of the deepest hidden component below the workdir; 0 when there is none. */
static size_t hidden_depth(const struct policy *policy, const struct object *object)
{
	struct str rest = object->path, part;
	size_t above = path_depth(policy->places.workdir), found = 0;

	if (!in_workdir(policy, object))
		return 0;
	for (size_t depth = 0; path_next(&rest, &part); depth++)
		if (depth >= above && is_hidden(part, depth >= object->exact))
			found = depth + 1;
	return found;
}

static bool is_git_data(const struct policy *policy, const struct object *object)
{
	struct match m;

	if (!policy->git_data)
		return false;
	match(policy->git_data, object, &m);
	return m.data.rule != NULL;
}

/* Rule 10: a cap at the depth of the hidden component. It never gives anything, so a
 * deeper rule, or one as deep from a later source, is what lifts it - of the layer that
 * set it, for what a project file closes is not opened from outside (rule 7). */
static void cap_hidden(const struct policy *policy, const struct settings *layer,
		       const struct object *object, const struct match *m, struct decision *d)
{
	const struct setting *hidden = &layer->at[KEY_HIDDEN_WRITES];
	const struct rule *rule = m->data.rule;
	size_t depth;

	if (d->data != ACCESS_WRITE || hidden->number == HIDDEN_ALLOW)
		return;
	depth = hidden_depth(policy, object);
	if (!depth || (rule && m->data.depth > depth) ||
	    (rule && m->data.depth == depth && rule->origin.source > hidden->origin.source))
		return;
	if (hidden->number == HIDDEN_GIT && is_git_data(policy, object))
		return;
	d->data = ACCESS_READ;
	d->data_layer = LAYER_HIDDEN;
}

/* Rule 12: a secret holds unless a user, a flag or a harmless exception reaches at
 * least as deep, or the workdir itself lies inside it. A right to execute does not
 * open what is in it for reading, nor the other way round. */
static void hold_secret(const struct policy *policy, const struct object *object,
			const struct match *m, struct decision *d)
{
	if (!m->secret.rule)
		return;
	if (in_workdir(policy, object) && path_depth(policy->places.workdir) > m->secret.depth)
		return;
	if (!m->opener.rule || m->opener.depth < m->secret.depth) {
		d->data = ACCESS_NONE;
		d->data_rule = m->secret.rule;
		d->data_layer = LAYER_SECRET;
	}
	if (!m->exec_opener.rule || m->exec_opener.depth < m->secret.depth) {
		d->exec = false;
		d->exec_rule = m->secret.rule;
		d->exec_layer = LAYER_SECRET;
	}
}

/* What a control rule says at the depth where it stands, unless a deeper rule, or one as
 * deep from a later source, gives writing back. */
static void cap_control(const struct match *m, struct decision *d)
{
	const struct hit *control = &m->control;

	if (d->data != ACCESS_WRITE || !control->rule || m->data.depth > control->depth ||
	    (m->data.depth == control->depth &&
	     m->data.rule->origin.source > control->rule->origin.source))
		return;
	d->data = ACCESS_READ;
	d->data_rule = control->rule;
}

/* What cannot be told is not allowed. */
static void close_lost(const struct match *m, struct decision *d)
{
	if (!m->lost)
		return;
	d->data = ACCESS_NONE;
	d->exec = false;
}

static struct decision decide_trusted(const struct policy *policy, const struct object *object)
{
	struct decision d = { .data = ACCESS_NONE };
	struct match m;

	match(policy->trusted.rules, object, &m);
	if (m.data.rule)
		d.data = access_of(m.data.rule);
	d.exec = m.exec.rule && m.exec.rule->right == RIGHT_EXEC;
	d.data_rule = m.data.rule;
	d.exec_rule = m.exec.rule;
	d.keep_directory = m.restricted_below;
	d.trusted_rule = m.data.rule;
	d.trusted_depth = m.data.depth;
	cap_control(&m, &d);
	cap_hidden(policy, &policy->trusted, object, &m, &d);
	hold_secret(policy, object, &m, &d);
	close_lost(&m, &d);
	return d;
}

/* The sandbox's own /tmp, /run, /dev and /proc are not the host's: a rule for the tree
 * above them does not speak of them. */
static bool speaks_of(const struct hit *hit, const struct decision *d)
{
	bool own_place = d->trusted_rule && d->trusted_rule->flags & RULE_PRIVATE;

	return hit->rule && (!own_place || hit->depth >= d->trusted_depth);
}

/* Rule 7: a layer that only narrows; what it does not mention it has no opinion on. */
static struct match narrow(const struct ruleset *rules, enum layer_id layer,
			   const struct object *object, struct decision *d)
{
	struct match m;

	match(rules, object, &m);
	if (speaks_of(&m.data, d) && access_of(m.data.rule) < d->data) {
		d->data = access_of(m.data.rule);
		d->data_rule = m.data.rule;
		d->data_layer = layer;
	}
	if (speaks_of(&m.exec, d) && m.exec.rule->right == RIGHT_DENY && d->exec) {
		d->exec = false;
		d->exec_rule = m.exec.rule;
		d->exec_layer = layer;
	}
	d->keep_directory |= m.restricted_below;
	close_lost(&m, d);
	return m;
}

static void narrow_by(const struct policy *policy, const struct settings *layer, enum layer_id id,
		      const struct object *object, struct decision *d)
{
	struct match m = narrow(layer->rules, id, object, d);

	cap_hidden(policy, layer, object, &m, d);
}

static struct decision decide(const struct policy *policy, const struct object *object)
{
	struct decision d = decide_trusted(policy, object);

	vec_each(o, &policy->narrowing)
		narrow_by(policy, &(*o)->settings, (*o)->layer, object, &d);
	narrow(policy->own, LAYER_CORDON, object, &d);
	/* Rule 2: what cannot be read cannot be executed. */
	if (d.data == ACCESS_NONE && d.exec) {
		d.exec = false;
		d.exec_rule = d.data_rule;
		d.exec_layer = d.data_layer;
	}
	return d;
}

/* The directory that folds and has the path below it; NULL when there is none. */
static const struct str *folding_above(const struct policy *policy, struct str path)
{
	vec_each(top, &policy->folding)
		if (path.n > top->n && path_below(path, *top))
			return top;
	return NULL;
}

/* Of each axis the lower verdict, with the rule that gave it. */
static void lower(struct decision *d, const struct decision *by)
{
	if (by->data < d->data) {
		d->data = by->data;
		d->data_rule = by->data_rule;
		d->data_layer = by->data_layer;
	}
	if (!by->exec && d->exec) {
		d->exec = false;
		d->exec_rule = by->exec_rule;
		d->exec_layer = by->exec_layer;
	}
	d->keep_directory |= by->keep_directory;
}

struct decision policy_decide(const struct policy *policy, struct str path)
{
	struct decision d = decide(policy, &(struct object){ path, EXACT_WHOLLY }), folded;
	const struct str *top = folding_above(policy, path);

	if (!top)
		return d;
	folded = decide(policy, &(struct object){ path, path_depth(*top) });
	lower(&d, &folded);
	return d;
}

bool policy_allows(const struct policy *policy, enum policy_op op, struct str object,
		   struct decision *ret)
{
	*ret = policy_decide(policy, object);
	switch (op) {
	case POLICY_READ:
		return ret->data >= ACCESS_READ;
	case POLICY_WRITE:
		return ret->data == ACCESS_WRITE;
	case POLICY_EXEC:
		return ret->exec;
	case POLICY_CREATE:
		return ret->data == ACCESS_WRITE && !ret->keep_directory;
	}
	return false;
}

/* Rule 10 takes the same from both: nothing, or what a component of equal depth does. */
static bool same_hidden(const struct policy *policy, const struct object *a, const struct object *b)
{
	bool capped = policy->trusted.at[KEY_HIDDEN_WRITES].number != HIDDEN_ALLOW;

	vec_each(o, &policy->narrowing)
		capped |= (*o)->settings.at[KEY_HIDDEN_WRITES].number != HIDDEN_ALLOW;
	return !capped || hidden_depth(policy, a) == hidden_depth(policy, b);
}

static bool same_below(const struct policy *policy, struct str a, struct str b, size_t exact)
{
	struct object at_a = { a, exact }, at_b = { b, exact };

	/* Being in the workdir counts by itself (rules 10 and 12). */
	if (in_workdir(policy, &at_a) != in_workdir(policy, &at_b) ||
	    !same_hidden(policy, &at_a, &at_b))
		return false;
	vec_each(o, &policy->narrowing)
		if (!ruleset_same_below((*o)->settings.rules, a, b, exact))
			return false;
	return ruleset_same_below(policy->trusted.rules, a, b, exact) &&
	       ruleset_same_below(policy->own, a, b, exact) &&
	       ruleset_same_below(policy->git_data, a, b, exact);
}

bool policy_same_folding(const struct policy *policy, struct str a, struct str b)
{
	vec_each(top, &policy->folding)
		if (path_below(*top, a) || path_below(*top, b))
			return false;
	return folding_above(policy, a) == folding_above(policy, b);
}

bool policy_same_below(const struct policy *policy, struct str a, struct str b)
{
	struct str workdir = policy->places.workdir;
	const struct str *top = folding_above(policy, a);

	if (path_below(workdir, a) || path_below(workdir, b) || !policy_same_folding(policy, a, b))
		return false;
	/* A workdir in a directory that folds has more spellings than one. */
	if (top && path_below(workdir, *top) && !path_below(a, workdir))
		return false;
	return same_below(policy, a, b, EXACT_WHOLLY) &&
	       (!top || same_below(policy, a, b, path_depth(*top)));
}

/* What one opinion says of a host. */
static bool net_allows(const struct net *net, const struct host *target,
		       const struct net_host **ret_host)
{
	if (net->mode == NET_ON)
		return true;
	if (net->mode == NET_OFF)
		return false;
	vec_each(h, &net->hosts)
		if (host_covers(&h->host, target)) {
			*ret_host = h;
			return true;
		}
	return false;
}

static const struct net_host *find_denied(const struct policy *policy, const struct host *target)
{
	vec_each(h, &policy->denied)
		if (host_covers(&h->host, target))
			return h;
	return NULL;
}

static const struct net_host *find_denied_local(const struct policy *policy, uint16_t port)
{
	static const struct str spellings[] = { STR("localhost"), STR("127.0.0.1"), STR("[::1]") };
	const struct net_host *found = NULL;

	for (size_t i = 0; !found && i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		struct cordon_error ignored;
		struct host h;

		if (host_parse_target(spellings[i], &h, &ignored) < 0)
			continue;
		h.port = port;
		found = find_denied(policy, &h);
	}
	return found;
}

const struct net_host *policy_denies_host(const struct policy *policy, const struct host *target)
{
	const struct net_host *found = policy->denied.n ? find_denied(policy, target) : NULL;

	if (!found && policy->denied.n && host_is_local(target))
		found = find_denied_local(policy, target->port);
	return found;
}

static enum layer_id layer_of(const struct origin *o)
{
	return o->source == SOURCE_PROJECT  ? LAYER_PROJECT
	       : o->source == SOURCE_LOCKED ? LAYER_LOCKED
					    : LAYER_TRUSTED;
}

struct host_decision policy_decide_host(const struct policy *policy, const struct host *target)
{
	const struct net *trusted = &policy->trusted.net;
	struct host_decision first = { .origin = trusted->set ? &trusted->origin : NULL };

	first.allowed = net_allows(trusted, target, &first.host);
	if (!first.allowed)
		return first;
	first.denied = policy_denies_host(policy, target);
	if (first.denied)
		return (struct host_decision){ .layer = layer_of(&first.denied->origin),
					       .denied = first.denied,
					       .origin = &first.denied->origin };
	vec_each(o, &policy->narrowing) {
		const struct net *net = &(*o)->settings.net;
		struct host_decision d = { .layer = (*o)->layer, .origin = &net->origin };

		if (net->set && !net_allows(net, target, &d.host))
			return d;
	}
	return first;
}
