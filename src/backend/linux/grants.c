/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock rules from the operations of a plan. Reads directories, changes nothing. */
#include "backend/linux/grants.h"

#include <dirent.h>
#include <errno.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_compat.h"
#include "base/path.h"
#include "policy/sets.h"

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FILE_RIGHTS \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | \
	 LANDLOCK_ACCESS_FS_IOCTL_DEV)

/* What the other rights are about. */
#define USE_RIGHTS (READ_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE)

struct inode {
	dev_t dev;
	ino_t ino;
};

struct collector {
	struct arena *arena;
	const struct plan *plan;
	uint64_t handled;
	bool alone;
	bool inner;
	const char *program;
	VEC(struct landlock_step) steps;
	/* Trees whose children are granted instead of them, by the parent. */
	VEC(const struct op *) expanded;
	bool outside; /* it is the parent that collects now */
	/* The directories above what is hidden: Landlock knows them as these, and a mount
	 * may show one under a path with nothing hidden below it. Only without mounts of
	 * our own. */
	VEC(struct inode) above;
	bool has_secrets;
	int failed;
	struct cordon_error *err;
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

/* Inside, a file of the sandbox's own is in its place: the rule must be for that one. */
static bool is_covered(const struct collector *c, struct str path)
{
	vec_each(op, &c->plan->ops)
		if (op->kind == OP_RESOLVER && str_eq(op->path, path))
			return true;
	return false;
}

static void grant(struct collector *c, struct str path, uint64_t rights, bool directory,
		  bool optional)
{
	struct landlock_step *step;

	if (c->outside && is_covered(c, path))
		return;
	step = vec_push(&c->steps, c->arena);
	if (!step) {
		c->failed = err_nomem(c->err, "landlock");
		return;
	}
	rights &= c->inner ? c->handled & USE_RIGHTS : c->handled;
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

static bool is_hidden(const struct op *op)
{
	return op->kind == OP_HIDE_FILE || op->kind == OP_HIDE_DIR;
}

/* A secret that appears in a home of the caller during the run must not show either. */
static bool holds_home_of_secrets(const struct collector *c, const struct op *tree, struct str dir)
{
	const struct places *places = &c->plan->policy->places;
	const struct str homes[] = { places->home, places->own_home };

	for (size_t i = 0; c->has_secrets && i < sizeof(homes) / sizeof(homes[0]); i++)
		if (homes[i].n && path_below(homes[i], dir) &&
		    plan_shown_by(c->plan, homes[i], NULL) == tree)
			return true;
	return false;
}

/* Without mounts the sandbox's own directories are the host's, and hidden. */
static bool is_hidden_alone(const struct op *op)
{
	return is_hidden(op) || op->kind == OP_TMPFS || op->kind == OP_SHARED_TMP ||
	       op->kind == OP_DEV || op->kind == OP_PROC;
}

/* Closed to the caller by its permissions, which are not the caller's to change. */
static bool out_of_reach(const struct op *op)
{
	struct stat st;

	return geteuid() != 0 && lstat(op->path.p, &st) == 0 && st.st_uid != geteuid() &&
	       access(op->path.p, R_OK) < 0 &&
	       (!S_ISDIR(st.st_mode) || access(op->path.p, X_OK) < 0);
}

/* Hidden in this tree, and the caller could read it without the mount on top of it? */
static bool is_held(const struct collector *c, const struct op *tree, const struct op *op)
{
	return is_hidden(op) && plan_shown_by(c->plan, path_parent(op->path), NULL) == tree &&
	       access(op->path.p, R_OK) == 0;
}

/* Something hidden strictly below `dir` that a grant of `dir` would open? With mounts
 * only the same tree counts, and only what the caller can read without them. */
static bool hides_below(const struct collector *c, const struct op *tree, struct str dir)
{
	if (!c->alone && holds_home_of_secrets(c, tree, dir))
		return true;
	vec_each(op, &c->plan->ops) {
		if (op->path.n <= dir.n || !path_below(op->path, dir))
			continue;
		if (c->alone ? is_hidden_alone(op) && !out_of_reach(op) : is_held(c, tree, op))
			return true;
	}
	return false;
}

/* Would listing `dir` list a hidden directory, too? Landlock has no right for one
 * directory without those in it. */
static bool hides_names_below(const struct collector *c, struct str dir)
{
	vec_each(op, &c->plan->ops)
		if (is_hidden_alone(op) && op->kind != OP_HIDE_FILE && op->path.n > dir.n &&
		    path_below(op->path, dir) && !out_of_reach(op))
			return true;
	return false;
}

/* Of several operations in one directory it is looked at once: they come by path. */
static void note_above(struct collector *c, struct str path, struct str *last)
{
	char text[PATH_BYTES_MAX + 1];
	struct inode *slot;
	struct stat st;

	while (path.n > 1) {
		path = path_parent(path);
		if (last->n && path_below(*last, path))
			return;
		memcpy(text, path.p, path.n);
		text[path.n] = '\0';
		if (lstat(text, &st) < 0)
			continue;
		slot = vec_push(&c->above, c->arena);
		if (slot)
			*slot = (struct inode){ st.st_dev, st.st_ino };
		else
			c->failed = err_nomem(c->err, "landlock");
	}
}

static void find_above(struct collector *c)
{
	struct str last = STR("");

	vec_each(op, &c->plan->ops)
		if (is_hidden_alone(op) && op->path.n > 1 && op->path.n <= PATH_BYTES_MAX &&
		    !out_of_reach(op)) {
			note_above(c, op->path, &last);
			last = op->path;
		}
}

static bool is_above_hidden(const struct collector *c, const char *path)
{
	struct stat st;

	if (!c->above.n || lstat(path, &st) < 0)
		return false;
	vec_each(i, &c->above)
		if (i->ino == st.st_ino && i->dev == st.st_dev)
			return true;
	return false;
}

static void grant_readable(struct collector *c, const struct op *tree, struct str dir);

/* Grants a child of an expanded directory, or expands it in turn. */
static void grant_child(struct collector *c, const struct op *tree, struct str path, bool directory)
{
	/* What another operation shows is granted, or not, by that one. */
	if (plan_shown_by(c->plan, path, NULL) != tree)
		return;
	if (directory && (hides_below(c, tree, path) || is_above_hidden(c, path.p)))
		grant_readable(c, tree, path);
	else
		grant(c, path, READ_RIGHTS | exec_right(c, tree->path), directory, true);
}

/* The operations on something below a directory: few, where its children are many. */
struct inner {
	VEC(const struct op *) ops;
};

static void find_inner(struct collector *c, struct str dir, struct inner *ret)
{
	vec_each(op, &c->plan->ops) {
		const struct op **slot;

		if (op->path.n <= dir.n || op->path.p[0] != '/' || !path_below(op->path, dir))
			continue;
		slot = vec_push(&ret->ops, c->arena);
		if (slot)
			*slot = op;
		else
			c->failed = err_nomem(c->err, "landlock");
	}
}

/* May the child be something else than the rest of its directory? */
static bool is_special(const struct collector *c, const struct inner *inner, struct str child)
{
	vec_each(op, &inner->ops)
		if (path_below((*op)->path, child))
			return true;
	return c->has_secrets && (path_below(c->plan->policy->places.home, child) ||
				  path_below(c->plan->policy->places.own_home, child));
}

static char *child_path(struct arena *a, struct str dir, struct str name)
{
	size_t n = dir.n == 1 ? 0 : dir.n;
	char *path = arena_room(a, n + 1 + name.n + 1);

	if (!path)
		return NULL;
	memcpy(path, dir.p, n);
	path[n] = '/';
	memcpy(path + n + 1, name.p, name.n);
	path[n + 1 + name.n] = '\0';
	return path;
}

static void grant_entry(struct collector *c, const struct op *tree, struct str dir,
			const struct inner *inner, const struct dirent *entry)
{
	const char *path = child_path(c->arena, dir, str_of(entry->d_name));
	unsigned char type = entry->d_type;
	struct stat st;

	if (!path) {
		c->failed = err_nomem(c->err, "landlock");
		return;
	}
	/* Not every file system says it in the listing. */
	if (type == DT_UNKNOWN && lstat(path, &st) == 0)
		type = IFTODT(st.st_mode);
	if (type == DT_LNK || type == DT_UNKNOWN)
		return;
	if (is_special(c, inner, str_of(path)) ||
	    (type == DT_DIR && is_above_hidden(c, path)))
		grant_child(c, tree, str_of(path), type == DT_DIR);
	else
		grant(c, str_of(path), READ_RIGHTS | exec_right(c, tree->path), type == DT_DIR,
		      true);
}

/* The children of a directory instead of the directory. */
static bool grant_children(struct collector *c, const struct op *tree, struct str dir)
{
	DIR *d = opendir(dir.p);
	const struct dirent *entry;
	size_t start = c->steps.n, count = 0;
	size_t most = c->alone ? GRANTS_PER_DIRECTORY_ALONE : GRANTS_PER_DIRECTORY;
	struct inner inner = { 0 };

	if (!d)
		return false;
	find_inner(c, dir, &inner);
	for (; count <= most && (entry = fd_next_entry(d)); count++)
		grant_entry(c, tree, dir, &inner, entry);
	closedir(d);
	if (count <= most && (c->alone || c->steps.n <= GRANTS_IN_ALL))
		return true;
	if (c->alone) {
		c->failed = err_set(c->err, CORDON_E_LIMIT, 0, "landlock",
				    "'%s' holds something denied and more than %zu entries", dir.p,
				    most);
		return true;
	}
	c->steps.n = start;
	return false;
}

/* The child of `dir` on the way to `path`, unless that was the last one. */
static void grant_towards(struct collector *c, const struct op *tree, struct str dir,
			  struct str path, struct str *last)
{
	struct str rest, name;
	const char *child;
	struct stat st;

	if (path.n <= dir.n || path.p[0] != '/' || !path_below(path, dir))
		return;
	rest = str_skip(path, dir.n);
	/* Many names lead through the same child, one after the other. */
	if (!path_next(&rest, &name) || str_eq(name, *last))
		return;
	*last = name;
	child = arena_dup(c->arena, str_take(path, (size_t)(name.p + name.n - path.p)));
	if (!child)
		c->failed = err_nomem(c->err, "landlock");
	else if (lstat(child, &st) == 0 && !S_ISLNK(st.st_mode))
		grant_child(c, tree, str_of(child), S_ISDIR(st.st_mode));
}

/* A directory that may be passed but not listed, as inside another cordon: only names
 * that are known lead anywhere - those of the plan, of the command and of what programs
 * need to run. */
static void grant_known_children(struct collector *c, const struct op *tree, struct str dir)
{
	struct str last = { 0 };

	vec_each(op, &c->plan->ops)
		if (op->kind >= OP_ROOT_EMPTY && op->kind <= OP_DEV)
			grant_towards(c, tree, dir, op->path, &last);
	for (const char *const *p = path_sets[PATH_SET_RUNTIME].paths; *p; p++)
		grant_towards(c, tree, dir, str_of(*p), &last);
	if (c->program)
		grant_towards(c, tree, dir, str_of(c->program), &last);
}

/* What was resolved when the policy was built, and nothing put in its place since. Inside,
 * the mounts have compared it. */
static void grant_bound(struct collector *c, const struct op *op, uint64_t rights)
{
	bool directory = op->node.type == NODE_DIR || op->kind == OP_ROOT_HOST;

	grant(c, op->path, rights, directory, op->found);
	if ((c->alone || c->outside) && !c->failed) {
		c->steps.at[c->steps.n - 1].dev = op->node.dev;
		c->steps.at[c->steps.n - 1].ino = op->node.ino;
	}
}

/* Never the whole of a directory with something hidden in it. */
static void grant_parts(struct collector *c, const struct op *tree, struct str dir)
{
	uint64_t rights = hides_names_below(c, dir) ? 0 : LANDLOCK_ACCESS_FS_READ_DIR;

	if (str_eq(dir, tree->path))
		grant_bound(c, tree, rights);
	else if (rights)
		grant(c, dir, rights, true, false);
	if (!grant_children(c, tree, dir))
		grant_known_children(c, tree, dir);
}

static void grant_readable(struct collector *c, const struct op *tree, struct str dir)
{
	bool hides = hides_below(c, tree, dir) || is_above_hidden(c, dir.p);

	if (hides && c->alone) {
		grant_parts(c, tree, dir);
		return;
	}
	if (hides && grant_children(c, tree, dir))
		return;
	if (str_eq(dir, tree->path))
		grant_bound(c, tree, READ_RIGHTS | exec_right(c, tree->path));
	else
		grant(c, dir, READ_RIGHTS | exec_right(c, tree->path), true, false);
}

static void grant_devices(struct collector *c, const struct op *op)
{
	static const char *const devices[] = {
#define DEVICE(name) "/dev/" #name,
		NATIVE_DEVICES(DEVICE)
#undef DEVICE
	};

	if (!c->alone) {
		grant(c, op->path, c->handled, true, false);
		return;
	}
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		grant(c, str_of(devices[i]), FILE_RIGHTS & ~LANDLOCK_ACCESS_FS_EXECUTE, false,
		      true);
}

/* Without mounts nothing can be put in the place of a toolchain's directory. */
static bool is_elsewhere(const struct collector *c, const struct op *op)
{
	return c->alone && !str_eq(op->path, op->source);
}

/* The toolchain's directory stays what it is: to be read, unless something is hidden in
 * it. */
static void grant_uncovered(struct collector *c, const struct op *op)
{
	if (!hides_below(c, op, op->path))
		grant(c, op->path, READ_RIGHTS | exec_right(c, op->path), true, true);
}

/* To list what is in it takes time, which the parent has while the child mounts. */
static void grant_tree(struct collector *c, const struct op *op)
{
	const struct op **slot;

	if (c->alone || !hides_below(c, op, op->path)) {
		grant_readable(c, op, op->path);
		return;
	}
	slot = vec_push(&c->expanded, c->arena);
	if (slot)
		*slot = op;
	else
		c->failed = err_nomem(c->err, "landlock");
}

static uint64_t all_rights(const struct collector *c, struct str path)
{
	uint64_t all = c->handled & ~(uint64_t)LANDLOCK_ACCESS_FS_IOCTL_DEV;

	return executable(c, path) ? all : all & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
}

static void grant_op(struct collector *c, const struct op *op)
{
	bool directory = op->node.type == NODE_DIR;

	if (c->inner && op_is_writable(op) && (directory || op->kind == OP_ROOT_HOST))
		grant_tree(c, op);
	else if (op->kind == OP_ROOT_HOST && op->number)
		grant(c, op->path, all_rights(c, op->path), true, false);
	else if (op->kind == OP_ROOT_HOST || (op->kind == OP_BIND_RO && directory))
		grant_tree(c, op);
	else if (op->kind == OP_BIND_RO)
		grant_bound(c, op, READ_RIGHTS | exec_right(c, op->path));
	else if (op->kind == OP_BIND_RW || (op->kind == OP_CACHE && !is_elsewhere(c, op)))
		grant_bound(c, op, all_rights(c, op->path));
	else if (op->kind == OP_CACHE)
		grant_uncovered(c, op);
	else if ((op->kind == OP_TMPFS || op->kind == OP_SHARED_TMP) && !c->alone)
		grant(c, op->path, all_rights(c, op->path), true, false);
	else if (op->kind == OP_DEV)
		grant_devices(c, op);
	else if (op->kind == OP_PROC)
		grant(c, op->path, c->alone ? READ_RIGHTS : READ_RIGHTS | FILE_RIGHTS, true, false);
	else if (op->kind == OP_EXEC)
		grant(c, op->path, LANDLOCK_ACCESS_FS_EXECUTE, directory, false);
	else if (op->kind == OP_RESOLVER && op->path.n && !c->alone)
		grant(c, op->path, LANDLOCK_ACCESS_FS_READ_FILE, false, true);
}

static void grant_scratch(struct collector *c, const char *scratch)
{
	if (scratch)
		grant(c, str_of(scratch), all_rights(c, STR("/tmp")), true, false);
}

static bool has_secrets(const struct plan *plan)
{
	const struct ruleset *rules = plan->policy->trusted.rules;

	for (size_t i = 0; i < ruleset_count(rules); i++)
		if (ruleset_at(rules, i)->flags & RULE_SECRET)
			return true;
	return false;
}

static bool wants_landlock(const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_LANDLOCK)
			return true;
	return false;
}

static uint64_t handled_by(const struct grants_options *options)
{
	uint64_t changes = grants_handled(options->abi) &
			   ~(uint64_t)(USE_RIGHTS | LANDLOCK_ACCESS_FS_IOCTL_DEV);

	if (!options->inner)
		return grants_handled(options->abi);
	return options->hides ? changes | USE_RIGHTS : changes;
}

static int collect(struct collector *c, const struct grants_options *options)
{
	if (c->alone)
		find_above(c);
	else
		c->has_secrets = has_secrets(c->plan);
	/* Names may be listed everywhere: what is hidden is not there to be listed. */
	if (!c->alone)
		grant(c, STR("/"), LANDLOCK_ACCESS_FS_READ_DIR, true, false);
	if (!c->inner || options->hides) {
		vec_each(op, &c->plan->ops)
			grant_op(c, op);
		grant_scratch(c, options->scratch);
	}
	return c->failed;
}

int grants_collect(struct arena *a, const struct plan *plan, const struct grants_options *options,
		   struct native_landlock *ret, struct cordon_error *err)
{
	struct collector *c;
	int r;

