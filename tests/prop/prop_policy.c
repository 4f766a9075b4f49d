/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the policy over random rules, project files and objects:
 *
 *	a  a project file never widens, on either axis or for hosts (rule 7), nor does one
 *	   further up or further down
 *	b  one more deny never widens
 *	c  the order of statements within one source does not matter
 *	d  ruleset_match agrees with a naive reading of rules 2 to 5 and 11
 *	e  a move is allowed exactly where each object below keeps its verdict (rule 11),
 *	   and where no rule tells two trees apart, no name below does
 *	f  below a directory that folds, a name gets the lower verdict of its own and its
 *	   folded spelling
 *
 * Prints TAP. A failure prints its seed; "prop_policy SEED" starts there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "fmt/glob.h"
#include "policy/policy.h"
#include "policy/profiles.h"
#include "policy/rename.h"
#include "world_fake.h"

#define ARENA_MAX ((size_t)64 << 20)
#define OBJECTS 20

static uint64_t state;

static uint32_t roll(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 16) % n);
}

static void seed(uint64_t s)
{
	state = (s + 1) * 0x9e3779b97f4a7c15u;
	roll(2);
}

static const char *pick(const char *const *words, size_t n)
{
	return words[roll((uint32_t)n)];
}
#define PICK(words) pick(words, sizeof(words) / sizeof((words)[0]))

/* Few names, so that rules and objects meet. */
static const char *const names[] = { "a", "b", ".c", "ab", "x.k", ".ssh" };
static const char *const parts[] = { "a",    "b",  ".c", "ab",	"*",	 "?",	"**",
				     "[ab]", "a*", ".*", "*.k", "[!a]*", ".ssh" };
static const char *const roots[] = { "", "/w", "/w/a", "/home/u", "/home/u/.ssh" };

static const char *random_object(struct arena *a)
{
	const char *path = PICK(roots);

	for (uint32_t n = roll(5); n; n--)
		path = arena_printf(a, "%s/%s", path, PICK(names));
	return *path ? path : "/";
}

static const char *random_path(struct arena *a)
{
	const char *path = PICK(roots);
	bool glob = roll(3) == 0;

	for (uint32_t n = roll(4); n; n--)
		path = arena_printf(a, "%s/%s", path, glob ? PICK(parts) : PICK(names));
	if (!*path)
		return "/";
	return !glob && roll(6) == 0 ? arena_printf(a, "=%s", path) : path;
}

static const char *const host_names[] = { "a.test", "b.a.test", "c.b.a.test", "192.0.2.1", "::1" };
static const char *const host_patterns[] = { "a.test", "*.a.test",  "*.b.a.test",   "192.0.2.0/24",
					     "::/0",   "a.test:80", "*.a.test:443", "b.a.test" };

static void must(int r, const struct cordon_error *err)
{
	if (r == 0)
		return;
	printf("Bail out! %s\n", err->message);
	exit(1);
}

/* --- random policies --------------------------------------------------------------- */

struct scene {
	struct arena arena;
	struct fake_world fake;
	struct layer flags;
	struct config user, project, above;
	struct policy_input in;
};

static const enum key rule_keys[] = { KEY_READ, KEY_WRITE, KEY_EXEC, KEY_DENY };

static void add(struct scene *s, struct layer *layer, enum source source, enum key key,
		const char *text)
{
	struct origin origin = { source, "prop", 0, 0 };
	struct cordon_error err;

	must(layer_add_text(&s->arena, layer, key, str_of(text), &origin, &err), &err);
}

static void random_layer(struct scene *s, struct layer *layer, enum source source)
{
	static const char *const sets[] = { "@secrets", "@control", "@config", "@harmless" };
	static const char *const hidden[] = { "allow", "git", "deny" };
	static const char *const tmp[] = { "private", "shared" };

	for (uint32_t n = roll(8); n; n--)
		add(s, layer, source, rule_keys[roll(4)], random_path(&s->arena));
	if (roll(6) == 0)
		add(s, layer, source, rule_keys[roll(4)], PICK(sets));
	if (roll(4) == 0)
		add(s, layer, source, KEY_HIDDEN_WRITES, PICK(hidden));
	if (roll(8) == 0)
		add(s, layer, source, KEY_TMP, PICK(tmp));
	for (uint32_t n = roll(3); n; n--)
		add(s, layer, source, KEY_NETWORK, PICK(host_patterns));
	if (roll(6) == 0)
		add(s, layer, source, KEY_NETWORK, roll(2) ? "on" : "off");
}

