/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of the embedded profiles. */
#include "policy/profiles.h"

static int append(struct arena *a, struct config *to, const struct config *from,
		  struct cordon_error *err)
{
	vec_each(p, &from->profiles) {
		struct profile *slot = vec_push(&to->profiles, a);

		if (!slot)
			return err_nomem(err, "profiles");
		*slot = *p;
	}
	if (from->sandbox.statements.n)
		to->sandbox = from->sandbox;
	return 0;
}

int profiles_load_one(struct arena *a, const struct builtin_file *file, struct config *ret,
		      struct cordon_error *err)
{
	const char *name = arena_printf(a, "profile %s", file->name);

	if (!name)
		return err_nomem(err, "profiles");
	return config_parse(a, (struct str){ file->text, file->size }, name, SOURCE_PROFILE, ret,
			    err);
}

int profiles_load_defaults(struct arena *a, struct config *ret, struct cordon_error *err)
{
	for (const struct builtin_file *f = builtin_files; f->name; f++)
		if (str_eq(str_of(f->name), STR("defaults")))
			return profiles_load_one(a, f, ret, err);
	BUG("no built-in defaults");
}

int profiles_load(struct arena *a, struct config *ret, struct cordon_error *err)
{
	struct config all = { .origin = { SOURCE_PROFILE, "built-in profiles", 0, 0 } };

	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		struct config one;
		int r = profiles_load_one(a, f, &one, err);

		if (r == 0)
			r = append(a, &all, &one, err);
		if (r < 0)
			return r;
	}
	*ret = all;
	return 0;
}

const struct builtin_file *profiles_text(struct str name)
{
	for (const struct builtin_file *f = builtin_files; f->name; f++)
		if (str_eq(name, str_of(f->name)) && !str_eq(name, STR("defaults")))
			return f;
	return NULL;
}
