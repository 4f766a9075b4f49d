/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private caches: where a toolchain's data directory is not writable, one that belongs
 * to the project takes its place.
 *
 * A directory that exists is covered by one of its own below
 * $CORDON_HOME/cache/project/<project>. For the others there is nothing to cover, and
 * the tool's variable names a directory in <project>/own, which shows under its own
 * path. Each covering directory is shown alone and `own` is never the source of
 * anything but itself, so no command can put a link where the next run takes a source.
 */
#ifndef CORDON_POLICY_CACHES_H
#define CORDON_POLICY_CACHES_H

#include <stdbool.h>
#include "policy/policy.h"

struct builder;

struct cache_row {
	const char *name;
	const char *directory;
	const char *root, *finds, *below;	/* finds NULL: the root does not move */
	const char *sets, *text;		/* sets NULL: no variable */
	const char *keeps;			/* NULL: `sets` moves this alone */
};
/* Ended by a row without a name. */
extern const struct cache_row cache_rows[];

/* Decides on each cache of the effective list and adds the rules; an error for a name
 * that is none. */
int build_caches(struct builder *b);
/* Where the /tmp lies that runs of one name share. */
int build_shared_tmp(struct builder *b);
/* A statement of `caches` names a toolchain that is in the table. */
int cache_check_name(const struct statement *s, struct cordon_error *err);

/* The cache that covers the directory `path`; NULL: none does. */
const struct cache *policy_cache_at(const struct policy *policy, struct str path);
/* Does this variable name a private cache that covers nothing? */
bool cache_named_by(const struct policy *policy, struct str variable);
/* The value its variable gets when the directory in `own` serves; NULL: the tool has
 * none, or memory is out. */
const char *cache_value(struct arena *a, const struct policy *policy, const struct cache *cache);

#endif
