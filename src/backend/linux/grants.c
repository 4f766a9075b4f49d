/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock rules from the operations of a plan. Reads directories, changes nothing. */
#include "backend/linux/grants.h"

#include <dirent.h>
#include <linux/landlock.h>
#include <string.h>
#include <unistd.h>

#include "base/linux_compat.h"
#include "base/path.h"

#define READ_FILE_RIGHTS LANDLOCK_ACCESS_FS_READ_FILE
#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FILE_RIGHTS \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | \
	 LANDLOCK_ACCESS_FS_IOCTL_DEV)

struct collector {
	struct arena *arena;
	const struct plan *plan;
	uint64_t handled;
	VEC(struct landlock_step) steps;
	bool has_secrets;
	bool out_of_memory;
};

uint64_t grants_handled(unsigned abi)
{
	uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

	if (abi >= 2)
		rights |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		rights |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (abi >= 5)
		rights |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	return rights;
}

static void grant(struct collector *c, struct str path, uint64_t rights, bool directory,
		  bool optional)
{
	struct landlock_step *step = vec_push(&c->steps, c->arena);

	if (!step) {
		c->out_of_memory = true;
		return;
	}
	rights &= c->handled;
	if (!directory)
		rights &= FILE_RIGHTS;
	*step = (struct landlock_step){ .path = path.p, .access = rights, .optional = optional };
}

static bool executable(const struct collector *c, struct str path)
{
	vec_each(op, &c->plan->ops)
		if (op->kind == OP_NOEXEC && str_eq(op->path, path))
			return false;
	return true;
}

static uint64_t exec_right(const struct collector *c, struct str path)
{
	return executable(c, path) ? LANDLOCK_ACCESS_FS_EXECUTE : 0;
}

/* The operation that shows `path`: the nearest one at or above it. */
static const struct op *shown_by(const struct collector *c, struct str path)
{
	const struct op *nearest = NULL;

	vec_each(op, &c->plan->ops)
		if (op->kind >= OP_ROOT_EMPTY && op->kind <= OP_DEV && op->kind != OP_SYMLINK &&
		    path_below(path, op->path) && (!nearest || op->path.n >= nearest->path.n))
			nearest = op;
	return nearest;
}

static bool is_hidden(const struct op *op)
{
	return op->kind == OP_HIDE_FILE || op->kind == OP_HIDE_DIR;
}

/* The system's own secrets are left to the mounts: /etc is large, each grant costs
 * microseconds, and only root could read them anyway. */
static bool worth_a_barrier(const struct collector *c, const struct op *op)
{
	return path_below(op->path, c->plan->policy->places.home) ||
	       (op->rule && op->rule->origin.source != SOURCE_PROFILE);
}

/* A secret that appears in the home directory during the run must not show either. */
static bool holds_home_of_secrets(const struct collector *c, const struct op *tree, struct str dir)
{
	const struct policy *policy = c->plan->policy;
	struct str home = policy->places.home;

	return c->has_secrets && path_below(home, dir) && shown_by(c, home) == tree;
}

/* Something hidden strictly below `dir`, in the same tree, that the caller could read
 * without the mount on top of it? */
static bool hides_below(const struct collector *c, const struct op *tree, struct str dir)
{
	if (holds_home_of_secrets(c, tree, dir))
		return true;
	vec_each(op, &c->plan->ops)
		if (is_hidden(op) && worth_a_barrier(c, op) && op->path.n > dir.n &&
		    path_below(op->path, dir) &&
		    shown_by(c, path_parent(op->path)) == tree && access(op->path.p, R_OK) == 0)
			return true;
	return false;
}

static void grant_readable(struct collector *c, const struct op *tree, struct str dir);

