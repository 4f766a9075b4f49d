/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy in force as TOML. It defines one profile that extends nothing, so that
 * loading it gives the same values whatever the built-in profiles become.
 */
#include "cli/show.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "cli/effective.h"
#include "fmt/json.h"
#include "fmt/toml.h"
#include "policy/hosts.h"

static void print_from(struct buf *b, const struct origin *origin)
{
	buf_adds(b, "  # ");
	origin_print(b, origin);
}

/* The value as TOML writes it. */
static void print_value(struct buf *b, enum key key, const struct setting *s)
{
	autobuf struct buf text = buf_make(256);

	switch (key_rows[key].type) {
	case TYPE_BOOL:
		buf_adds(b, s->number ? "true" : "false");
		return;
	case TYPE_COUNT:
		if (s->number) {
			buf_addf(b, "%" PRIu64, s->number);
			return;
		}
		break;
	case TYPE_DURATION:
		if (s->number)
			num_print_duration(&text, s->number);
		break;
	case TYPE_SIZE:
		if (s->number)
			num_print_size(&text, s->number);
		break;
	case TYPE_CHOICE:
		buf_adds(&text, choice_to_string(key_rows[key].choices, (unsigned)s->number));
		break;
	case TYPE_NAME:
		buf_add(&text, s->text);
		break;
	case TYPE_PATHS:
	case TYPE_PATTERNS:
	case TYPE_PORTS:
	case TYPE_PUBLISH:
	case TYPE_HOSTS:
	case TYPE_NETWORK:
	case TYPE_NAMES:
	case TYPE_ENVIRON:
		break;
	}
	if (!text.n)
		buf_adds(&text, "none");
	toml_print_string(b, buf_str(&text));
}

static bool is_scalar(enum key key)
{
	return !key_type_is_list(key_rows[key].type);
}

static void print_setting(struct buf *b, const struct policy *policy, enum key key)
{
	const struct setting *s = &policy->effective[key];

	if (!s->set)
		return;
	buf_addf(b, "%s = ", key_rows[key].name);
	print_value(b, key, s);
	print_from(b, &s->origin);
	buf_addc(b, '\n');
}

static void print_sandbox(struct buf *b, const struct policy *policy)
{
	buf_adds(b, "[sandbox]\n");
	if (policy->confined)
		print_setting(b, policy, KEY_ENABLED);
	else
		buf_addf(b, "enabled = false  # %s\n", policy->unconfined_reason);
	buf_adds(b, "default_profile = \"" SHOW_PROFILE "\"  # profile ");
	buf_add_escaped(b, str_of(policy->profile));
	buf_adds(b, " and everything on top of it\n");
	print_setting(b, policy, KEY_FALLBACK);
	print_setting(b, policy, KEY_BACKEND);
	/* Said in a file it would choose its own profile. */
	buf_adds(b, "# already applied: ");
	print_setting(b, policy, KEY_MODE);
}

static void print_rule(struct buf *b, const struct effective_rule *e)
{
	autobuf struct buf path = buf_make((size_t)64 << 10);

	effective_print_rule_path(&path, e->rule);
	buf_adds(b, e->absent ? "\t# absent here: " : "\t");
	toml_print_string(b, buf_str(&path));
	buf_addc(b, ',');
	print_from(b, &e->rule->origin);
	if (e->rule->set)
		buf_addf(b, " @%s", e->rule->set);
	if (e->remark)
		buf_addf(b, " (%s)", e->remark);
	buf_addc(b, '\n');
}

static void print_rules(struct buf *b, const struct effective *rules, enum right right)
{
	bool any = false;

	vec_each(e, &rules->rules) {
		if (e->right != right)
			continue;
		if (!any)
			buf_addf(b, "%s = [\n", right_to_string(right));
		any = true;
		print_rule(b, e);
	}
	if (any)
		buf_adds(b, "]\n");
}

static void print_host(struct buf *b, const struct net_host *h)
{
	autobuf struct buf text = buf_make(512);

	host_print(&text, &h->host);
	buf_adds(b, "\t");
	toml_print_string(b, buf_str(&text));
	buf_addc(b, ',');
	print_from(b, &h->origin);
	buf_addc(b, '\n');
}

static const struct net *deciding_net(const struct policy *policy)
{
	enum net_mode mode = policy_net_mode(policy);

	if (policy->trusted.net.mode == mode)
		return &policy->trusted.net;
	vec_each(o, &policy->narrowing)
		if ((*o)->settings.net.set && (*o)->settings.net.mode == mode)
			return &(*o)->settings.net;
	return &policy->trusted.net;
}

