/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_build: folds the layers of the trusted sources in order (choose.c says which),
 * evaluates each project file and the locked rules on their own, and narrows.
 */
#include "policy/build_in.h"

#include <string.h>

#include "base/path.h"
#include "policy/caches.h"
#include "policy/resolve.h"
#include "policy/warnings.h"

/* --- folding --------------------------------------------------------------------- */

static int fold_network(struct builder *b, struct net *net, const struct statement *s)
{
	struct net_host *slot;
	bool word = str_eq(s->text, STR("on")) || str_eq(s->text, STR("off"));

	if (word || s->empty || net->mode != NET_LIST || !net->set) {
		net->mode = !word ? NET_LIST : str_eq(s->text, STR("on")) ? NET_ON : NET_OFF;
		net->hosts.n = 0;
	}
	net->set = true;
	net->origin = s->origin;
	if (word || s->empty)
		return 0;
	slot = vec_push(&net->hosts, b->arena);
	if (!slot)
		return err_nomem(b->err, "policy");
	slot->origin = s->origin;
	return host_parse(s->text, &slot->host, b->err);
}

static int fold_list(struct builder *b, struct item_list *list, const struct statement *s)
{
	struct statement *slot;

	list->set = true;
	if (s->empty) {
		list->items.n = 0;
		return 0;
	}
	if (s->key == KEY_CACHES) {
		int r = cache_check_name(s, b->err);

		if (r < 0)
			return r;
	}
	slot = vec_push(&list->items, b->arena);
	if (!slot)
		return err_nomem(b->err, "policy");
	*slot = *s;
	return 0;
}

static int fold_statement(struct builder *b, struct settings *to, const struct statement *s)
{
	enum key_type type = key_rows[s->key].type;

	if (type == TYPE_PATHS)
		return s->empty ? 0
				: resolve_statement(b->arena, b->in->world, &b->policy->places, s,
						    to->rules, b->err);
	if (type == TYPE_NETWORK)
		return fold_network(b, &to->net, s);
	if (key_type_is_list(type))
		return fold_list(b, &to->lists[s->key], s);
	to->at[s->key] = (struct setting){
		.set = true,
		.number = s->number,
		.text = s->text,
		.origin = s->origin,
	};
	return 0;
}