	*ret = (struct native_landlock){ 0 };
	if (!options->abi || !wants_landlock(plan))
		return 0;
	c = arena_new(a, struct collector);
	if (!c)
		return err_nomem(err, "landlock");
	*c = (struct collector){
		.arena = a,
		.plan = plan,
		.handled = handled_by(options),
		.alone = options->alone,
		.inner = options->inner,
		.program = options->program,
		.err = err,
	};
	r = collect(c, options);
	if (r < 0)
		return r;
	*ret = (struct native_landlock){
		.abi = options->abi,
		.handled_fs = c->handled,
		.streams = !c->inner,
		.steps = c->steps.at,
		.n_steps = c->steps.n,
		.scoped = options->abi >= 6
				  ? LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL
				  : 0,
		.collector = c,
	};
	return 0;
}

int grants_expand(const struct native_landlock *l, const struct landlock_step **ret, size_t *ret_n,
		  struct cordon_error *err)
{
	struct collector *c = l->collector;
	size_t first = c->steps.n;

	c->err = err;
	c->outside = true;
	vec_each(op, &c->expanded)
		if (!grant_children(c, *op, (*op)->path))
			grant_bound(c, *op, READ_RIGHTS | exec_right(c, (*op)->path));
	*ret = c->steps.at + first;
	*ret_n = c->steps.n - first;
	return c->failed;
}