static void scene_init(struct scene *s, const struct config *builtin)
{
	static const char *const profiles[] = { "custom", "moderate", "strict", "permissive",
						"custom" };

	memset(s, 0, sizeof(*s));
	arena_init(&s->arena, ARENA_MAX);
	fake_world_init(&s->fake, &s->arena);
	s->user.origin = (struct origin){ SOURCE_USER, "user", 0, 0 };
	s->project.origin = (struct origin){ SOURCE_PROJECT, "project", 0, 0 };
	s->above.origin = (struct origin){ SOURCE_PROJECT, "above", 0, 0 };
	s->in = (struct policy_input){
		.profile = PICK(profiles),
		.builtin = builtin,
		.user = &s->user,
		.flags = &s->flags,
		.world = &s->fake.world,
		.places = { .workdir = STR("/w"),
			    .home = STR("/home/u"),
			    .tmp = STR("/tmp"),
			    .data = STR("/w"),
			    .cordon_home = STR("/home/u/.cordon"),
			    .git_dir = STR("/w/.c") },
	};
	random_layer(s, &s->user.sandbox, SOURCE_USER);
	random_layer(s, &s->flags, SOURCE_FLAGS);
}

static struct policy *build(struct scene *s)
{
	struct cordon_error err;
	struct policy *policy = NULL;

	must(policy_build(&s->arena, &s->in, &policy, &err), &err);
	return policy;
}

static bool not_wider(const struct policy *narrow, const struct policy *wide, struct str object)
{
	struct decision n = policy_decide(narrow, object), w = policy_decide(wide, object);

	/* A directory of the sandbox's own is not that of the host. */
	if (n.data_rule && n.data_rule->flags & RULE_PRIVATE)
		return true;
	return n.data <= w.data && n.exec <= w.exec && n.keep_directory >= w.keep_directory;
}

static bool host_not_wider(const struct policy *narrow, const struct policy *wide)
{
	for (size_t i = 0; i < sizeof(host_names) / sizeof(host_names[0]); i++) {
		struct cordon_error err;
		struct host h;

		must(host_parse_target(str_of(host_names[i]), &h, &err), &err);
		h.port = roll(2) ? 80 : 443;
		if (policy_decide_host(narrow, &h).allowed && !policy_decide_host(wide, &h).allowed)
			return false;
	}
	return true;
}

static bool objects_not_wider(struct scene *s, const struct policy *narrow,
			      const struct policy *wide)
{
	for (int i = 0; i < OBJECTS; i++) {
		const char *object = random_object(&s->arena);

		if (!not_wider(narrow, wide, str_of(object))) {
			printf("# object %s\n", object);
			return false;
		}
	}
	return true;
}

static bool project_narrows(struct scene *s)
{
	const struct policy *without = build(s), *with;

	random_layer(s, &s->project.sandbox, SOURCE_PROJECT);
	s->in.project = &s->project;
	with = build(s);
	return objects_not_wider(s, with, without) && host_not_wider(with, without);
}

/* Two project files: neither lifts what the other takes. */
static bool projects_narrow(struct scene *s)
{
	const struct policy *inner, *outer, *both;

	random_layer(s, &s->project.sandbox, SOURCE_PROJECT);
	random_layer(s, &s->above.sandbox, SOURCE_PROJECT);
	s->in.project = &s->project;
	inner = build(s);
	s->in.project = &s->above;
	outer = build(s);
	s->in.project = &s->project;
	s->project.above = &s->above;
	both = build(s);
	return objects_not_wider(s, both, inner) && objects_not_wider(s, both, outer) &&
	       host_not_wider(both, inner) && host_not_wider(both, outer);
}

static bool deny_narrows(struct scene *s)
{
	static const char *const sets[] = { "@secrets", "@config", "@shell-files" };
	struct layer *layers[] = { &s->user.sandbox, &s->flags };
	const struct policy *without = build(s);
	uint32_t which = roll(2);

	add(s, layers[which], which ? SOURCE_FLAGS : SOURCE_USER, KEY_DENY,
	    roll(5) ? random_path(&s->arena) : PICK(sets));
	return objects_not_wider(s, build(s), without);
}

/* Swaps statements about paths only: of scalars the last one counts, by design. */
static void shuffle(struct layer *layer)
{
	for (size_t i = layer->statements.n; i > 1; i--) {
		struct statement *x = &layer->statements.at[i - 1];
		struct statement *y = &layer->statements.at[roll((uint32_t)i)];
		struct statement z = *x;

		if (key_rows[x->key].type != TYPE_PATHS || key_rows[y->key].type != TYPE_PATHS)
			continue;
		*x = *y;
		*y = z;
	}
}

