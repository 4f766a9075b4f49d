/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in profiles: the TOML files in profiles/, embedded when cordon is built.
 */
#ifndef CORDON_POLICY_PROFILES_H
#define CORDON_POLICY_PROFILES_H

#include "base/arena.h"
#include "base/err.h"
#include "policy/config.h"

struct builtin_file {
	const char *name;	/* "moderate"; "defaults" for the settings of [sandbox] */
	const char *text;
	size_t size;
};

/* Ended by a row whose name is NULL; generated at build time. */
extern const struct builtin_file builtin_files[];

/* All of them as one configuration. An error here is a bug in the build. */
int profiles_load(struct arena *a, struct config *ret, struct cordon_error *err);
/* One of them; reading only what is needed keeps the start short. */
int profiles_load_one(struct arena *a, const struct builtin_file *file, struct config *ret,
		      struct cordon_error *err);
/* What holds when nobody says otherwise. */
int profiles_load_defaults(struct arena *a, struct config *ret, struct cordon_error *err);
/* The text of one profile as it was written; NULL when it is not built in. */
const struct builtin_file *profiles_text(struct str name);

#endif
