/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to a policy, tried in turn until one allows what is refused. */
#include "cli/remedy.h"

#include <string.h>

#include "base/path.h"
#include "cli/effective.h"
#include "cli/installed.h"
#include "cli/out.h"
#include "cli/pretend.h"
#include "fmt/toml.h"
#include "policy/environ.h"
#include "policy/warnings.h"
#include "report/changes.h"
#include "report/learn.h"
#include "run/program.h"

#define stage "explain"
#define TEXT_MAX ((size_t)64 << 10)
#define TRY_BYTES_MAX ((size_t)64 << 20)

static const char *keep(const struct explainer *e, const struct buf *b)
{
	return b->failed ? "" : arena_dup(e->opts->arena, buf_str(b));
}

/* An error may quote a name that the command chose. */
static const char *remark(const struct explainer *e, const struct cordon_error *err)
{
	autobuf struct buf b = buf_make(TEXT_MAX);

	buf_add_escaped(&b, str_of(err->message));
	return keep(e, &b);
}

/* For KEY_NETWORK, where a list of hosts could stand as well. */
static const char all_hosts[] = "on";

/* The world remembers what it has seen in the arena it was asked with, so it is a new one. */
static int rebuild(const struct explainer *e, struct arena *a, const struct amendment *changes,
		   size_t n, struct pretended *made, struct situation *ret,
		   struct cordon_error *err)
{
	struct policy_input in = situation_input(&e->setup.situation);
	struct layer layer = { 0 };
	int r;