static int fold_layer(struct builder *b, struct settings *to, const struct layer *layer)
{
	vec_each(s, &layer->statements) {
		int r = fold_statement(b, to, s);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Later sources win, so a profile written in the user's file comes after the
 * system's settings (rule 5). */
static int fold_trusted(struct builder *b)
{
	for (enum source source = SOURCE_PROFILE; source <= SOURCE_FLAGS; source++)
		vec_each(layer, &b->layers) {
			const struct statement *first = (*layer)->statements.at;
			int r = 0;

			if ((*layer)->statements.n && first->origin.source == source)
				r = fold_layer(b, &b->policy->trusted, *layer);
			if (r < 0)
				return r;
		}
	return 0;
}

/* --- what is always there ----------------------------------------------------------- */

static const struct {
	enum right right;
	const char *path;
	bool only_private_tmp;
} private_places[] = {
	{ RIGHT_WRITE, "/dev", false },	   { RIGHT_WRITE, "/dev/shm", false },
	{ RIGHT_WRITE, "/proc", false },   { RIGHT_READ, "/proc/sys", false },
	{ RIGHT_WRITE, "/run", false },	   { RIGHT_WRITE, "/tmp", true },
	{ RIGHT_WRITE, "/var/tmp", true },
};

/* Where the place is a symlink, what it leads to is the sandbox's own and the link stays
 * a link. */
static int add_private(struct builder *b, struct rule *rule)
{
	struct ruleset *rules = b->policy->trusted.rules;
	struct rule link = *rule;
	struct str real;
	int r = b->in->world->resolve(b->in->world, b->arena, rule->path, &real, &rule->node,
				      b->err);

	if (r < 0)
		return r;
	if (!str_eq(real, rule->path)) {
		link.flags = RULE_OPTIONAL | RULE_VIA_LINK;
		r = ruleset_add(rules, &link, b->err);
		rule->path = real;
		rule->flags |= RULE_ALIAS;
	}
	return r < 0 ? r : ruleset_add(rules, rule, b->err);
}

/* The sandbox's own /dev, /proc, /run and /tmp. */
static int add_private_places(struct builder *b)
{
	static const struct origin own = { SOURCE_PROFILE, "the sandbox's own directories", 0, 0 };
	bool private_tmp = policy_number(b->policy, KEY_TMP) == TMP_PRIVATE;

	for (size_t i = 0; i < sizeof(private_places) / sizeof(private_places[0]); i++) {
		struct rule rule = {
			.right = private_places[i].right,
			.kind = RULE_SUBTREE,
			.flags = RULE_PRIVATE | RULE_OPTIONAL,
			.origin = own,
			.path = str_of(private_places[i].path),
		};
		int r;

		if (private_places[i].only_private_tmp && !private_tmp)
			continue;
		rule.spelled = rule.path;
		r = add_private(b, &rule);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_shared_tmp(struct builder *b)
{
	struct statement s = {
		.key = KEY_WRITE,
		.text = STR("{tmp}"),
		.origin = b->policy->effective[KEY_TMP].origin,
	};

	if (policy_number(b->policy, KEY_TMP) != TMP_SHARED)
		return 0;
	return resolve_statement(b->arena, b->in->world, &b->policy->places, &s,
				 b->policy->trusted.rules, b->err);
}

/* Rule 12: cordon's own home is closed, whoever says otherwise. */
static int close_own_home(struct builder *b)
{
	struct policy *p = b->policy;
	struct rule rule = {
		.right = RIGHT_DENY,
		.kind = RULE_SUBTREE,
		.flags = RULE_OPTIONAL,
		.origin = { SOURCE_CORDON, "cordon's own home", 0, 0 },
	};
	struct str real;
	int r;

	/* Both spellings, like any other rule. */
	p->own = ruleset_new(b->arena);
	if (!p->own)
		return err_nomem(b->err, "policy");
	if (!p->places.cordon_home.n)
		return 0;
	rule.path = rule.spelled = p->places.cordon_home;
	r = b->in->world->resolve(b->in->world, b->arena, rule.path, &real, &rule.node, b->err);
	if (r == 0)
		r = ruleset_add(p->own, &rule, b->err);
	if (r < 0 || str_eq(real, rule.path))
		return r;
	rule.path = real;
	rule.flags |= RULE_ALIAS;
	return ruleset_add(p->own, &rule, b->err);
}

static int keep_file(struct builder *b, const char *path, const char *what)
{
	struct ruleset *rules = b->policy->trusted.rules;
	struct rule rule = {
		.right = RIGHT_READ,
		.kind = RULE_SUBTREE,
		.flags = RULE_CONTROL | RULE_OPTIONAL,
		.origin = { SOURCE_PROFILE, what, 0, 0 },
		.path = str_of(path),
		.spelled = str_of(path),
	};
	struct str real;
	int r;

	/* What is read from elsewhere to be checked has no place. */
	if (!path_is_normal(rule.path))
		return 0;
	r = b->in->world->resolve(b->in->world, b->arena, rule.path, &real, &rule.node, b->err);
	if (r == 0)
		r = ruleset_add(rules, &rule, b->err);
	if (r < 0 || str_eq(real, rule.path))
		return r;
	rule.path = real;
	rule.flags |= RULE_ALIAS;
	return ruleset_add(rules, &rule, b->err);
}

/* What decides on the next run too: project files, wherever above the workdir they lie, and
 * the settings that were named. */
static int keep_policy_files(struct builder *b)
{
	int r = 0;

	for (const struct config *c = b->in->project; c && r == 0; c = c->above)
		r = keep_file(b, c->origin.file, "the project file itself");
	if (r == 0 && b->in->settings)
		r = keep_file(b, b->in->settings->file, "the settings file itself");
	return r;
}

/* What the file says that has no place in the policy, said once. */
static int tell_settings(struct builder *b)
{
	for (size_t i = 0; b->in->settings && i < b->in->settings->warnings.n; i++) {
		const char **slot = vec_push(&b->policy->warnings, b->arena);

		if (!slot)
			return err_nomem(b->err, "policy");
		*slot = b->in->settings->warnings.at[i];
	}
	return 0;
}

static bool exempts_git(const struct settings *layer)
{
	return layer->at[KEY_HIDDEN_WRITES].number == HIDDEN_GIT;
}

static int add_git_data(struct builder *b)
{
	struct statement s = { .key = KEY_WRITE,
			       .text = STR("@git-data"),
			       .origin = { SOURCE_PROFILE, "hidden_writes", 0, 0 } };

	bool wanted = exempts_git(&b->policy->trusted);

	b->policy->git_data = ruleset_new(b->arena);
	if (!b->policy->git_data)
		return err_nomem(b->err, "policy");
	vec_each(o, &b->policy->narrowing)
		wanted |= exempts_git(&(*o)->settings);
	if (!wanted)
		return 0;
	return resolve_statement(b->arena, b->in->world, &b->policy->places, &s,
				 b->policy->git_data, b->err);
}

/* --- narrowing ------------------------------------------------------------------------ */

/* Is b stricter than a? 0 as a limit means none. */
static bool stricter(enum key key, uint64_t a, uint64_t b)
{
	bool limit = key_rows[key].type == TYPE_DURATION || key_rows[key].type == TYPE_SIZE ||
		     key_rows[key].type == TYPE_COUNT;

	if (key_rows[key].narrow == NARROW_LOWER)
		return limit ? b && (!a || b < a) : b < a;
	return b > a;
}

/* Asked of what the trusted sources say: two project files may differ. */
static int check_lowering(struct builder *b, enum key key, const struct setting *s)
{
	const struct key_row *row = &key_rows[key];
	uint64_t trusted = b->policy->trusted.at[key].number;

	if (row->narrow != NARROW_RAISE || s->number >= trusted ||
	    s->origin.source != SOURCE_PROJECT)
		return 0;
	return origin_error(b->err, CORDON_E_CONFIG, "policy", &s->origin,
			    "a project file may not lower %s from \"%s\" to \"%s\"", row->name,
			    choice_to_string(row->choices, (unsigned)trusted),
			    choice_to_string(row->choices, (unsigned)s->number));
}

static int narrow_scalars(struct builder *b, const struct settings *by)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct setting *s = &by->at[k];
		struct setting *now = &b->policy->effective[k];
		int r = s->set ? check_lowering(b, k, s) : 0;

		if (r < 0)
			return r;
		if (!s->set)
			continue;
		if (stricter(k, now->number, s->number))
			*now = *s;
	}
	return 0;
}

static int narrow_lists(struct builder *b, const struct settings *by)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct item_list *theirs = &by->lists[k];
		struct item_list *now = &b->policy->effective_lists[k];
		int r = 0;

		if (key_rows[k].narrow == NARROW_JOIN)
			for (size_t i = 0; i < theirs->items.n && r == 0; i++)
				r = fold_list(b, now, &theirs->items.at[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_lists(struct builder *b)
{
	for (unsigned k = 0; k < KEY_COUNT; k++)
		vec_each(item, &b->policy->trusted.lists[k].items) {
			int r = fold_list(b, &b->policy->effective_lists[k], item);

			if (r < 0)
				return r;
		}
	return 0;
}

static int narrow_by(struct builder *b, enum layer_id id, const char *file,
		     const struct layer *layer)
{
	struct opinion **slot = vec_push(&b->policy->narrowing, b->arena);
	struct opinion *o = arena_new(b->arena, struct opinion);
	int r;

	if (!slot || !o)
		return err_nomem(b->err, "policy");
	*slot = o;
	*o = (struct opinion){ .layer = id, .file = file };
	o->settings.rules = ruleset_new(b->arena);
	if (!o->settings.rules)
		return err_nomem(b->err, "policy");
	r = fold_layer(b, &o->settings, layer);
	if (r == 0)
		r = narrow_scalars(b, &o->settings);
	return r < 0 ? r : narrow_lists(b, &o->settings);
}

static int narrow_all(struct builder *b)
{
	const struct config *system = b->in->system;
	int r = 0;

	for (const struct config *c = b->in->project; c && r == 0; c = c->above)
		r = narrow_by(b, LAYER_PROJECT, c->origin.file, &c->sandbox);
	if (r == 0 && system && system->locked.statements.n)
		r = narrow_by(b, LAYER_LOCKED, system->origin.file, &system->locked);
	return r;
}

bool policy_is_locked(const struct policy *policy)
{
	vec_each(o, &policy->narrowing)
		if ((*o)->layer == LAYER_LOCKED)
			return true;
	return false;
}

uint64_t policy_number(const struct policy *policy, enum key key)
{
	return policy->effective[key].number;
}

const char *net_mode_to_string(enum net_mode mode)
{
	static const char *const names[] = { "off", "list", "on" };

	return names[mode];
}

/* An empty list allows nothing, so it counts as off. */
static enum net_mode effective_mode(const struct net *net)
{
	return net->mode == NET_LIST && !net->hosts.n ? NET_OFF : net->mode;
}

enum net_mode policy_net_mode(const struct policy *policy)
{
	enum net_mode mode = effective_mode(&policy->trusted.net);

	vec_each(o, &policy->narrowing) {
		const struct net *net = &(*o)->settings.net;

		if (net->set && effective_mode(net) < mode)
			mode = effective_mode(net);
	}
	return mode;
}

/* Nobody but the system's administrator may lift what he locked, so with locked rules
 * there is no running without confinement. */
static int hold_locked(struct builder *b)
{
	const struct config *system = b->in->system;

	if (b->policy->confined || !system || !system->locked.statements.n)
		return 0;
	err_set(b->err, CORDON_E_CONFIG, 0, "policy", "%s locks rules, which %s would lift",
		system->origin.file, b->policy->unconfined_reason);
	return err_hint(b->err, "run confined, or ask whoever administers this machine");
}

static int build_trusted(struct builder *b)
{
	struct policy *p = b->policy;
	int r;

	p->trusted.rules = ruleset_new(b->arena);
	if (!p->trusted.rules || !ruleset_reserve(p->trusted.rules))
		return err_nomem(b->err, "policy");
	r = build_collect_layers(b);
	if (r == 0)
		r = fold_trusted(b);
	memcpy(p->effective, p->trusted.at, sizeof(p->effective));
	return r < 0 ? r : copy_lists(b);
}

int policy_build(struct arena *a, const struct policy_input *in, struct policy **ret,
		 struct cordon_error *err)
{
	struct policy *p = arena_new(a, struct policy);
	struct builder b = { .arena = a, .in = in, .policy = p, .err = err };
	int r;

	if (!p)
		return err_nomem(err, "policy");
	p->arena = a;
	p->places = in->places;
	r = build_trusted(&b);
	if (r == 0)
		r = hold_locked(&b);
	if (r == 0)
		r = narrow_all(&b);
	if (r == 0)
		r = build_denied_hosts(&b);
	if (r == 0)
		r = build_hosts(&b);
	if (r == 0)
		r = add_private_places(&b);
	if (r == 0)
		r = add_shared_tmp(&b);
	if (r == 0)
		r = close_own_home(&b);
	if (r == 0)
		r = keep_policy_files(&b);
	if (r == 0)
		r = add_git_data(&b);
	if (r == 0)
		r = build_aliases(&b);
	if (r == 0)
		r = build_folding(&b);
	if (r == 0)
		r = build_caches(&b);
	if (r == 0)
		r = build_shared_tmp(&b);
	if (r == 0)
		r = tell_settings(&b);
	if (r == 0)
		r = policy_warn(p, err);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}
