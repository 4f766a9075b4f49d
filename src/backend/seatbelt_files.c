/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file rules of a Seatbelt profile. Every path that a rule of the policy names is
 * visited, parents first, and policy_decide is asked about it; where the verdict differs
 * from what the text so far says there, a rule is written. As the last rule counts, the
 * text follows policy_decide and nothing else.
 *
 * It is stricter in two places: what a pattern takes away is not given back by a longer
 * path, and the host's own directories are closed where the policy means private ones.
 * What is denied with all below it comes last, so that it stays closed should the text be
 * used with another WORKDIR.
 */
#include "backend/seatbelt.h"

#include <stdlib.h>

#include "backend/sbpl.h"
#include "base/path.h"
#include "policy/caches.h"

/* What a rule speaks of, always in the same words. */
enum ops { OPS_READ = 1, OPS_WRITE = 2, OPS_EXEC = 4, OPS_ALL = 7 };
static const char *const op_words[] = {
	"file-read*",
	"file-write*",
	"process-exec* file-map-executable",
};

struct verdict {
	enum access data;
	bool exec;
};

struct spot {
	struct str path;
	bool tree;   /* a rule for it and all below */
	bool exact;  /* a rule for it alone */
	bool system; /* programs do not start without it */
	bool closed; /* denied, and nothing below is open */
};

/* What the text says at a path and below. */
struct view {
	struct str path;
	struct verdict verdict;
	bool closed; /* will say so at the end */
};

struct writer {
	struct arena *arena;
	struct buf *b;
	const struct policy *policy;
	const struct places *places;
	VEC(struct spot) spots;
	VEC(struct view) views;
	VEC(struct str) pins;	 /* directories that have to stay where they are */
	VEC(struct str) parents; /* directories that lead to something readable */
	bool open;		 /* what no rule names may be read and executed */
	bool failed;
};

/* Libraries, frameworks, what the loader looks at and where the programs of /usr/bin that
 * are only stand-ins lead. */
static const char *const system_trees[] = {
	"/usr/lib",
	"/usr/share/locale",
	"/usr/share/zoneinfo",
	"/System/Library",
	"/System/Cryptexes",
	"/System/Volumes/Preboot/Cryptexes",
	"/Library/Apple",
	"/Library/Developer/CommandLineTools",
	"/Library/Frameworks",
	"/private/var/db/dyld",
	"/private/var/db/timezone",
	"/private/var/select",
};

static const char *const devices[] = {
	"/dev/null", "/dev/zero",  "/dev/random", "/dev/urandom",
	"/dev/tty",  "/dev/stdin", "/dev/stdout", "/dev/stderr",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_spot(struct writer *w, struct spot spot)
{
	struct spot *slot = vec_push(&w->spots, w->arena);

	if (slot)
		*slot = spot;
	else
		w->failed = true;
}

static void collect_rules(struct writer *w, const struct ruleset *rules)
{
	for (size_t i = 0; rules && i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);

		if (rule->kind != RULE_GLOB)
			add_spot(w, (struct spot){ rule->path, .tree = rule->kind == RULE_SUBTREE,
						   .exact = rule->kind == RULE_EXACT });
	}
}

/* Bytewise, so a directory comes before what is below it. */
static int by_path(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	return str_cmp(x->path, y->path);
}

/* Sorts, and makes one of several for the same path. */
static void sort_spots(struct writer *w)
{
	size_t kept = 0;

	if (w->spots.n)
		qsort(w->spots.at, w->spots.n, sizeof(w->spots.at[0]), by_path);
	vec_each(p, &w->spots) {
		struct spot *last = kept ? &w->spots.at[kept - 1] : NULL;

		if (!last || !str_eq(last->path, p->path)) {
			w->spots.at[kept++] = *p;
			continue;
		}
		last->tree |= p->tree;
		last->exact |= p->exact;
		last->system |= p->system;
	}
	w->spots.n = kept;
}

static void collect(struct writer *w)
{
	const struct policy *policy = w->policy;

	collect_rules(w, policy->trusted.rules);
	vec_each(o, &policy->narrowing)
		collect_rules(w, (*o)->settings.rules);
	collect_rules(w, policy->own);
	/* Being in the workdir counts by itself (rules 10 and 12 of policy_decide). */
	add_spot(w, (struct spot){ policy->places.workdir, .tree = true });
	for (size_t i = 0; i < COUNT(system_trees) && !w->open; i++)
		add_spot(w, (struct spot){ str_of(system_trees[i]), .tree = true, .system = true });
	sort_spots(w);
}

