/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy: a value that says what may happen, made from layers, and the one place
 * where it is interpreted (policy_decide). Pure: no system call, no clock, no
 * environment.
 *
 * Life: gather the inputs, policy_build, then only const. Everything is in the
 * caller's arena.
 */
#ifndef CORDON_POLICY_POLICY_H
#define CORDON_POLICY_POLICY_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "policy/config.h"
#include "policy/hosts.h"
#include "policy/keys.h"
#include "policy/layer.h"
#include "policy/rules.h"
#include "policy/srt.h"
#include "policy/world.h"

/* The value of one scalar setting and where it was said. */
struct setting {
	bool set;
	uint64_t number;
	struct str text;
	struct origin origin;
};

enum net_mode { NET_OFF, NET_LIST, NET_ON };
const char *net_mode_to_string(enum net_mode mode);

struct net_host {
	struct host host;
	struct origin origin;
};

struct net {
	enum net_mode mode;
	bool set;
	struct origin origin;	/* of the mode */
	VEC(struct net_host) hosts;
};

struct item_list {
	bool set;	/* said, be it with nothing in it */
	VEC(struct statement) items;
};

/* One evaluated opinion: the trusted sources folded together, or a project file, or
 * the locked rules. */
struct settings {
	struct setting at[KEY_COUNT];		/* scalars */
	struct item_list lists[KEY_COUNT];	/* unix, bind, caches, env.* */
	struct net net;
	struct ruleset *rules;
};

/* Who decided. */
enum layer_id { LAYER_TRUSTED, LAYER_PROJECT, LAYER_LOCKED, LAYER_HIDDEN, LAYER_SECRET,
		LAYER_CORDON };
const char *layer_id_to_string(enum layer_id layer);

/* A private cache (policy/caches.h). */
struct cache {
	const struct cache_row *row;	/* NULL: the directory the variables name */
	bool covers;		/* a directory exists at path; otherwise a variable is set */
	bool named;		/* a variable can name another place for it */
	struct str path;	/* where the toolchain keeps it */
	struct str source;	/* what takes its place; empty unless it covers */
	struct node node;	/* of the source */
};

struct policy_input {
	const char *profile;		/* --profile; NULL: mode, then configuration decide */
	const struct config *builtin;	/* the embedded defaults, at least; never NULL */
	const struct config *system;	/* NULL: no such file */
	const struct config *user;
	const struct config *project;	/* the nearest; each narrows, and those `above` it */
	const struct srt_settings *settings;	/* --settings; NULL: none */
	const struct layer *flags;	/* NULL: none */
	struct places places;
	const struct world *world;
	const char *const *environ;	/* the caller's; NULL: none */
	bool no_caches;			/* there is no place to keep them */
	bool no_sandbox;		/* --no-sandbox */
};

/* One that only narrows: a project file or the system's locked rules. */
struct opinion {
	enum layer_id layer;
	const char *file;
	struct settings settings;
};

struct policy {
	struct arena *arena;
	struct places places;
	const char *profile;
	bool confined;			/* false: rwx, --no-sandbox or enabled = false */
	const char *unconfined_reason;	/* what said so, when not confined */
	struct settings trusted;
	VEC(struct opinion *) narrowing;	/* project files from the workdir up, then locked */
	struct ruleset *own;		/* cordon's home: closed whatever anybody says */
	struct setting effective[KEY_COUNT];		/* scalars after narrowing */
	struct item_list effective_lists[KEY_COUNT];	/* lists after narrowing */
	VEC(struct net_host) hosts;	/* what a list of hosts is after narrowing */
	VEC(struct net_host) denied;	/* what everybody together takes from it */
	VEC(struct str) folding;	/* directories below which names compare folded too */
	struct ruleset *git_data;	/* exempt from hidden_writes = "git" of any layer */
	struct str cache_dir;		/* of this project; empty: no private caches */
	bool caches_lost;		/* asked for, and no place to keep them */
	VEC(struct cache) caches;
	struct cache cache_own;		/* path empty: no private caches */
	struct cache shared_tmp;	/* path empty: /tmp is not shared by name */
	VEC(const char *) warnings;
};

int policy_build(struct arena *a, const struct policy_input *in, struct policy **ret,
		 struct cordon_error *err);

/* After narrowing. A limit of 0 means none. */
uint64_t policy_number(const struct policy *policy, enum key key);
enum net_mode policy_net_mode(const struct policy *policy);
/* Has the system rules that nothing may undo? */
bool policy_is_locked(const struct policy *policy);

/* --- deciding ------------------------------------------------------------------ */

enum policy_op {
	POLICY_READ,
	POLICY_WRITE,	/* rule 3: create, delete, rename, link, truncate, metadata */
	POLICY_EXEC,
	POLICY_CREATE,	/* make something that is not a directory here (rule 11) */
};
const char *policy_op_to_string(enum policy_op op);
bool policy_op_from_string(struct str text, enum policy_op *ret);

struct decision {
	enum access data;
	bool exec;
	const struct rule *data_rule;	/* NULL: no rule matched, so nothing is allowed */
	const struct rule *exec_rule;
	enum layer_id data_layer, exec_layer;
	/* The data rule of the trusted sources, before anything took away from it: says
	 * whether the host's object is meant or a place of the sandbox's own. */
	const struct rule *trusted_rule;
	size_t trusted_depth;
	/* A more restrictive rule sits below: the object must stay a directory. */
	bool keep_directory;
};

/* object: a normal path, symlinks resolved (the last one only where the operation
 * follows it). Says what the rules say also when the policy does not confine; ask
 * policy->confined first. */
struct decision policy_decide(const struct policy *policy, struct str object);
/* The yes or no for one operation, with the rule that decided. */
bool policy_allows(const struct policy *policy, enum policy_op op, struct str object,
		   struct decision *ret);

/* True only when a/x and b/x get the same verdict for every x, whatever exists: no rule
 * tells the two trees apart. Says nothing of a and b themselves. */
bool policy_same_below(const struct policy *policy, struct str a, struct str b);
/* Are names below a and b compared in the same way, whatever lies there? A directory that
 * folds goes on folding wherever it is moved to. */
bool policy_same_folding(const struct policy *policy, struct str a, struct str b);

struct host_decision {
	bool allowed;
	enum layer_id layer;		/* TRUSTED or PROJECT or LOCKED */
	const struct net_host *host;	/* the pattern that allowed it; NULL otherwise */
	const struct net_host *denied;	/* the one that took it away; NULL otherwise */
	const struct origin *origin;	/* of the setting that decided; NULL: the default */
};
/* The pattern of deny_hosts that covers all of it; NULL: none. The loopback has several
 * spellings and is denied by each. */
const struct net_host *policy_denies_host(const struct policy *policy, const struct host *target);
struct host_decision policy_decide_host(const struct policy *policy, const struct host *target);

#endif
