/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ruleset: a tree of path components with three kinds of edges - literal, found
 * by hash; pattern, tried one by one; and "**", which stays alive over any number of
 * components. Matching walks the object once with the set of states alive.
 */
#include "policy/rules.h"

#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "fmt/fold.h"
#include "fmt/glob.h"
#include "fmt/located.h"

#define NO_NODE UINT32_MAX
#define ROOT_NODE 0
#define RULES_USUAL 512 /* a power of two: what a built-in profile comes to */

struct rule_node {
	struct str name; /* literal component or pattern */
	uint32_t parent;
	uint32_t first_literal; /* children by literal, a list for folded comparison */
	uint32_t next_literal;
	uint32_t first_pattern; /* children by pattern, a list */
	uint32_t next_pattern;
	uint32_t any;	       /* child by "**" */
	uint32_t first_rule;   /* rules that end here, a list through next_rule */
	uint16_t any_index;    /* position among the "**" nodes */
	bool restricted_below; /* a read or deny rule ends at a literal descendant */
	bool is_any;
	bool branches; /* has children: a longer path may still meet a rule */
};

struct ruleset {
	struct arena *arena;
	VEC(struct rule) rules;
	VEC(uint32_t) next_rule;
	VEC(struct rule_node) nodes;
	uint32_t *table;   /* literal edges: hash of (parent, name) -> node */
	size_t table_size; /* a power of two */
	size_t literals;
	size_t glob_states;
	size_t globs;
	size_t anys;
	struct str last_dir; /* the rules of a set often share their directory */
	uint32_t last_dir_node;
};

const char *access_to_string(enum access access)
{
	static const char *const names[] = { "none", "read", "write" };

	return names[access];
}

const char *right_to_string(enum right right)
{
	static const char *const names[] = { "deny", "read", "write", "exec" };

	return names[right];
}

static uint32_t node_new(struct ruleset *set, struct str name, uint32_t parent)
{
	struct rule_node *node = vec_push(&set->nodes, set->arena);

	if (!node)
		return NO_NODE;
	*node = (struct rule_node){
		.name = name,
		.parent = parent,
		.first_literal = NO_NODE,
		.next_literal = NO_NODE,
		.first_pattern = NO_NODE,
		.next_pattern = NO_NODE,
		.any = NO_NODE,
		.first_rule = NO_NODE,
	};
	set->nodes.at[parent].branches = set->nodes.n > 1;
	return (uint32_t)(set->nodes.n - 1);
}

struct ruleset *ruleset_new(struct arena *a)
{
	struct ruleset *set = arena_new(a, struct ruleset);

	if (!set)
		return NULL;
	set->arena = a;
	return node_new(set, STR(""), ROOT_NODE) == NO_NODE ? NULL : set;
}

size_t ruleset_count(const struct ruleset *set)
{
	return set->rules.n;
}

const struct rule *ruleset_at(const struct ruleset *set, size_t i)
{
	return &set->rules.at[i];
}

/* The slot that holds the edge, or the free one where it belongs. */
static uint32_t *edge_slot(const struct ruleset *set, uint32_t parent, struct str name)
{
	size_t i = str_hash(name, parent) & (set->table_size - 1);

	for (;; i = (i + 1) & (set->table_size - 1)) {
		uint32_t child = set->table[i];

		if (child == NO_NODE || (set->nodes.at[child].parent == parent &&
					 str_eq(set->nodes.at[child].name, name)))
			return &set->table[i];
	}
}

static uint32_t literal_child(const struct ruleset *set, uint32_t parent, struct str name)
{
	return set->table_size ? *edge_slot(set, parent, name) : NO_NODE;
}

static bool table_resize(struct ruleset *set, size_t size)
{
	size_t old_size = set->table_size;
	uint32_t *old = set->table;

	set->table = arena_room(set->arena, size * sizeof(*set->table));
	if (!set->table) {
		set->table = old;
		return false;
	}
	memset(set->table, 0xff, size * sizeof(*set->table));
	set->table_size = size;
	for (size_t i = 0; i < old_size; i++)
		if (old[i] != NO_NODE) {
			const struct rule_node *node = &set->nodes.at[old[i]];

			*edge_slot(set, node->parent, node->name) = old[i];
		}
	return true;
}