/* A place of the sandbox's own is none of the host's, but for a cache that lies there
 * under its own name. */
static bool is_elsewhere(const struct writer *w, const struct decision *d)
{
	const struct rule *rule = d->trusted_rule;
	const struct cache *cache;

	if (!rule || !(rule->flags & RULE_PRIVATE))
		return false;
	cache = rule->flags & RULE_CACHE ? policy_cache_at(w->policy, rule->path) : NULL;
	return !cache || !str_eq(cache->source, rule->path);
}

/* Made by the kernel, and made anew for a sandbox on Linux. */
static bool is_kernels(struct str path)
{
	return path_below(path, STR("/dev")) || path_below(path, STR("/proc")) ||
	       path_below(path, STR("/run"));
}

static struct verdict decide(const struct writer *w, const struct spot *p, struct str path)
{
	struct decision d = policy_decide(w->policy, path);
	struct verdict v = { d.data, d.exec };

	if (is_elsewhere(w, &d))
		return w->open && is_kernels(d.trusted_rule->path)
			       ? (struct verdict){ ACCESS_READ, true }
			       : (struct verdict){ ACCESS_NONE, false };
	if (p->system && !d.data_rule) {
		v.data = ACCESS_READ;
		v.exec = policy_decide(w->policy, STR("/usr/bin")).exec;
	}
	return v;
}

/* What holds below: a rule for the path alone has no say there. */
static struct verdict decide_below(struct writer *w, const struct spot *p)
{
	const char *child;

	if (!p->exact)
		return decide(w, p, p->path);
	child = arena_printf(w->arena, "%.*s/x", STR_ARG(p->path.n > 1 ? p->path : STR("")));
	w->failed |= !child;
	return child ? decide(w, p, str_of(child)) : (struct verdict){ ACCESS_NONE, false };
}

static bool is_denied(const struct writer *w, const struct spot *p)
{
	struct decision d = policy_decide(w->policy, p->path);

	return d.data == ACCESS_NONE && d.data_rule && d.data_rule->right == RIGHT_DENY &&
	       p->tree && !p->exact;
}

/* The spots are sorted: what is below one follows it, if not at once. */
static void mark_closed(struct writer *w)
{
	for (size_t i = 0; i < w->spots.n; i++) {
		struct spot *p = &w->spots.at[i];

		p->closed = is_denied(w, p);
		for (size_t j = i + 1; j < w->spots.n && p->closed; j++) {
			const struct spot *q = &w->spots.at[j];

			if (!str_starts(q->path, p->path))
				break;
			if (path_below(q->path, p->path))
				p->closed = decide(w, q, q->path).data == ACCESS_NONE;
		}
	}
}

static bool has_hidden(struct str rest)
{
	struct str part;

	while (path_next(&rest, &part))
		if (part.p[0] == '.')
			return true;
	return false;
}

static unsigned hidden_writes(const struct writer *w)
{
	return (unsigned)policy_number(w->policy, KEY_HIDDEN_WRITES);
}

static bool is_git_data(const struct writer *w, struct str path)
{
	struct match m;

	if (hidden_writes(w) != HIDDEN_GIT || !w->policy->git_data)
		return false;
	ruleset_match(w->policy->git_data, path, &m);
	return m.data.rule != NULL;
}

/* Hidden names count from the workdir down. */
static struct str hidden_top(const struct writer *w, struct str path)
{
	return path_below(path, w->places->workdir) ? path : w->places->workdir;
}

static struct view around(struct writer *w, struct str path)
{
	while (w->views.n > 1 && !path_below(path, w->views.at[w->views.n - 1].path))
		w->views.n--;
	return w->views.at[w->views.n - 1];
}

static struct verdict said(const struct writer *w, const struct view *view, struct str path)
{
	struct verdict v = view->verdict;
	struct str top = hidden_top(w, view->path);

	if (v.data == ACCESS_WRITE && hidden_writes(w) != HIDDEN_ALLOW && path_below(path, top) &&
	    has_hidden(str_skip(path, top.n)) && !is_git_data(w, path))
		v.data = ACCESS_READ;
	return v;
}

/* --- writing ------------------------------------------------------------------------- */

static void add_ops(struct buf *b, unsigned ops)
{
	for (size_t i = 0; i < COUNT(op_words); i++)
		if (ops & 1u << i)
			buf_addf(b, " %s", op_words[i]);
}