static void print_network(struct buf *b, const struct policy *policy)
{
	enum net_mode mode = policy_net_mode(policy);
	const struct net *net = deciding_net(policy);

	if (mode == NET_LIST) {
		buf_adds(b, "network = [\n");
		vec_each(h, &policy->hosts)
			print_host(b, h);
		buf_adds(b, "]\n");
		return;
	}
	buf_addf(b, "network = \"%s\"", net_mode_to_string(mode));
	if (net->set)
		print_from(b, &net->origin);
	buf_addc(b, '\n');
}

/* A bare NAME of --env hands on the caller's value, which a file calls env.pass. */
static bool is_pass(const struct statement *s)
{
	return s->key == KEY_ENV_PASS ||
	       (s->key == KEY_ENV_SET && str_find(s->text, '=') == s->text.n);
}

static void print_item(struct buf *b, const struct statement *s)
{
	buf_adds(b, "\t");
	if (key_rows[s->key].type == TYPE_PORTS)
		buf_addf(b, "%" PRIu64, s->number);
	else
		toml_print_string(b, s->text);
	buf_addc(b, ',');
	print_from(b, &s->origin);
	buf_addc(b, '\n');
}

static void print_list(struct buf *b, const struct policy *policy, enum key key)
{
	bool any = false;

	for (unsigned k = 0; k < KEY_COUNT; k++)
		vec_each(s, &policy->effective_lists[k].items) {
			if (key == KEY_ENV_PASS ? !is_pass(s) : s->key != key)
				continue;
			if (!any)
				buf_addf(b, "%s = [\n", key_rows[key].name);
			any = true;
			print_item(b, s);
		}
	if (any)
		buf_adds(b, "]\n");
}

/* Of two with one name the later one counts. */
static bool is_last(const struct item_list *list, size_t i)
{
	struct str name, other, value;

	str_cut(list->items.at[i].text, '=', &name, &value);
	for (size_t k = i + 1; k < list->items.n; k++) {
		str_cut(list->items.at[k].text, '=', &other, &value);
		if (str_eq(name, other))
			return false;
	}
	return true;
}

static void print_variables(struct buf *b, const struct policy *policy)
{
	const struct item_list *list = &policy->effective_lists[KEY_ENV_SET];

	for (size_t i = 0; i < list->items.n; i++) {
		const struct statement *s = &list->items.at[i];
		struct str name, value;

		if (is_pass(s) || !is_last(list, i))
			continue;
		str_cut(s->text, '=', &name, &value);
		if (!str_is_utf8(value)) {
			buf_addf(b, "# env.set.%.*s: not UTF-8, so a file cannot hold it\n",
				 STR_ARG(name));
			continue;
		}
		buf_adds(b, "env.set.");
		toml_print_key(b, name);
		buf_adds(b, " = ");
		toml_print_string(b, value);
		print_from(b, &s->origin);
		buf_addc(b, '\n');
	}
}

static void print_profile(struct buf *b, const struct policy *policy,
			  const struct effective *rules)
{
	static const enum key lists[] = { KEY_DENY_HOSTS, KEY_UNIX,	KEY_BIND,
					  KEY_PUBLISH,	  KEY_CACHES,	KEY_ENV_PASS,
					  KEY_ENV_UNSET };

	buf_adds(b, "\n[sandbox.profiles." SHOW_PROFILE "]\n");
	print_rules(b, rules, RIGHT_READ);
	print_rules(b, rules, RIGHT_WRITE);
	print_rules(b, rules, RIGHT_EXEC);
	print_rules(b, rules, RIGHT_DENY);
	print_network(b, policy);
	for (unsigned k = 0; k < KEY_COUNT; k++)
		if (is_scalar(k) && key_rows[k].scope == SCOPE_PROFILE && k != KEY_EXTENDS)
			print_setting(b, policy, k);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		print_list(b, policy, lists[i]);
	print_variables(b, policy);
}

#define IDLE "  no effect: "
#define WIDENS "it would widen"