/* Keeps the table at most half full. */
static bool table_make_room(struct ruleset *set)
{
	return set->literals * 2 < set->table_size ||
	       table_resize(set, set->table_size ? set->table_size * 2 : 64);
}

bool ruleset_reserve(struct ruleset *set)
{
	return vec_reserve(&set->rules, set->arena, RULES_USUAL) &&
	       vec_reserve(&set->next_rule, set->arena, RULES_USUAL) &&
	       vec_reserve(&set->nodes, set->arena, 2 * RULES_USUAL) &&
	       (set->table_size || table_resize(set, 4 * RULES_USUAL));
}

static uint32_t add_literal(struct ruleset *set, uint32_t parent, struct str name)
{
	uint32_t child = literal_child(set, parent, name);

	if (child != NO_NODE || !table_make_room(set))
		return child;
	child = node_new(set, name, parent);
	if (child != NO_NODE) {
		*edge_slot(set, parent, name) = child;
		set->nodes.at[child].next_literal = set->nodes.at[parent].first_literal;
		set->nodes.at[parent].first_literal = child;
		set->literals++;
	}
	return child;
}

static uint32_t add_pattern(struct ruleset *set, uint32_t parent, struct str name)
{
	uint32_t child = set->nodes.at[parent].first_pattern;

	for (; child != NO_NODE; child = set->nodes.at[child].next_pattern)
		if (str_eq(set->nodes.at[child].name, name))
			return child;
	child = node_new(set, name, parent);
	if (child == NO_NODE)
		return NO_NODE;
	set->nodes.at[child].next_pattern = set->nodes.at[parent].first_pattern;
	set->nodes.at[parent].first_pattern = child;
	return child;
}

static uint32_t add_any(struct ruleset *set, uint32_t parent)
{
	uint32_t child = set->nodes.at[parent].any;

	if (child != NO_NODE)
		return child;
	child = node_new(set, STR("**"), parent);
	if (child != NO_NODE) {
		set->nodes.at[child].is_any = true;
		set->nodes.at[child].any_index = (uint16_t)set->anys++;
		set->nodes.at[parent].any = child;
	}
	return child;
}

/* A literal component of a glob may be quoted; the tree holds it unquoted. */
static bool unquoted(struct ruleset *set, struct str part, struct str *ret)
{
	autobuf struct buf b = buf_make(part.n);
	char *copy;

	if (str_find(part, '\\') == part.n) {
		*ret = part;
		return true;
	}
	glob_unquote(&b, part);
	copy = b.failed ? NULL : arena_dup(set->arena, buf_str(&b));
	*ret = (struct str){ copy, b.n };
	return copy != NULL;
}

/* Walks or makes the nodes of a glob; "a/ **" means "a/ ** / *": at least one more. */
static uint32_t add_glob(struct ruleset *set, struct str glob)
{
	struct str rest = glob, part;
	uint32_t node = ROOT_NODE;
	size_t before = set->nodes.n;

	while (node != NO_NODE && path_next(&rest, &part)) {
		if (str_eq(part, STR("**"))) {
			node = add_any(set, node);
			if (!rest.n && node != NO_NODE)
				node = add_pattern(set, node, STR("*"));
		} else if (glob_has_magic(part)) {
			node = add_pattern(set, node, part);
		} else {
			node = unquoted(set, part, &part) ? add_literal(set, node, part) : NO_NODE;
		}
	}
	set->glob_states += set->nodes.n - before;
	return node;
}

/* The ancestors by literal edges of a restrictive rule must stay directories. */
static void mark_restricted(struct ruleset *set, uint32_t node)
{
	while (node != ROOT_NODE) {
		node = set->nodes.at[node].parent;
		set->nodes.at[node].restricted_below = true;
	}
}

