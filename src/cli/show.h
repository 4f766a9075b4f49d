/* SPDX-License-Identifier: Apache-2.0 */
/* A policy as a configuration file that means the same, and as JSON. */
#ifndef CORDON_CLI_SHOW_H
#define CORDON_CLI_SHOW_H

#include <jansson.h>
#include "base/buf.h"
#include "policy/policy.h"

/* The name of the one profile that the printed file defines. */
#define SHOW_PROFILE "effective"

/* TOML with a comment on each value that says where it came from. */
int show_toml(struct arena *a, const struct policy *policy, struct buf *b,
	      struct cordon_error *err);
/* What project files say without effect, a line each: it would widen, or holds already. */
void show_idle(struct buf *b, const struct policy *policy);
/* Does a project file ask for more than there is? */
bool show_widens(const struct policy *policy);
/* *ret is the caller's. */
int show_json(struct arena *a, const struct policy *policy, json_t **ret,
	      struct cordon_error *err);

#endif