static bool order_is_nothing(struct scene *s)
{
	const struct policy *one, *two;

	random_layer(s, &s->project.sandbox, SOURCE_PROJECT);
	s->in.project = &s->project;
	one = build(s);
	shuffle(&s->user.sandbox);
	shuffle(&s->flags);
	shuffle(&s->project.sandbox);
	two = build(s);
	return objects_not_wider(s, one, two) && objects_not_wider(s, two, one);
}

/* --- the naive reference ------------------------------------------------------------ */

#define COMPONENTS_MAX 64

static size_t split(struct str path, struct str *out)
{
	size_t n = 0;

	while (n < COMPONENTS_MAX && path_next(&path, &out[n]))
		n++;
	return n;
}

static bool glob_matches(const struct str *p, size_t np, const struct str *o, size_t no)
{
	if (!np)
		return !no;
	if (str_eq(p[0], STR("**"))) {
		/* The last one stands for at least one component. */
		for (size_t k = np == 1 ? 1 : 0; k <= no; k++)
			if (glob_matches(p + 1, np - 1, o + k, no - k))
				return true;
		return false;
	}
	return no && glob_component_match(p[0], o[0]) && glob_matches(p + 1, np - 1, o + 1, no - 1);
}

/* Rule 4: the depth at which the rule speaks of the object; -1 when it does not. */
static int rule_depth(const struct rule *rule, struct str object)
{
	struct str p[COMPONENTS_MAX], o[COMPONENTS_MAX];
	size_t np = split(rule->path, p), no = split(object, o);

	if (rule->kind == RULE_EXACT)
		return str_eq(rule->path, object) ? (int)np : -1;
	if (rule->kind == RULE_SUBTREE)
		return path_below(object, rule->path) ? (int)np : -1;
	for (size_t k = 0; k <= no; k++)
		if (glob_matches(p, np, o, k))
			return (int)k;
	return -1;
}

/* Is b to be preferred over a, of the same depth (rule 5)? */
static bool preferred(const struct rule *a, const struct rule *b)
{
	if (a->origin.source != b->origin.source)
		return b->origin.source > a->origin.source;
	return b->right < a->right;
}

static const struct rule *naive(const struct ruleset *set, struct str object, bool exec,
				int *ret_depth)
{
	const struct rule *best = NULL;

	*ret_depth = -1;
	for (size_t i = 0; i < ruleset_count(set); i++) {
		const struct rule *rule = ruleset_at(set, i);
		int depth = rule_depth(rule, object);

		if (depth < 0 || rule->right == (exec ? RIGHT_READ : RIGHT_EXEC) ||
		    (exec && rule->right == RIGHT_WRITE))
			continue;
		if (depth > *ret_depth || (depth == *ret_depth && preferred(best, rule))) {
			best = rule;
			*ret_depth = depth;
		}
	}
	return best;
}

/* Rule 11 for plain rules: a read or deny strictly below. */
static bool naive_restricted(const struct ruleset *set, struct str object)
{
	for (size_t i = 0; i < ruleset_count(set); i++) {
		const struct rule *rule = ruleset_at(set, i);

		if (rule->kind != RULE_GLOB && rule->right <= RIGHT_READ &&
		    path_below(rule->path, object) && !str_eq(rule->path, object))
			return true;
	}
	return false;
}

static bool hit_agrees(const struct hit *hit, const struct rule *rule, int depth)
{
	if (!hit->rule || !rule)
		return !hit->rule && !rule;
	return hit->rule->right == rule->right && (int)hit->depth == depth &&
	       hit->rule->origin.source == rule->origin.source;
}

static bool match_agrees(const struct ruleset *set, struct str object)
{
	struct match m;
	int data_depth, exec_depth;
	const struct rule *data = naive(set, object, false, &data_depth);
	const struct rule *exec = naive(set, object, true, &exec_depth);

	ruleset_match(set, object, &m);
	return hit_agrees(&m.data, data, data_depth) && hit_agrees(&m.exec, exec, exec_depth) &&
	       (m.restricted_below || !naive_restricted(set, object));
}

static bool reference_agrees(struct scene *s)
{
	struct ruleset *set = ruleset_new(&s->arena);
	struct cordon_error err;

	for (uint32_t n = roll(12); n; n--) {
		struct str text = str_of(random_path(&s->arena));
		struct rule rule = {
			.right = (enum right)roll(4),
			.spelled = text,
			.path = text,
			.kind = glob_has_magic(text) ? RULE_GLOB : RULE_SUBTREE,
			.origin = { (enum source)roll(4), "prop", 0, 0 },
		};

		if (text.p[0] == '=') {
			rule.kind = RULE_EXACT;
			rule.path = str_skip(text, 1);
		}
		must(ruleset_add(set, &rule, &err), &err);
	}
	for (int i = 0; i < OBJECTS; i++) {
		const char *object = random_object(&s->arena);

		if (!match_agrees(set, str_of(object))) {
			printf("# object %s\n", object);
			return false;
		}
	}
	return true;
}