/* The node of a path without a pattern. */
static uint32_t add_plain(struct ruleset *set, struct str path)
{
	struct str rest = path_parent(path), part;
	uint32_t node = ROOT_NODE;

	if (path.n == 1)
		return ROOT_NODE;
	if (str_eq(rest, set->last_dir)) {
		node = set->last_dir_node;
	} else {
		while (node != NO_NODE && path_next(&rest, &part))
			node = add_literal(set, node, part);
		set->last_dir = node == NO_NODE ? (struct str){ 0 } : path_parent(path);
		set->last_dir_node = node;
	}
	return node == NO_NODE ? NO_NODE : add_literal(set, node, path_last(path));
}

int ruleset_add(struct ruleset *set, const struct rule *rule, struct cordon_error *err)
{
	struct rule *copy;
	uint32_t node, *next;

	if (set->rules.n >= RULES_MAX)
		return err_set(err, CORDON_E_LIMIT, 0, "policy", "more than %d rules", RULES_MAX);
	node = rule->kind == RULE_GLOB ? add_glob(set, rule->path) : add_plain(set, rule->path);
	if (rule->kind == RULE_GLOB &&
	    (set->glob_states > GLOB_STATES_MAX || set->globs >= GLOB_STATES_MAX))
		return err_set(err, CORDON_E_LIMIT, 0, "policy",
			       "glob %s: the globs of one policy have more than %d parts together",
			       quote(rule->spelled).text, GLOB_STATES_MAX);
	copy = node == NO_NODE ? NULL : vec_push(&set->rules, set->arena);
	next = copy ? vec_push(&set->next_rule, set->arena) : NULL;
	if (!next)
		return err_nomem(err, "policy");
	*copy = *rule;
	if (rule->kind == RULE_GLOB)
		copy->glob_index = (uint16_t)set->globs++;
	*next = set->nodes.at[node].first_rule;
	set->nodes.at[node].first_rule = (uint32_t)(set->rules.n - 1);
	if (rule->right == RIGHT_DENY || rule->right == RIGHT_READ)
		mark_restricted(set, node);
	return 0;
}

/* The states alive after some components of the object. Literal edges of one state
 * lead to one state, so beside the globs' there is never more than one - unless names
 * are folded: then there may be one for each spelling, and too many of them are lost. */
struct states {
	size_t n;
	bool lost;
	uint32_t at[GLOB_STATES_MAX + 2];
	uint64_t seen_anys[GLOB_STATES_MAX / 64 + 1];
};

/* A set with n members uses only the first words of its bits. */
static void bits_clear(uint64_t *bits, size_t n)
{
	for (size_t i = 0; i * 64 < n; i++)
		bits[i] = 0;
}

static void states_clear(const struct ruleset *set, struct states *s)
{
	s->n = 0;
	s->lost = false;
	bits_clear(s->seen_anys, set->anys);
}

static bool test_and_set(uint64_t *bits, size_t i)
{
	uint64_t bit = (uint64_t)1 << (i % 64);
	bool before = bits[i / 64] & bit;

	bits[i / 64] |= bit;
	return before;
}

/* Only a "**" can be reached in two ways, from itself and from its parent. */
static void states_add(const struct ruleset *set, struct states *s, uint32_t i)
{
	while (i != NO_NODE) {
		const struct rule_node *node = &set->nodes.at[i];

		if (node->is_any && test_and_set(s->seen_anys, node->any_index))
			return;
		if (s->n == sizeof(s->at) / sizeof(s->at[0])) {
			s->lost = true;
			return;
		}
		s->at[s->n++] = i;
		i = node->any; /* "**" matches nothing as well */
	}
}

/* One component of the object; where it folds, `folded` is in the buffer. */
struct part {
	struct str name;
	bool folds;
	struct str folded;
	char buffer[2 * PATH_BYTES_MAX];
};