	*ret = e->setup.situation;
	ret->arena = a;
	r = world_os_init(a, &ret->world, err);
	if (r < 0)
		return r;
	if (made)
		pretend_file(made, &ret->world);
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

int remedy_rebuild(const struct explainer *e, struct arena *a, const struct amendment *changes,
		   size_t n, struct situation *ret, struct cordon_error *err)
{
	return rebuild(e, a, changes, n, NULL, ret, err);
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
	/* What a settings file says goes before the user's configuration. */
	fix->toml = opts_given(e->opts, OPTION_SETTINGS) ? NULL : keep(e, &toml);
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

bool remedy_is_secret(const struct policy *policy, struct str object)
{
	struct match m;

	ruleset_match(policy->trusted.rules, object, &m);
	return m.secret.rule && !(m.opener.rule && m.opener.depth >= m.secret.depth);
}

static bool opens(const struct policy *before, const struct policy *after, enum policy_op op,
		  struct str path)
{
	struct decision d;

	return policy_allows(after, op, path, &d) && !policy_allows(before, op, path, &d);
}

bool remedy_opens(const struct ruleset *closed, unsigned flags, const struct policy *before,
		  const struct policy *after)
{
	for (size_t i = 0; i < ruleset_count(closed); i++) {
		const struct rule *rule = ruleset_at(closed, i);

		if (!(rule->flags & flags) || rule->kind == RULE_GLOB)
			continue;
		if (opens(before, after, POLICY_WRITE, rule->path) ||
		    (rule->flags & RULE_SECRET && opens(before, after, POLICY_READ, rule->path)))
			return true;
	}
	return false;
}

/* Does writing there decide what runs later, outside? */
static bool opens_control(const struct policy *before, const struct policy *after,
			  struct str object)
{
	struct match m;

	ruleset_match(before->trusted.rules, object, &m);
	return (m.control.rule && m.control.rule->flags & RULE_CONTROL) || later_run_by(object) ||
	       remedy_opens(before->trusted.rules, RULE_CONTROL, before, after);
}

/* Would the changed policy still run here? */
static bool compiles(const struct explainer *e, struct situation *changed, struct plan **ret,
		     struct cordon_error *err)
{
	const struct backend *backend;

	return situation_plan(changed, &e->setup.caps, &backend, ret, err) == 0;
}

/* Does the policy give what the backend cannot (plan_closes)? */
static bool closes(const struct plan *plan, struct str object)
{
	const struct op *shown = plan_shown_by(plan, object, NULL);

	return shown && plan_closes(plan, shown);
}

/* How far a set of changes has to lead. */
enum trying {
	MUST_COMPILE,
	MUST_COMPILE_ONCE_MADE, /* when the object is there, which it is not yet */
	NEED_NOT_COMPILE,
};

/* Tries one set of changes; true when it gives what is wanted. A policy that cannot be
 * enforced counts only when nothing else helps. */
static bool try_path(const struct explainer *e, enum policy_op op, struct str object,
		     struct str granted, const struct amendment *changes, size_t n,
		     enum trying how, struct fix *fix)
{
	autoarena struct arena a = { .max = TRY_BYTES_MAX };
	struct pretended made = { .path = object };
	struct situation changed;
	struct cordon_error err;
	struct decision d;
	struct plan *plan;
	bool good;

	if (rebuild(e, &a, changes, n, how == MUST_COMPILE_ONCE_MADE ? &made : NULL, &changed,
		    &err) < 0 ||
	    !policy_allows(changed.policy, op, object, &d))
		return false;
	good = !e->setup.plan || compiles(e, &changed, &plan, &err);
	if (e->setup.plan && good && closes(plan, object))
		return false;
	if (!good && how != NEED_NOT_COMPILE)
		return false;
	name_fix(e, changes, n, fix);
	fix->opens_secret = remedy_is_secret(e->setup.situation.policy, object);
	fix->opens_system = op == POLICY_WRITE && learn_is_system(granted) &&
			    !path_below(granted, changed.places.workdir);
	fix->opens_control = fix->opens_system ||
			     (op == POLICY_WRITE &&
			      (opens_control(e->setup.situation.policy, changed.policy, object) ||
			       installed_is_in(&changed, &a, object) ||
			       installed_is_in(&changed, &a, granted)));
	fix->breadth = breadth(&e->setup.situation.places, granted);
	fix->remark = good ? NULL : remark(e, &err);
	return true;
}

const char *remedy_why_not(enum layer_id layer)
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
	const char *word; /* the value; NULL: the path */
} candidates[] = {
	{ POLICY_READ, { KEY_READ, KEY_COUNT } },
	{ POLICY_READ, { KEY_READ, KEY_EXEC } },
	{ POLICY_WRITE, { KEY_WRITE, KEY_COUNT } },
	{ POLICY_WRITE, { KEY_WRITE, KEY_EXEC } },
	{ POLICY_WRITE, { KEY_HIDDEN_WRITES, KEY_COUNT }, "git" },
	{ POLICY_WRITE, { KEY_HIDDEN_WRITES, KEY_COUNT }, "allow" },
	{ POLICY_EXEC, { KEY_EXEC, KEY_COUNT } },
	{ POLICY_EXEC, { KEY_READ, KEY_EXEC } },
};

#define TRIED_MAX 4

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
			   struct str granted, const char *path, enum trying how, struct fix *fix)
{
	struct amendment changes[TRIED_MAX];
	size_t before = runtime_first(e, op, changes);

	if (before && try_path(e, op, object, STR(""), changes, before, how, fix))
		return true;
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		size_t n = before;

		if (candidates[i].op != op)
			continue;
		for (size_t k = 0; k < 2 && candidates[i].keys[k] != KEY_COUNT; k++, n++) {
			changes[n].key = candidates[i].keys[k];
			changes[n].text = candidates[i].word ? candidates[i].word : path;
		}
		if (try_path(e, op, object, granted, changes, n, how, fix))
			return true;
	}
	return false;
}

struct str remedy_above(const struct explainer *e, struct str object)
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

/* A flag that lets the directory be read only: another that lets it be written gives way to
 * it (DESIGN 4, rule 5), so it has to go. */
static bool held_by_flag(const struct explainer *e, struct str dir, struct fix *ret)
{
	struct decision d = policy_decide(e->setup.situation.policy, dir);
	const struct rule *rule = d.data_rule;
	autobuf struct buf b = buf_make(TEXT_MAX);
	const char *path = spell(e, dir);

	if (!path || d.data != ACCESS_READ || d.data_layer != LAYER_TRUSTED || !rule ||
	    rule->right != RIGHT_READ || rule->origin.source != SOURCE_FLAGS ||
	    !str_eq(rule->path, dir))
		return false;
	buf_addf(&b, "to allow it, leave out %s ", rule->origin.file);
	out_shell_quote(&b, str_of(path));
	buf_addf(&b, " and give %s ", key_rows[KEY_WRITE].flag);
	out_shell_quote(&b, str_of(path));
	buf_adds(&b, " alone: of both on one path, reading holds");
	*ret = (struct fix){ .why_not = keep(e, &b) };
	return true;
}

