/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a run: where it is, and whether it will be there and may be executed inside.
 * Nothing is enforced here; it is said before the start what the kernel would say less clearly. */
#include "run/program.h"

#include <errno.h>
#include <unistd.h>

#include "base/path.h"
#include "base/spawn.h"

#define stage "execute"
#define HOPS_MAX 40 /* as the kernel's */

/* The operation that says what is at a path: the nearest at or above it. Unlike
 * plan_shown_by it knows links, which a program may be spelled through. */
static const struct op *shown_by(const struct plan *plan, struct str path)
{
	const struct op *nearest = NULL;

	vec_each(op, &plan->ops) {
		bool shapes = op->kind >= OP_ROOT_EMPTY && op->kind <= OP_SOCKET;
		size_t least = nearest ? nearest->path.n : 0;

		/* Permission to execute shows a path unless another operation made it. */
		if (op->kind == OP_EXEC && nearest)
			shapes = op->path.n > least;
		if (shapes && op->path.n >= least && path_below(path, op->path))
			nearest = op;
	}
	return nearest;
}

/* A directory of the sandbox's own is empty when the command starts. The kernel would
 * only say that there is no such file, which the user can see is not so. */
static int check_visible(const struct plan *plan, struct str path, const char *program,
			 struct cordon_error *err)
{
	const struct op *op = execute_confines(plan) ? shown_by(plan, path) : NULL;
	bool private = op && (op->kind == OP_TMPFS || op->kind == OP_DEV || op->kind == OP_CACHE ||
			      op->kind == OP_SHARED_TMP);

	if (!private && !(op && op->kind == OP_ROOT_EMPTY))
		return 0;
	err_set(err, CORDON_E_NOT_FOUND, ENOENT, "exec", "cannot execute %s", program);
	if (!private)
		return err_hint(err, "the sandbox does not show it; --allow-read %.*s",
				STR_ARG(path_parent(path)));
	return err_hint(err,
			"the sandbox has its own %.*s; copy the program into the workdir, "
			"or --allow-read it",
			STR_ARG(op->path));
}

/* Are loader and libraries there? */
static bool shows_runtime(const struct policy *policy)
{
	struct decision d;

	return policy_allows(policy, POLICY_READ, STR("/usr/lib"), &d) &&
	       policy_allows(policy, POLICY_EXEC, STR("/usr/bin"), &d);
}

struct str program_place(struct str program, const struct places *places)
{
	struct str dir = path_parent(program), around = path_parent(dir);

	if (!str_eq(path_last(dir), STR("shims")) || path_depth(around) < 2 ||
	    path_below(places->home, around) || path_below(places->workdir, around))
		return program;
	return around;
}

/* Where the first link in a path leads; NULL: there is none in it. What is before that link has
 * none, so that a ".." in its target means what it says. */
static char *next_hop(struct arena *a, struct str path)
{
	char target[PATH_BYTES_MAX + 1];
	struct str rest = path, name;

	while (path_next(&rest, &name)) {
		struct str link = { path.p, (size_t)(name.p + name.n - path.p) };
		const char *copy = arena_dup(a, link);
		ssize_t n = copy ? readlink(copy, target, sizeof(target)) : -1;
		const char *text = n > 0 && (size_t)n < sizeof(target)
					   ? arena_printf(a, "%.*s%.*s", (int)n, target,
							  STR_ARG(rest))
					   : NULL;

		if (text)
			return path_normalise(a, path_parent(link), str_of(text));
	}
	return NULL;
}

struct str program_link(const struct situation *s, struct arena *a, struct str program,
			struct str real)
{
	struct cordon_error ignored;
	struct str at = program, end;
	struct node node;

	for (unsigned i = 0; i < HOPS_MAX; i++) {
		bool shown = path_below(at, s->places.workdir) ||
			     policy_decide(s->policy, at).data != ACCESS_NONE;
		const char *next = shown ? next_hop(a, at) : NULL;

		if (!next)
			break;
		at = str_of(next);
	}
	/* A ".." behind a link in a target was taken as text. */
	if (s->world.resolve(&s->world, a, at, &end, &node, &ignored) < 0 || !str_eq(end, real))
		return real;
	return at;
}

/* What the policy says of executing the program; the kernel says it again later, but
 * not as clearly. */
static int check_program(const struct situation *s, struct arena *a, const struct plan *plan,
			 const char *program, struct violations *violations,
			 struct cordon_error *err)
{
	struct violation v = { .op = VIOLATION_exec, .source = VIOLATION_BY_start };
	struct decision d;
	struct str real, place;
	struct node node;
	autobuf struct buf where = buf_make(8192);
	int r;

	if (!s->policy->confined)
		return 0;
	r = s->world.resolve(&s->world, a, str_of(program), &real, &node, err);
	if (r < 0)
		return r;
	if (policy_allows(s->policy, POLICY_EXEC, real, &d)) {
		r = check_visible(plan, str_of(program), program, err);
		return r < 0 ? r : check_visible(plan, real, program, err);
	}
	v.object = str_of(program);
	v.rule = d.exec_rule;
	violations_add(violations, &v);
	if (d.exec_rule)
		origin_print(&where, &d.exec_rule->origin);
	err_set(err, CORDON_E_BLOCKED, 0, stage, "exec of %s is denied by %s%s%s", program,
		where.n ? where.p : "the profile, which lists no such program", where.n ? ": " : "",
		d.exec_rule ? d.exec_rule->spelled.p : "");
	place = program_place(program_link(s, a, v.object, real), &s->places);
	/* A program that may not even be read needs its loader and libraries too. */
	if (!d.exec_rule && d.data == ACCESS_NONE)
		return err_hint(err,
				"%s--allow-read %.*s --allow-exec %.*s",
				shows_runtime(s->policy) ? "" :
							   "--allow-read @runtime --allow-exec "
							   "@system-exec for its loader and "
							   "libraries, then ",
				STR_ARG(place), STR_ARG(place));
	/* What is denied in so many words no flag opens. */
	return err_hint(err, "'cordon explain --exec %s' tells more%s", program,
			d.exec_rule && d.exec_rule->right == RIGHT_DENY
				? ""
				: "; --allow-exec allows it");
}

int program_find(const struct situation *s, struct arena *a, const struct plan *plan,
		 const struct execute_options *options, const char **ret, struct cordon_error *err)
{
	const char *name = options->argv[0];
	int r = spawn_search_path(a, name, plan_variable(plan, "PATH"), s->places.workdir.p, ret,
				  err);
	char *full;

	if (r < 0)
		return r;
	full = path_normalise(a, s->places.workdir, str_of(*ret));
	if (!full)
		return err_set(err, CORDON_E_NOT_FOUND, ENAMETOOLONG, stage, "%s", name);
	*ret = full;
	return check_program(s, a, plan, full, options->violations, err);
}
