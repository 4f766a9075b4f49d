/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the text of a path to rules: sets, placeholders, quoting, globs, and both
 * spellings of a path with symlinks in it (DESIGN 4, "Paths").
 *
 *	{workdir} {home} {tmp} {data} {gitdir}   places; ~ and ~/ at the start mean {home}
 *	@secrets @control ...            the named sets of profiles/sets.toml
 *	=PATH                            that object only, not what is below it
 *	* ? [] **                        globs;  \ quotes a character, \xNN gives a byte
 *
 * A relative path is below the workdir.
 */
#ifndef CORDON_POLICY_RESOLVE_H
#define CORDON_POLICY_RESOLVE_H

#include "base/arena.h"
#include "base/err.h"
#include "policy/layer.h"
#include "policy/rules.h"
#include "policy/world.h"

/* Adds the rules of one PATHS statement to the set. */
int resolve_statement(struct arena *a, const struct world *world, const struct places *places,
		      const struct statement *statement, struct ruleset *set,
		      struct cordon_error *err);
/* Expands and resolves one plain path (no glob, no set) to its real path. */
int resolve_path(struct arena *a, const struct world *world, const struct places *places,
		 struct str text, struct str *ret_real, struct node *ret_node,
		 struct cordon_error *err);

#endif
