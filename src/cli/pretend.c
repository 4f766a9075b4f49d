/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is not there: everything else is asked of the real world. */
#include "cli/pretend.h"

#include "base/path.h"

static int resolve(const struct world *world, struct arena *a, struct str path,
		   struct str *ret_real, struct node *ret_node, struct cordon_error *err)
{
	const struct pretended *what = world->data;
	int r = what->real.resolve(&what->real, a, path, ret_real, ret_node, err);

	if (r == 0 && ret_node->type == NODE_ABSENT && str_eq(*ret_real, what->path))
		ret_node->type = NODE_FILE;
	return r;
}

static bool may_hold(const struct world *world, struct arena *a, struct str dir, struct str name)
{
	const struct pretended *what = world->data;

	return (str_eq(dir, path_parent(what->path)) && str_eq(name, path_last(what->path))) ||
	       !what->real.may_hold || what->real.may_hold(&what->real, a, dir, name);
}

static bool folds(const struct world *world, struct arena *a, struct str dir, struct str *ret_top)
{
	const struct pretended *what = world->data;

	return what->real.folds && what->real.folds(&what->real, a, dir, ret_top);
}

static bool has_twin(const struct world *world, struct arena *a, struct str path)
{
	const struct pretended *what = world->data;

	return what->real.has_twin && what->real.has_twin(&what->real, a, path);
}

static bool is_executable(const struct world *world, struct str path)
{
	const struct pretended *what = world->data;

	return !what->real.is_executable || what->real.is_executable(&what->real, path);
}

static int aliases(const struct world *world, struct arena *a, struct str path,
		   struct world_paths *ret, struct cordon_error *err)
{
	const struct pretended *what = world->data;

	return what->real.aliases ? what->real.aliases(&what->real, a, path, ret, err) : 0;
}

void pretend_file(struct pretended *what, struct world *ret)
{
	what->real = *ret;
	*ret = (struct world){ .resolve = resolve,
			       .may_hold = may_hold,
			       .folds = folds,
			       .has_twin = has_twin,
			       .is_executable = is_executable,
			       .aliases = aliases,
			       .data = what };
}