/* --- moving names -------------------------------------------------------------------- */

static void random_tree(struct scene *s)
{
	for (uint32_t n = 1 + roll(12); n; n--) {
		const char *path = PICK(roots);

		for (uint32_t k = 1 + roll(4); k; k--)
			path = arena_printf(&s->arena, "%s/%s", path, PICK(names));
		if (!fake_world_add(&s->fake, str_of(path), roll(2) ? NODE_DIR : NODE_FILE))
			exit(1);
	}
	vec_each(e, &s->fake.entries)
		vec_each(f, &s->fake.entries)
			if (path_below(f->path, e->path) && !str_eq(f->path, e->path))
				e->type = NODE_DIR;
	vec_each(e, &s->fake.entries)
		vec_each(f, &s->fake.entries)
			if (str_eq(f->path, e->path))
				f->type = e->type;
}

static bool same_access(const struct decision *a, const struct decision *b)
{
	return a->data == b->data && a->exec == b->exec;
}

static struct str grafted(struct scene *s, struct str path, struct str from, struct str to)
{
	return str_of(arena_printf(&s->arena, "%.*s%.*s", STR_ARG(to),
				   STR_ARG(str_skip(path, from.n))));
}

/* One object of the tree and all its parents below `from`, under both names. */
static bool brute_object(struct scene *s, const struct policy *p, struct str path, struct str from,
			 struct str to)
{
	for (; path.n > from.n && path_below(path, from); path = path_parent(path)) {
		struct decision before = policy_decide(p, path);
		struct decision after = policy_decide(p, grafted(s, path, from, to));
		bool directory = s->fake.tree.type(&s->fake.tree, path) == NODE_DIR;

		if (!same_access(&before, &after) ||
		    (!directory && after.keep_directory && !before.keep_directory))
			return false;
	}
	return true;
}

static bool brute_move(struct scene *s, const struct policy *p, struct str from, struct str to)
{
	bool directory = s->fake.tree.type(&s->fake.tree, from) == NODE_DIR;
	struct decision before = policy_decide(p, from), after = policy_decide(p, to);

	if (before.data != ACCESS_WRITE || after.data != ACCESS_WRITE ||
	    (!directory && after.keep_directory))
		return false;
	vec_each(e, &s->fake.entries)
		if (directory && !brute_object(s, p, e->path, from, to))
			return false;
	return true;
}

static bool same_below_holds(struct scene *s, const struct policy *p, struct str from,
			     struct str to)
{
	for (int i = 0; i < OBJECTS; i++) {
		const char *below = arena_printf(&s->arena, "/%s", PICK(names));
		struct decision a, b;

		for (uint32_t n = roll(3); n; n--)
			below = arena_printf(&s->arena, "%s/%s", below, PICK(names));
		a = policy_decide(p, grafted(s, str_of(below), STR(""), from));
		b = policy_decide(p, grafted(s, str_of(below), STR(""), to));
		if (!same_access(&a, &b) || a.keep_directory != b.keep_directory) {
			printf("# %s below both\n", below);
			return false;
		}
	}
	return true;
}

static struct str random_entry(struct scene *s)
{
	struct str path = s->fake.entries.at[roll((uint32_t)s->fake.entries.n)].path;

	for (uint32_t n = roll(3); n && path_depth(path) > 1; n--)
		path = path_parent(path);
	return path;
}

static unsigned renames[2]; /* refused, allowed: both must occur */

static bool moves_agree(struct scene *s)
{
	const struct policy *p;

	random_tree(s);
	random_layer(s, &s->project.sandbox, SOURCE_PROJECT);
	s->in.project = roll(2) ? &s->project : NULL;
	p = build(s);
	for (int i = 0; i < OBJECTS; i++) {
		struct str from = random_entry(s);
		struct str to = roll(2) ? random_entry(s) : str_of(random_object(&s->arena));
		bool exchange = roll(3) == 0 && s->fake.tree.type(&s->fake.tree, to) != NODE_ABSENT;
		struct rename_decision d;
		bool wanted;

		if (path_below(from, to) || path_below(to, from))
			continue;
		wanted = brute_move(s, p, from, to) && (!exchange || brute_move(s, p, to, from));
		if (policy_decide_rename(p, from, to, exchange, &s->fake.tree, &d) != wanted ||
		    (policy_same_below(p, from, to) && !same_below_holds(s, p, from, to))) {
			printf("# %.*s to %.*s: %s %s\n", STR_ARG(from), STR_ARG(to),
			       rename_why_to_string(d.why), d.object);
			return false;
		}
		renames[wanted]++;
	}
	return true;
}