static void rule_open(struct writer *w, const char *verb, unsigned ops)
{
	buf_addf(w->b, "(%s", verb);
	add_ops(w->b, ops);
	buf_addc(w->b, ' ');
}

static void rule_close(struct writer *w)
{
	buf_adds(w->b, ")\n");
}

static void add_rule(struct writer *w, const char *verb, unsigned ops, const char *filter,
		     struct str path)
{
	if (!ops)
		return;
	rule_open(w, verb, ops);
	sbpl_filter(w->b, filter, w->places, path);
	/* Where it really is on macOS, and what there is beside it (R2.3). */
	if (str_eq(path, STR("/tmp")) && strcmp(filter, "subpath") == 0)
		buf_adds(w->b, " (subpath \"/private/tmp\") (subpath \"/private/var/folders\")");
	rule_close(w);
}

static unsigned ops_of(struct verdict v)
{
	return (v.data >= ACCESS_READ ? OPS_READ : 0) | (v.data == ACCESS_WRITE ? OPS_WRITE : 0) |
	       (v.exec ? OPS_EXEC : 0);
}

/* From one verdict to another, in at most two rules. */
static void add_change(struct writer *w, struct verdict from, struct verdict to, const char *filter,
		       struct str path)
{
	unsigned before = ops_of(from), after = ops_of(to);

	add_rule(w, "allow", after & ~before, filter, path);
	add_rule(w, "deny", before & ~after, filter, path);
}

/* What git itself writes, as far as it is below the tree. */
static void open_git_data(struct writer *w, struct str tree)
{
	const struct ruleset *set = w->policy->git_data;

	if (hidden_writes(w) != HIDDEN_GIT || !set)
		return;
	for (size_t i = 0; i < ruleset_count(set); i++) {
		const struct rule *rule = ruleset_at(set, i);

		rule_open(w, "allow", OPS_WRITE);
		buf_adds(w->b, "(require-all ");
		sbpl_filter(w->b, "subpath", w->places, tree);
		buf_addc(w->b, ' ');
		if (rule->kind == RULE_GLOB)
			sbpl_glob(w->b, w->places, rule->path);
		else
			sbpl_filter(w->b, "subpath", w->places, rule->path);
		buf_addc(w->b, ')');
		rule_close(w);
	}
}

/* Of a tree that became writable, hidden names stay as they are. */
static void close_hidden(struct writer *w, struct str tree)
{
	struct str top = hidden_top(w, tree);

	if (hidden_writes(w) == HIDDEN_ALLOW ||
	    !(path_below(tree, w->places->workdir) || path_below(w->places->workdir, tree)))
		return;
	rule_open(w, "deny", OPS_WRITE);
	sbpl_hidden_below(w->b, w->places, top);
	rule_close(w);
	open_git_data(w, top);
}

static void remember(struct writer *w, struct str path, bool pin)
{
	struct str *slot = NULL;

	if (pin)
		slot = vec_push(&w->pins, w->arena);
	else
		slot = vec_push(&w->parents, w->arena);
	if (slot)
		*slot = path;
	else
		w->failed = true;
}

/* Whoever moves a directory away takes what is protected in it along, and whoever moves
 * one to its place brings what must not appear there: the directories on the way are
 * neither made nor moved. */
static void pin_parents(struct writer *w, struct str top, struct str path)
{
	while (path.n > top.n && path.n > 1) {
		bool known = false;

		path = path_parent(path);
		vec_each(p, &w->pins)
			known |= str_eq(*p, path);
		if (!known)
			remember(w, path, true);
	}
}

/* Programs look at each directory on the way to what they open. */
static void lead_to(struct writer *w, struct str path)
{
	struct str parent = path_parent(path);

	vec_each(p, &w->parents)
		if (str_eq(path_parent(*p), parent))
			return;
	remember(w, path, false);
}

static void place_tree(struct writer *w, const struct spot *p, const struct view *above)
{
	struct verdict from = said(w, above, p->path), to = decide_below(w, p);
	struct view *view;

	if (from.data == to.data && from.exec == to.exec && !p->closed)
		return;
	if (!p->closed)
		add_change(w, from, to, "subpath", p->path);
	if (to.data == ACCESS_WRITE && from.data != ACCESS_WRITE)
		close_hidden(w, p->path);
	if (to.data < ACCESS_WRITE && above->verdict.data == ACCESS_WRITE)
		pin_parents(w, above->path, p->path);
	if (to.data > ACCESS_NONE && from.data == ACCESS_NONE)
		lead_to(w, p->path);
	view = vec_push(&w->views, w->arena);
	if (view)
		*view = (struct view){ p->path, to, p->closed };
	else
		w->failed = true;
}

