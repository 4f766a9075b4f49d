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

int profiles_load(struct arena *a, struct config *ret, struct cordon_error *err)
{
	struct config all = { .origin = { SOURCE_PROFILE, "built-in profiles", 0, 0 } };

	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		const char *file = arena_printf(a, "profile %s", f->name);
		struct config one;
		int r;

		if (!file)
			return err_nomem(err, "profiles");
		r = config_parse(a, (struct str){ f->text, f->size }, file, SOURCE_PROFILE, &one,
				 err);
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