static bool pattern_matches(struct str pattern, const struct part *part, bool *ret_lost)
{
	char buffer[sizeof(part->buffer)];
	struct str folded;

	if (!part->folds)
		return glob_component_match(pattern, part->name);
	if (!fold_text(pattern, buffer, sizeof(buffer), &folded)) {
		*ret_lost = true;
		return false;
	}
	return glob_component_match(folded, part->folded);
}

static void step_literals(const struct ruleset *set, uint32_t from, const struct part *part,
			  struct states *to)
{
	uint32_t child = set->nodes.at[from].first_literal;

	if (!part->folds) {
		states_add(set, to, literal_child(set, from, part->name));
		return;
	}
	for (; child != NO_NODE; child = set->nodes.at[child].next_literal)
		if (fold_eq(set->nodes.at[child].name, part->name))
			states_add(set, to, child);
}

static void states_step(const struct ruleset *set, const struct states *from,
			const struct part *part, struct states *to)
{
	states_clear(set, to);
	to->lost = from->lost;
	for (size_t i = 0; i < from->n; i++) {
		const struct rule_node *node = &set->nodes.at[from->at[i]];
		uint32_t p = node->first_pattern;

		if (node->is_any)
			states_add(set, to, from->at[i]);
		step_literals(set, from->at[i], part, to);
		for (; p != NO_NODE; p = set->nodes.at[p].next_pattern)
			if (pattern_matches(set->nodes.at[p].name, part, &to->lost))
				states_add(set, to, p);
	}
}

static void offer(struct hit *hit, const struct rule *rule, size_t depth)
{
	const struct rule *old = hit->rule;

	/* enum right is ordered by access: of one source the lower one wins a tie. */
	if (old && hit->depth == depth &&
	    (old->origin.source > rule->origin.source ||
	     (old->origin.source == rule->origin.source && old->right <= rule->right)))
		return;
	*hit = (struct hit){ rule, depth };
}

static void offer_rule(struct match *m, const struct rule *rule, size_t depth)
{
	bool opens = (rule->origin.source >= SOURCE_USER && rule->origin.source <= SOURCE_FLAGS) ||
		     rule->flags & RULE_HARMLESS;

	/* A control rule takes writing away and gives nothing: where a link of that name
	 * leads is up to whoever made the workdir. */
	if (rule->flags & RULE_CAP || (rule->flags & RULE_CONTROL && rule->right == RIGHT_READ &&
				       rule->origin.source == SOURCE_PROFILE)) {
		offer(&m->control, rule, depth);
		return;
	}
	if (rule->right == RIGHT_EXEC || rule->right == RIGHT_DENY)
		offer(&m->exec, rule, depth);
	if (rule->right != RIGHT_EXEC)
		offer(&m->data, rule, depth);
	if (rule->flags & RULE_SECRET)
		offer(&m->secret, rule, depth);
	else if (opens && rule->right != RIGHT_DENY)
		offer(rule->right == RIGHT_EXEC ? &m->exec_opener : &m->opener, rule, depth);
}

struct walk {
	const struct ruleset *set;
	struct match *match;
	size_t depth;
	size_t exact; /* components beyond these compare folded */
	bool last;    /* no component of the object is left */
	struct part part;
	uint64_t seen_globs[GLOB_STATES_MAX / 64 + 1];
	struct states alive[2];
};

static void offer_node(struct walk *w, const struct rule_node *node)
{
	uint32_t r = node->first_rule;

	for (; r != NO_NODE; r = w->set->next_rule.at[r]) {
		const struct rule *rule = &w->set->rules.at[r];

		if (rule->kind == RULE_EXACT && !w->last)
			continue;
		/* A glob's depth is that of the shortest prefix it matches. */
		if (rule->kind == RULE_GLOB && test_and_set(w->seen_globs, rule->glob_index))
			continue;
		offer_rule(w->match, rule, w->depth);
	}
}