static void place(struct writer *w, const struct spot *p)
{
	struct view above = around(w, p->path);
	struct verdict from, to;

	if (above.closed)
		return;
	if (p->tree)
		place_tree(w, p, &above);
	if (!p->exact)
		return;
	above = around(w, p->path);
	from = said(w, &above, p->path);
	to = decide(w, p, p->path);
	add_change(w, from, to, "literal", p->path);
	if (to.data < ACCESS_WRITE && above.verdict.data == ACCESS_WRITE)
		pin_parents(w, above.path, p->path);
	if (to.data > ACCESS_NONE && from.data == ACCESS_NONE)
		lead_to(w, p->path);
}

static void add_globs(struct writer *w, const struct ruleset *rules)
{
	for (size_t i = 0; rules && i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);

		if (rule->kind != RULE_GLOB ||
		    (rule->right != RIGHT_DENY && rule->right != RIGHT_READ))
			continue;
		rule_open(w, "deny", rule->right == RIGHT_DENY ? OPS_ALL : OPS_WRITE);
		sbpl_glob(w->b, w->places, rule->path);
		rule_close(w);
	}
}

static void add_patterns(struct writer *w)
{
	add_globs(w, w->policy->trusted.rules);
	vec_each(o, &w->policy->narrowing)
		add_globs(w, (*o)->settings.rules);
}

static void add_closed(struct writer *w)
{
	struct str last = { 0 };

	vec_each(p, &w->spots) {
		if (!p->closed || (last.n && path_below(p->path, last)))
			continue;
		last = p->path;
		add_rule(w, "deny", OPS_ALL, "subpath", p->path);
	}
}

static void add_devices(struct writer *w)
{
	buf_adds(w->b, "(allow file-read* file-write-data file-ioctl");
	for (size_t i = 0; i < COUNT(devices); i++)
		buf_addf(w->b, " (literal \"%s\")", devices[i]);
	/* Terminals can be made where everything is open. */
	buf_adds(w->b, w->open ? " (literal \"/dev/ptmx\")" : "");
	buf_adds(w->b, " (subpath \"/dev/fd\"))\n"
		       "(allow file-read-data file-write-data file-ioctl "
		       "(regex \"^/dev/ttys[0-9]+$\"))\n");
}

static void add_tmpdir(struct writer *w)
{
	struct decision d = policy_decide(w->policy, w->places->tmp);

	if (d.data != ACCESS_WRITE || !is_elsewhere(w, &d))
		return;
	buf_adds(w->b, "(if (param \"" SBPL_TMPDIR "\") (allow");
	add_ops(w->b, OPS_READ | OPS_WRITE | (d.exec ? OPS_EXEC : 0));
	buf_adds(w->b, " (subpath (param \"" SBPL_TMPDIR "\"))))\n"
		       "(if (param \"" SBPL_TMPDIR "\") (allow file-read-metadata "
		       "(path-ancestors (param \"" SBPL_TMPDIR "\"))))\n");
}

static void add_narrow(struct writer *w, const char *words, const char *filter, struct str path)
{
	buf_addf(w->b, "(%s ", words);
	sbpl_filter(w->b, filter, w->places, path);
	rule_close(w);
}

static void add_pins(struct writer *w)
{
	vec_each(p, &w->pins)
		add_narrow(w, "deny file-write-create file-write-unlink", "literal", *p);
}

static void add_parents(struct writer *w)
{
	vec_each(p, &w->parents)
		if (p->n > 1)
			add_narrow(w, "allow file-read-metadata", "path-ancestors", *p);
}

bool seatbelt_files(struct arena *a, const struct policy *policy, bool open, struct buf *b)
{
	struct writer w = {
		.arena = a, .b = b, .policy = policy, .places = &policy->places, .open = open
	};
	struct view *root = vec_push(&w.views, a);

	if (!root)
		return false;
	*root = (struct view){ STR("/"), { open ? ACCESS_READ : ACCESS_NONE, open }, false };
	collect(&w);
	mark_closed(&w);
	vec_each(p, &w.spots)
		place(&w, p);
	add_closed(&w);
	add_patterns(&w);
	add_tmpdir(&w);
	add_devices(&w);
	add_pins(&w);
	add_parents(&w);
	return !w.failed;
}