static void grant_entry(struct collector *c, const struct op *tree, struct str dir,
			const struct dirent *entry)
{
	const char *path = arena_printf(c->arena, "%.*s/%s", dir.n == 1 ? 0 : (int)dir.n, dir.p,
					entry->d_name);
	bool directory = entry->d_type == DT_DIR;

	if (!path) {
		c->out_of_memory = true;
		return;
	}
	/* What another operation shows is granted, or not, by that one. */
	if (shown_by(c, str_of(path)) != tree || entry->d_type == DT_LNK)
		return;
	if (directory && hides_below(c, tree, str_of(path)))
		grant_readable(c, tree, str_of(path));
	else
		grant(c, str_of(path), READ_RIGHTS | exec_right(c, tree->path), directory, true);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The children of a directory instead of the directory. */
static bool grant_children(struct collector *c, const struct op *tree, struct str dir)
{
	DIR *d = opendir(dir.p);
	const struct dirent *entry;
	size_t start = c->steps.n, count = 0;

	if (!d)
		return false;
	while ((entry = readdir(d)) && count <= GRANTS_PER_DIRECTORY)
		if (!is_dot(entry->d_name)) {
			grant_entry(c, tree, dir, entry);
			count++;
		}
	closedir(d);
	if (count <= GRANTS_PER_DIRECTORY)
		return true;
	c->steps.n = start;
	return false;
}

static void grant_readable(struct collector *c, const struct op *tree, struct str dir)
{
	if (hides_below(c, tree, dir) && grant_children(c, tree, dir))
		return;
	grant(c, dir, READ_RIGHTS | exec_right(c, tree->path), true, false);
}

static void grant_op(struct collector *c, const struct op *op)
{
	uint64_t all = c->handled & ~(uint64_t)LANDLOCK_ACCESS_FS_IOCTL_DEV;
	bool directory = op->node.type == NODE_DIR;

	if (!executable(c, op->path))
		all &= ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
	if (op->kind == OP_ROOT_HOST && op->number)
		grant(c, op->path, all, true, false);
	else if (op->kind == OP_ROOT_HOST || (op->kind == OP_BIND_RO && directory))
		grant_readable(c, op, op->path);
	else if (op->kind == OP_BIND_RO)
		grant(c, op->path, READ_RIGHTS | exec_right(c, op->path), false, false);
	else if (op->kind == OP_BIND_RW)
		grant(c, op->path, all, directory, false);
	else if (op->kind == OP_TMPFS)
		grant(c, op->path, all, true, false);
	else if (op->kind == OP_DEV)
		grant(c, op->path, c->handled, true, false);
	else if (op->kind == OP_PROC)
		grant(c, op->path, READ_RIGHTS | FILE_RIGHTS, true, false);
	else if (op->kind == OP_EXEC)
		grant(c, op->path, LANDLOCK_ACCESS_FS_EXECUTE, directory, false);
}

int grants_collect(struct arena *a, const struct plan *plan, unsigned abi,
		   struct native_landlock *ret, struct cordon_error *err)
{
	struct collector c = { .arena = a, .plan = plan, .handled = grants_handled(abi) };
	bool wanted = false;

	*ret = (struct native_landlock){ 0 };
	for (size_t i = 0; i < ruleset_count(plan->policy->trusted.rules); i++)
		c.has_secrets |= ruleset_at(plan->policy->trusted.rules, i)->flags & RULE_SECRET;
	vec_each(op, &plan->ops)
		wanted |= op->kind == OP_LANDLOCK;
	if (!abi || !wanted)
		return 0;
	/* Names may be listed everywhere: what is hidden is not there to be listed. */
	grant(&c, STR("/"), LANDLOCK_ACCESS_FS_READ_DIR, true, false);
	vec_each(op, &plan->ops)
		grant_op(&c, op);
	if (c.out_of_memory)
		return err_nomem(err, "landlock");
	*ret = (struct native_landlock){
		.abi = abi,
		.handled_fs = c.handled,
		.steps = c.steps.at,
		.n_steps = c.steps.n,
		.scoped = abi >= 6 ? LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL
				   : 0,
	};
	return 0;
}
