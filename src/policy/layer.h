/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one source says: a flat list of statements, in the order written.
 *
 * A statement is one key with one value; a list gives one statement per element,
 * and an empty list gives a single statement with `empty` set, because "nothing"
 * written down is not the same as nothing said. Layers are never merged: the policy
 * folds them in order (DESIGN 4, rules 7 and 8).
 */
#ifndef CORDON_POLICY_LAYER_H
#define CORDON_POLICY_LAYER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "fmt/toml.h"
#include "policy/keys.h"
#include "policy/rules.h"

struct statement {
	enum key key;
	struct str text;	/* a path, host, name or NAME=VALUE; as written */
	uint64_t number;	/* bool, choice, milliseconds, bytes, count, port */
	bool empty;		/* the list was given without elements */
	bool cap;		/* of a read: takes writing away and gives nothing */
	struct origin origin;
};

struct layer {
	VEC(struct statement) statements;
};

/* The list of a key is at most this long, in any one place. */
#define LIST_MAX 10000

/* Reads one value as text, the way a flag gives it. A list may hold several,
 * separated by commas, where the key is NETWORK, HOSTS, NAMES, PORTS or PUBLISH. An empty value is
 * an error except for NETWORK, where it means "on". */
int layer_add_text(struct arena *a, struct layer *layer, enum key key, struct str text,
		   const struct origin *origin, struct cordon_error *err);
/* One element of a list, taken whole: no commas, no words such as "on". */
int layer_add_item(struct arena *a, struct layer *layer, enum key key, struct str text,
		   const struct origin *origin, struct cordon_error *err);
/* The list was given and has no elements. */
int layer_add_empty(struct arena *a, struct layer *layer, enum key key,
		    const struct origin *origin, struct cordon_error *err);
/* Reads one TOML value; messages start with the place of the fault. */
int layer_add_toml(struct arena *a, struct layer *layer, enum key key, bool by_alias,
		   const struct toml_value *value, const struct origin *origin,
		   struct cordon_error *err);

#endif
