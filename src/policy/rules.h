/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules and sets of rules.
 *
 * A rule gives a right on a path. A ruleset finds, for an object, the deepest rule
 * of each axis (DESIGN 4, rules 2, 4 and 5). Looking up costs the depth of the
 * object times the glob states alive on the way, not the number of rules: literal
 * components are found in one hash table, and only globs keep extra states.
 *
 * A ruleset is built once and then constant; matching allocates nothing and may run
 * in several threads.
 */
#ifndef CORDON_POLICY_RULES_H
#define CORDON_POLICY_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "policy/origin.h"

enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE };
const char *access_to_string(enum access access);

enum right { RIGHT_DENY, RIGHT_READ, RIGHT_WRITE, RIGHT_EXEC };
const char *right_to_string(enum right right);

enum rule_kind { RULE_SUBTREE, RULE_EXACT, RULE_GLOB };

enum rule_flag {
	RULE_SECRET = 1,	/* opened only by a user or flag rule (rule 12) */
	RULE_CONTROL = 2,	/* decides what runs later, outside */
	RULE_OPTIONAL = 4,	/* built in: silently useless where the path is absent */
	RULE_ALIAS = 8,		/* the real path of the rule before it ... */
	RULE_VIA_LINK = 64,	/* ... which was spelled through a symlink */
	RULE_PRIVATE = 16,	/* the sandbox's own /tmp, /dev, /proc: not the host's */
	RULE_HARMLESS = 32,	/* an exception inside a secret */
	RULE_CACHE = 128,	/* private, and kept for the project */
	RULE_CAP = 256,		/* takes writing away and gives nothing */
};

enum node_type { NODE_ABSENT, NODE_FILE, NODE_DIR, NODE_SYMLINK, NODE_SOCKET, NODE_OTHER };

/* What was found at a path when the policy was built. */
struct node {
	enum node_type type;
	uint64_t dev, ino;
};

struct rule {
	enum right right;
	enum rule_kind kind;
	unsigned flags;		/* enum rule_flag */
	struct str path;	/* normal path, or a glob with quoting for RULE_GLOB */
	struct str spelled;	/* as written */
	const char *set;	/* "secrets", "control"; NULL when not from a set */
	struct origin origin;
	struct node node;	/* not for globs */
	uint16_t glob_index;	/* position among the globs of its ruleset */
};

/* The most rules, and the most pattern components, of one ruleset. */
#define RULES_MAX 20000
#define GLOB_STATES_MAX 512

struct ruleset;

/* An empty ruleset in the arena; NULL when memory is out. */
struct ruleset *ruleset_new(struct arena *a);
/* Room for as many rules as a profile has, which saves growing to it; false: no memory. */
bool ruleset_reserve(struct ruleset *set);
/* Adds a copy of the rule (its strings must outlive the set). */
int ruleset_add(struct ruleset *set, const struct rule *rule, struct cordon_error *err);
size_t ruleset_count(const struct ruleset *set);
const struct rule *ruleset_at(const struct ruleset *set, size_t i);

struct hit {
	const struct rule *rule;	/* NULL: nothing matched */
	size_t depth;
};

struct match {
	struct hit data;	/* deciding read, write or deny */
	struct hit exec;	/* deciding exec or deny */
	struct hit secret;	/* deepest secret rule */
	struct hit control;	/* deepest control rule: a cap, not a grant */
	struct hit opener;	/* deepest read or write by user, flags or @harmless */
	struct hit exec_opener;	/* deepest exec by user or flags */
	/* A more restrictive rule sits strictly below: the object must stay a
	 * directory (rule 11). */
	bool restricted_below;
	/* Some rule matches here or could match below. */
	bool alive;
	/* More spellings of names than can be followed: there is no telling. Only where
	 * names are folded. */
	bool lost;
};

/* object must be a normal path. */
void ruleset_match(const struct ruleset *set, struct str object, struct match *ret);
/* The components of the object beyond the first `exact` match what differs from them in
 * case only, too (fmt/fold.h). */
void ruleset_match_folded(const struct ruleset *set, struct str object, size_t exact,
			  struct match *ret);
#define EXACT_WHOLLY SIZE_MAX
/* True only when a/x and b/x match the same rules, at depths that compare the same, for
 * every x: whatever lies below. False says nothing. */
bool ruleset_same_below(const struct ruleset *set, struct str a, struct str b, size_t exact);

#endif