/* Why a rule of a project file does nothing; NULL when it narrows or might. */
static const char *why_no_effect(const struct policy *policy, const struct rule *rule)
{
	struct decision d;

	if (rule->right == RIGHT_EXEC)
		return "a project file cannot allow executing";
	if (rule->kind == RULE_GLOB || rule->right == RIGHT_DENY)
		return NULL;
	d = policy_decide(policy, rule->path);
	if (rule->right == RIGHT_WRITE && d.data < ACCESS_WRITE)
		return WIDENS ": writing is not allowed there";
	if (rule->right == RIGHT_READ && d.data < ACCESS_READ)
		return WIDENS ": reading is not allowed there";
	return NULL;
}

static void print_said(struct buf *b, const struct origin *origin, const char *what)
{
	buf_adds(b, "#   ");
	origin_print(b, origin);
	buf_addf(b, ": %s ", what);
}

static void print_project_rules(struct buf *b, const struct policy *policy,
				const struct ruleset *rules)
{
	for (size_t i = 0; i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);
		const char *why = why_no_effect(policy, rule);

		if (rule->flags & RULE_ALIAS)
			continue;
		print_said(b, &rule->origin, right_to_string(rule->right));
		buf_add_escaped(b, rule->spelled);
		if (why)
			buf_addf(b, IDLE "%s", why);
		buf_addc(b, '\n');
	}
}

static bool same_origin(const struct origin *x, const struct origin *y)
{
	return x->source == y->source && x->line == y->line && strcmp(x->file, y->file) == 0;
}

static void print_project_settings(struct buf *b, const struct policy *policy,
				   const struct settings *project)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct setting *s = &project->at[k];

		if (!s->set)
			continue;
		print_said(b, &s->origin, key_rows[k].name);
		buf_adds(b, "= ");
		print_value(b, k, s);
		if (!same_origin(&policy->effective[k].origin, &s->origin))
			buf_adds(b, IDLE "what holds already is as strict or stricter");
		buf_addc(b, '\n');
	}
}

static bool host_holds(const struct policy *policy, const struct host *host)
{
	vec_each(h, &policy->hosts)
		if (host_covers(&h->host, host))
			return true;
	return false;
}

static void print_project_network(struct buf *b, const struct policy *policy,
				  const struct net *net)
{
	enum net_mode mode = policy_net_mode(policy);

	if (!net->set)
		return;
	if (mode < net->mode || net->mode != NET_LIST) {
		print_said(b, &net->origin, "network");
		buf_addf(b, "= \"%s\"", net_mode_to_string(net->mode));
		if (mode < net->mode)
			buf_addf(b, IDLE WIDENS " (the network is %s)",
				 net_mode_to_string(mode));
		buf_addc(b, '\n');
		return;
	}
	vec_each(h, &net->hosts) {
		print_said(b, &h->origin, "network");
		host_print(b, &h->host);
		if (!host_holds(policy, &h->host))
			buf_adds(b, IDLE WIDENS " (not in the list that holds)");
		buf_addc(b, '\n');
	}
}

static void print_project(struct buf *b, const struct policy *policy, const struct opinion *o)
{
	buf_adds(b, "\n# The project file ");
	buf_add_escaped(b, str_of(o->file));
	buf_adds(b, ", which can only narrow; its effect is contained above.\n");
	print_project_rules(b, policy, o->settings.rules);
	print_project_settings(b, policy, &o->settings);
	print_project_network(b, policy, &o->settings.net);
}

void show_idle(struct buf *b, const struct policy *policy)
{
	autobuf struct buf said = buf_make((size_t)1 << 20);
	struct str line, rest;

	vec_each(o, &policy->narrowing)
		if ((*o)->layer == LAYER_PROJECT)
			print_project(&said, policy, *o);
	b->failed |= said.failed;
	for (rest = buf_str(&said); str_cut(rest, '\n', &line, &rest);)
		if (line.n > 4 && memmem(line.p, line.n, IDLE, sizeof(IDLE) - 1))
			buf_addf(b, "%.*s\n", STR_ARG(str_skip(line, 4)));
}

bool show_widens(const struct policy *policy)
{
	autobuf struct buf idle = buf_make((size_t)1 << 20);

	show_idle(&idle, policy);
	return idle.n && memmem(idle.p, idle.n, WIDENS, sizeof(WIDENS) - 1);
}

int show_toml(struct arena *a, const struct policy *policy, struct buf *b,
	      struct cordon_error *err)
{
	struct effective rules;
	int r = effective_rules(a, policy, &rules, err);