/* --- folding ------------------------------------------------------------------------- */

/* Some letters of what is below the root of the object in the other case; every name in
 * these tests is lower case. */
static struct str respelled(struct scene *s, const char *object)
{
	char *copy = arena_dup(&s->arena, str_of(object));
	char *second = strchr(copy + 1, '/');

	for (char *c = second ? second : copy + strlen(copy); *c; c++)
		if (*c >= 'a' && *c <= 'z' && roll(3) == 0)
			*c &= ~0x20;
	return str_of(copy);
}

static unsigned lowered; /* verdicts that folding changed: must occur */

static bool folding_lowers(struct scene *s)
{
	static const char *const tops[] = { "/w", "/home" };
	const struct policy *exact, *folding;

	for (size_t i = 0; i < 2; i++)
		fake_world_add(&s->fake, str_of(tops[i]), NODE_DIR);
	random_layer(s, &s->project.sandbox, SOURCE_PROJECT);
	s->in.project = roll(2) ? &s->project : NULL;
	/* Rules there, so that somebody asks. */
	add(s, &s->flags, SOURCE_FLAGS, KEY_READ, "/w/zz");
	add(s, &s->flags, SOURCE_FLAGS, KEY_READ, "/home/zz");
	exact = build(s);
	vec_each(e, &s->fake.entries)
		e->folds = true;
	folding = build(s);
	for (int i = 0; i < OBJECTS; i++) {
		const char *object = random_object(&s->arena);
		struct str spelled = respelled(s, object);
		struct decision own = policy_decide(exact, spelled);
		struct decision folded = policy_decide(exact, str_of(object));
		struct decision got = policy_decide(folding, spelled);
		bool below = str_starts(spelled, STR("/w/")) || str_starts(spelled, STR("/home/"));

		if (!below)
			folded = own;
		lowered += folded.data < own.data;
		if (got.data != (own.data < folded.data ? own.data : folded.data) ||
		    got.exec != (own.exec && folded.exec) ||
		    got.keep_directory != (own.keep_directory || folded.keep_directory)) {
			printf("# %.*s for %s\n", STR_ARG(spelled), object);
			return false;
		}
	}
	return true;
}

/* --- running ------------------------------------------------------------------------ */

static const struct property {
	const char *name;
	bool (*holds)(struct scene *s);
	unsigned rounds; /* of OBJECTS objects each */
} properties[] = {
	{ "a project file never widens", project_narrows, 6000 },
	{ "of two project files neither widens the other", projects_narrow, 3000 },
	{ "one more deny never widens", deny_narrows, 3000 },
	{ "the order within a source does not matter", order_is_nothing, 3000 },
	{ "the ruleset agrees with the naive reading", reference_agrees, 8000 },
	{ "a move is judged as each object below it", moves_agree, 6000 },
	{ "folding lowers to the folded name's verdict", folding_lowers, 3000 },
};

static bool run(const struct property *p, const struct config *builtin, uint64_t first)
{
	for (uint64_t i = first; i < first + p->rounds; i++) {
		struct scene s;
		bool ok;

		seed(i);
		scene_init(&s, builtin);
		ok = p->holds(&s);
		arena_free(&s.arena);
		if (!ok) {
			printf("# seed %llu\n", (unsigned long long)i);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	unsigned count = sizeof(properties) / sizeof(properties[0]);
	struct cordon_error err;
	struct config builtin;
	autoarena struct arena a;
	bool good = true;

	arena_init(&a, ARENA_MAX);
	must(profiles_load(&a, &builtin, &err), &err);
	printf("1..%u\n", count);
	for (unsigned i = 0; i < count; i++) {
		bool ok = run(&properties[i], &builtin, first);

		printf("%s %u - %s (%u objects)\n", ok ? "ok" : "not ok", i + 1, properties[i].name,
		       properties[i].rounds * OBJECTS);
		good = good && ok;
	}
	printf("# renames: %u refused, %u allowed\n", renames[0], renames[1]);
	printf("# folding: %u lowered\n", lowered);
	return !good || !renames[0] || !renames[1] || !lowered;
}