static bool try_above(const struct explainer *e, enum policy_op op, struct str object,
		      struct fix *fix)
{
	struct str above = remedy_above(e, object);

	if (op != POLICY_WRITE || above.n <= 1 ||
	    !try_candidates(e, op, object, above, spell(e, above), MUST_COMPILE, fix))
		return false;
	fix->note = "all of that directory, since the file does not exist yet";
	return true;
}

/* How somebody makes what is not there. */
static const char *making(const struct explainer *e, struct str object, bool directory)
{
	struct str parent = path_parent(object);
	bool bare = !str_eq(remedy_above(e, object), parent);
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (directory || bare) {
		buf_adds(&b, "mkdir -p ");
		out_shell_quote(&b, directory ? object : parent);
	}
	if (!directory) {
		buf_adds(&b, bare ? " && touch " : "touch ");
		out_shell_quote(&b, object);
	}
	return keep(e, &b);
}

static bool try_made(const struct explainer *e, enum policy_op op, struct str object,
		     const char *path, struct fix *fix)
{
	if (op != POLICY_WRITE ||
	    !try_candidates(e, op, object, object, path, MUST_COMPILE_ONCE_MADE, fix))
		return false;
	fix->first = making(e, object, false);
	return true;
}

void remedy_makes_directory(const struct explainer *e, struct str object, struct fix *fix)
{
	if (fix->first)
		fix->first = making(e, object, true);
}

void remedy_narrow(const struct explainer *e, struct str object, bool directory, struct fix *fix)
{
	const char *path = spell(e, object);
	struct fix narrow = { 0 };

	if (!fix->breadth || breadth(&e->setup.situation.places, object) || !path ||
	    !try_made(e, POLICY_WRITE, object, path, &narrow))
		return;
	*fix = narrow;
	fix->first = making(e, object, directory);
}

void remedy_of_path(const struct explainer *e, enum policy_op op, struct str object,
		    enum layer_id layer, struct fix *ret)
{
	const char *path = spell(e, object);

	if (path && *path && !try_candidates(e, op, object, object, path, MUST_COMPILE, ret) &&
	    !try_above(e, op, object, ret) &&
	    !(op == POLICY_WRITE && held_by_flag(e, remedy_above(e, object), ret)) &&
	    !try_made(e, op, object, path, ret) &&
	    !try_candidates(e, op, object, object, path, NEED_NOT_COMPILE, ret))
		ret->why_not = remedy_why_not(layer);
}

void remedy_of_closed(const struct explainer *e, enum policy_op op, struct str object,
		      struct fix *ret)
{
	const struct amendment change = { KEY_TMP, "shared" };
	autoarena struct arena a = { .max = TRY_BYTES_MAX };
	struct situation changed;
	struct cordon_error err;
	struct decision d;
	struct plan *plan;

	if (remedy_rebuild(e, &a, &change, 1, &changed, &err) < 0 ||
	    !policy_allows(changed.policy, op, object, &d) || !compiles(e, &changed, &plan, &err))
		return;
	if (closes(plan, object))
		return;
	name_fix(e, &change, 1, ret);
	ret->note = "all of the host's";
}

void remedy_by_link(const struct explainer *e, enum policy_op op, struct str object,
		    struct str link, struct fix *ret)
{
	const struct situation *s = &e->setup.situation;
	const char *path = spell(e, program_link(s, e->opts->arena, link, object));
	struct fix fix = { 0 };

	if (ret->flags && !str_eq(object, link) && path && *path &&
	    try_candidates(e, op, object, object, path, MUST_COMPILE, &fix))
		*ret = fix;
}

void remedy_of_shim(const struct explainer *e, struct str program, struct fix *ret)
{
	struct str place = program_place(program, &e->setup.situation.places);
	struct fix fix = { 0 };

	if (!ret->flags || str_eq(place, program) ||
	    !try_candidates(e, POLICY_EXEC, program, place, spell(e, place), MUST_COMPILE, &fix))
		return;
	fix.note = "all of that directory, since the program starts others in it";
	*ret = fix;
}