	if (r < 0)
		return r;
	buf_adds(b, "# The configuration in force, and where each value came from.\n");
	print_sandbox(b, policy);
	print_profile(b, policy, &rules);
	vec_each(o, &policy->narrowing)
		if ((*o)->layer == LAYER_PROJECT)
			print_project(b, policy, *o);
	return b->failed ? err_nomem(err, "config") : 0;
}

/* --- JSON ---------------------------------------------------------------------------- */

static bool set_from(json_t *row, const struct origin *origin)
{
	autobuf struct buf b = buf_make(16384);

	origin_print(&b, origin);
	return json_set_text(row, "from", buf_str(&b));
}

static json_t *setting_to_json(enum key key, const struct setting *s)
{
	json_t *row = json_object(), *value = NULL;

	switch (key_rows[key].type) {
	case TYPE_BOOL:
		value = json_boolean(s->number);
		break;
	case TYPE_CHOICE:
		value = json_string(choice_to_string(key_rows[key].choices, (unsigned)s->number));
		break;
	case TYPE_NAME:
		value = json_stringn(s->text.p, s->text.n);
		break;
	case TYPE_DURATION:
	case TYPE_SIZE:
	case TYPE_COUNT:
		value = s->number ? json_integer((json_int_t)s->number) : json_null();
		break;
	case TYPE_PATHS:
	case TYPE_PATTERNS:
	case TYPE_PORTS:
	case TYPE_PUBLISH:
	case TYPE_HOSTS:
	case TYPE_NETWORK:
	case TYPE_NAMES:
	case TYPE_ENVIRON:
		break;
	}
	if (row && json_object_set_new(row, "value", value) == 0 && set_from(row, &s->origin))
		return row;
	json_decref(row);
	return NULL;
}

static json_t *settings_to_json(const struct policy *policy)
{
	json_t *all = json_object();

	for (unsigned k = 0; k < KEY_COUNT && all; k++)
		if (is_scalar(k) && policy->effective[k].set &&
		    json_object_set_new(all, key_rows[k].name,
					setting_to_json(k, &policy->effective[k])) < 0) {
			json_decref(all);
			all = NULL;
		}
	return all;
}

static json_t *rules_to_json(const struct effective *rules)
{
	json_t *list = json_array();
	int bad = !list;

	vec_each(e, &rules->rules) {
		json_t *row = json_pack("{s:s, s:s, s:b}", "right", right_to_string(e->right),
					"kind", e->rule->kind == RULE_GLOB    ? "glob" :
						e->rule->kind == RULE_EXACT ? "exact" :
									      "subtree",
					"absent", e->absent);

		bad |= !row || !json_set_text(row, "path", e->rule->path) ||
		       !set_from(row, &e->rule->origin);
		bad |= json_array_append_new(list, row);
	}
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *hosts_to_json(const struct policy *policy)
{
	json_t *list = json_array();

	vec_each(h, &policy->hosts) {
		autobuf struct buf b = buf_make(512);

		host_print(&b, &h->host);
		json_array_append_new(list, json_stringn(b.p, b.n));
	}
	return list;
}

static json_t *lists_to_json(const struct policy *policy)
{
	json_t *all = json_object();

	for (unsigned k = 0; k < KEY_COUNT && all; k++) {
		json_t *list;

		if (!policy->effective_lists[k].items.n)
			continue;
		list = json_array();
		vec_each(s, &policy->effective_lists[k].items) {
			json_t *row = json_object();

			if (!row || !json_set_text(row, "value", s->text) ||
			    !set_from(row, &s->origin)) {
				json_decref(row);
				row = NULL;
			}
			json_array_append_new(list, row);
		}
		json_object_set_new(all, key_rows[k].name, list);
	}
	return all;
}

int show_json(struct arena *a, const struct policy *policy, json_t **ret,
	      struct cordon_error *err)
{
	struct effective rules;
	json_t *root;
	int r = effective_rules(a, policy, &rules, err);

	if (r < 0)
		return r;
	root = json_pack("{s:b, s:o, s:o, s:o, s:s, s:o}", "confined", policy->confined, "settings",
			 settings_to_json(policy), "rules", rules_to_json(&rules), "lists",
			 lists_to_json(policy), "network",
			 net_mode_to_string(policy_net_mode(policy)), "hosts",
			 hosts_to_json(policy));
	if (!root || !json_set_text(root, "profile", str_of(policy->profile))) {
		json_decref(root);
		return err_nomem(err, "config");
	}
	*ret = root;
	return 0;
}