/* Takes the next component off *rest. */
static bool next_part(struct walk *w, struct str *rest)
{
	struct part *part = &w->part;

	if (!path_next(rest, &part->name))
		return false;
	part->folds = w->depth >= w->exact;
	if (part->folds &&
	    !fold_text(part->name, part->buffer, sizeof(part->buffer), &part->folded))
		w->match->lost = true;
	return !w->match->lost;
}

/* Is the node the very component that was walked, not a pattern for it? */
static bool is_literal(const struct rule_node *node, const struct part *part)
{
	return !node->is_any &&
	       (str_eq(node->name, part->name) || (part->folds && fold_eq(node->name, part->name)));
}

/* Walks the object and fills the match; the states alive at its end. */
static const struct states *walk_object(struct walk *w, struct str object)
{
	struct str rest = object;
	const struct states *now;

	states_clear(w->set, &w->alive[0]);
	states_add(w->set, &w->alive[0], ROOT_NODE);
	for (;; w->depth++) {
		now = &w->alive[w->depth % 2];
		w->last = !rest.n || str_eq(rest, STR("/"));
		w->match->restricted_below = false;
		for (size_t i = 0; i < now->n; i++) {
			const struct rule_node *node = &w->set->nodes.at[now->at[i]];

			offer_node(w, node);
			if (node->restricted_below && is_literal(node, &w->part))
				w->match->restricted_below = true;
		}
		w->match->alive = now->n > 0;
		w->match->lost |= now->lost;
		if (!now->n || !next_part(w, &rest))
			return now;
		states_step(w->set, now, &w->part, &w->alive[(w->depth + 1) % 2]);
	}
}

static void walk_start(struct walk *w, const struct ruleset *set, size_t exact, struct match *match)
{
	*match = (struct match){ 0 };
	w->set = set;
	w->match = match;
	w->depth = 0;
	w->exact = exact;
	w->part.name = (struct str){ 0 };
	w->part.folds = false;
	bits_clear(w->seen_globs, set->globs);
}

void ruleset_match_folded(const struct ruleset *set, struct str object, size_t exact,
			  struct match *ret)
{
	struct walk w;

	walk_start(&w, set, exact, ret);
	walk_object(&w, object);
}

void ruleset_match(const struct ruleset *set, struct str object, struct match *ret)
{
	ruleset_match_folded(set, object, EXACT_WHOLLY, ret);
}

static bool same_hit(const struct hit *a, const struct hit *b)
{
	return a->rule == b->rule && a->depth == b->depth;
}

static bool same_bits(const uint64_t *a, const uint64_t *b, size_t n)
{
	for (size_t i = 0; i * 64 < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Is every state of a that leads on also one of b? */
static bool leads_on_within(const struct ruleset *set, const struct states *a,
			    const struct states *b)
{
	for (size_t i = 0; i < a->n; i++) {
		size_t j = 0;

		if (!set->nodes.at[a->at[i]].branches)
			continue;
		while (j < b->n && b->at[j] != a->at[i])
			j++;
		if (j == b->n)
			return false;
	}
	return true;
}

bool ruleset_same_below(const struct ruleset *set, struct str a, struct str b, size_t exact)
{
	const struct states *at_a, *at_b;
	struct match ma, mb;
	struct walk wa, wb;

	walk_start(&wa, set, exact, &ma);
	walk_start(&wb, set, exact, &mb);
	at_a = walk_object(&wa, a);
	at_b = walk_object(&wb, b);
	return !ma.lost && !mb.lost && same_hit(&ma.data, &mb.data) &&
	       same_hit(&ma.exec, &mb.exec) && same_hit(&ma.secret, &mb.secret) &&
	       same_hit(&ma.control, &mb.control) && same_hit(&ma.opener, &mb.opener) &&
	       same_hit(&ma.exec_opener, &mb.exec_opener) &&
	       same_bits(wa.seen_globs, wb.seen_globs, set->globs) &&
	       leads_on_within(set, at_a, at_b) && leads_on_within(set, at_b, at_a);
}