bool remedy_of_several(const struct explainer *e, struct str object,
		       const struct amendment *changes, size_t n, const char *note,
		       struct fix *ret)
{
	struct fix fix = { 0 };

	if (!try_path(e, POLICY_WRITE, object, str_of(changes[0].text), changes, n, MUST_COMPILE,
		      &fix))
		return false;
	fix.note = note;
	*ret = fix;
	return true;
}

bool remedy_of_name(const struct explainer *e, struct str object, struct fix *ret)
{
	struct str above = path_parent(object);
	const struct amendment changes[] = { { KEY_WRITE, spell(e, above) },
					     { KEY_WRITE, spell(e, object) } };
	struct fix fix = { 0 };
	struct decision d;

	if (above.n <= 1 || policy_allows(e->setup.situation.policy, POLICY_WRITE, above, &d) ||
	    !changes[0].text || !changes[1].text)
		return false;
	if (held_by_flag(e, above, ret))
		return true;
	/* Alone it is enough unless a rule is about the name itself. */
	if (!try_path(e, POLICY_WRITE, object, above, changes, 1, MUST_COMPILE, &fix) &&
	    !try_path(e, POLICY_WRITE, object, above, changes, 2, MUST_COMPILE, &fix))
		return false;
	fix.note = "all of that directory, since a name in it changes";
	*ret = fix;
	return true;
}

/* Whatever it is called, an agent of the user's is one. */
static bool is_own_agent(const struct explainer *e, struct str path)
{
	const char *agent = environ_get(e->setup.situation.environ, "SSH_AUTH_SOCK");

	return agent && str_eq(str_of(agent), path);
}

/* Nothing that is said on a socket is seen by cordon, so there is something to say of each. */
static void warn_of_socket(const struct explainer *e, struct str path, struct fix *fix)
{
	struct str name = is_own_agent(e, path) ? STR("/agent.0") : path;
	const char *why = policy_way_out(name);
	autobuf struct buf b = buf_make(TEXT_MAX);

	buf_addf(&b, "that leads out of the sandbox: %s",
		 why ? why : "a program outside does there what it is asked to");
	fix->leads = keep(e, &b);
	fix->opens_control = true;
}

struct fix remedy_of_socket(const struct explainer *e, struct str path)
{
	autoarena struct arena a = { .max = TRY_BYTES_MAX };
	struct amendment change = { KEY_UNIX, spell(e, path) };
	struct fix fix = { 0 };
	struct situation changed;
	struct cordon_error err;
	struct plan *plan;

	if (change.text && *change.text &&
	    remedy_rebuild(e, &a, &change, 1, &changed, &err) == 0 &&
	    compiles(e, &changed, &plan, &err)) {
		name_fix(e, &change, 1, &fix);
		warn_of_socket(e, path, &fix);
	} else {
		fix.why_not = "it is a socket of the host that no flag opens";
	}
	return fix;
}

/* --- hosts --------------------------------------------------------------------------------- */

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

	if (remedy_rebuild(e, &a, &change, 1, &changed, &err) < 0 ||
	    !policy_decide_host(changed.policy, target).allowed)
		return false;
	good = connects(e, &changed, &err);
	if (!good && must_compile)
		return false;
	name_fix(e, &change, 1, fix);
	fix->remark = good ? NULL : remark(e, &err);
	return true;
}

void remedy_of_host(const struct explainer *e, const struct host *target, enum layer_id layer,
		    struct fix *ret)
{
	autobuf struct buf b = buf_make(512);
	const char *text;

	if (!target->port && host_is_local(target)) {
		ret->why_not = "services of the host are opened one by one, by their port: "
			       "--allow-network=localhost:8080";
		return;
	}
	host_print(&b, target);
	text = keep(e, &b);
	if (!text || try_host(e, target, text, true, ret))
		return;
	if (try_host(e, target, all_hosts, true, ret))
		ret->note = "a list of hosts cannot be enforced here; --allow-network opens all "
			      "of it";
	else if (!try_host(e, target, text, false, ret))
		ret->why_not = remedy_why_not(layer);
}
