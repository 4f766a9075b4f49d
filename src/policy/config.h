/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One configuration file as a value: what [sandbox] says directly, the profiles it
 * defines, and the locked rules. Built-in profiles are read by the same code.
 *
 * Nothing is skipped: an unknown key, a wrong type or a key that this kind of file
 * may not set is an error with file, line and column.
 */
#ifndef CORDON_POLICY_CONFIG_H
#define CORDON_POLICY_CONFIG_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "policy/layer.h"

#define CONFIG_BYTES_MAX ((size_t)1 << 20)
#define PROFILES_MAX 256

struct profile {
	struct str name;
	struct origin origin;
	struct layer layer;
};

struct config {
	struct origin origin;	/* source and file; line 0 */
	struct layer sandbox;
	struct layer locked;	/* only in a system file */
	VEC(struct profile) profiles;
	const struct config *above;	/* of a project file: the next one further up */
};

/* source decides what is allowed: PROFILE (built in), SYSTEM, USER or PROJECT. */
int config_parse(struct arena *a, struct str text, const char *file, enum source source,
		 struct config *ret, struct cordon_error *err);
/* NULL when the file does not define it. */
const struct profile *config_profile(const struct config *config, struct str name);

#endif
