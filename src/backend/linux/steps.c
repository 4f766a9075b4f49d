/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the operations of a plan to the steps of the mount phase, in the parent. What each
 * step does is in mounts.c, which carries them out in the child.
 */
#include "backend/linux/native.h"

#include <linux/mount.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/path.h"

#define stage "native"
#define SAFE_ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

struct builder {
	struct arena *arena;
	const struct plan *plan;
	const struct caps *caps;
	const struct native *native;
	VEC(struct mount_step) steps;
};

/* Is the path in a tree that the sandbox made itself, so that a mount point may be made
 * there? The nearest operation above it says. */
static bool in_own_tree(const struct plan *plan, const struct op *op)
{
	const struct op *shown = plan_shown_by(plan, op->path, op);

	return shown && (op_view_of(shown) == VIEW_OWN || op_view_of(shown) == VIEW_HIDDEN);
}

static bool is_noexec(const struct plan *plan, struct str path)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_NOEXEC && str_eq(op->path, path))
			return true;
	return false;
}

/* A device works only where devices do; a path below /dev is there because somebody
 * granted it. */
static uint64_t safe_attributes(const struct op *op)
{
	return path_below(op->path, STR("/dev")) ? MOUNT_ATTR_NOSUID : SAFE_ATTRIBUTES;
}

static struct mount_step *add_step(struct builder *b, enum mount_kind kind, const struct op *op)
{
	struct mount_step *step = vec_push(&b->steps, b->arena);

	if (!step)
		return NULL;
	*step = (struct mount_step){
		.kind = kind,
		.directory = op->node.type == NODE_DIR,
		.optional = op->found,
		.make = in_own_tree(b->plan, op),
		.path = op->path.p + 1,
		.source = op->source.n ? op->source.p : op->path.p,
		.attributes = safe_attributes(op) |
			      (is_noexec(b->plan, op->path) ? MOUNT_ATTR_NOEXEC : 0),
		.dev = op->node.dev,
		/* Whatever has that name is shown as nothing but what has that name. */
		.ino = op->found ? 0 : op->node.ino,
	};
	return step;
}

static bool add_bind(struct builder *b, const struct op *op, uint64_t attributes)
{
	struct mount_step *step = add_step(b, MOUNT_BIND, op);

	if (step)
		step->attributes |= attributes;
	return step;
}

/* A file takes memory even when it is empty; no more of them than pages. */
#define INODES_MIN 1024
#define BYTES_PER_INODE 4096

/* Memory behind a file system, so limited; 0 leaves it to the kernel. */
static bool limit_size(struct builder *b, struct mount_step *step, uint64_t bytes)
{
	uint64_t inodes = bytes / BYTES_PER_INODE;

	if (!bytes)
		return true;
	if (inodes < INODES_MIN)
		inodes = INODES_MIN;
	step->size = arena_printf(b->arena, "%llu", (unsigned long long)bytes);
	step->inodes = arena_printf(b->arena, "%llu", (unsigned long long)inodes);
	return step->size && step->inodes;
}

static bool add_tmpfs(struct builder *b, const struct op *op)
{
	struct mount_step *step = add_step(b, MOUNT_TMPFS, op);

	if (!step)
		return false;
	step->directory = true;
	step->mode = str_eq(op->path, STR("/run")) ? "0755" : "1777";
	return limit_size(b, step, op->number);
}

/* With /dev/shm in it, which is as private and as large as /tmp. */
static bool add_dev(struct builder *b, const struct op *op)
{
	struct mount_step *step = add_step(b, MOUNT_DEV, op);

	if (!step)
		return false;
	step->directory = true;
	return limit_size(b, step, plan_tmp_size(b->plan->policy));
}

static bool add_directory(struct builder *b, enum mount_kind kind, const struct op *op)
{
	struct mount_step *step = add_step(b, kind, op);

	if (step)
		step->directory = true;
	return step;
}

/* The host's, to be read. In the host's tree it is there already. */
static bool add_host_proc(struct builder *b, const struct op *op)
{
	struct mount_step *step;

	if (!plan_find_op(b->plan, OP_ROOT_EMPTY))
		return true;
	step = add_step(b, MOUNT_BIND, op);
	if (!step)
		return false;
	step->directory = true;
	step->attributes |= MOUNT_ATTR_RDONLY;
	return true;
}

/* Others may not read these anyway. */
static bool hide_in_proc(struct builder *b)
{
	static const char *const names[] = {
#define PROC_HIDE(name) "proc/" name,
#include "backend/proc_covers.def"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct mount_step *step = vec_push(&b->steps, b->arena);

		if (!step)
			return false;
		*step = (struct mount_step){ .kind = MOUNT_VEIL,
					     .optional = true,
					     .path = names[i] };
	}
	return true;
}

/* Where no /proc of one's own is to be had, that is a loss, and the host's serves. */
static bool add_proc(struct builder *b, const struct op *op)
{
	if (!b->native->pid_namespace || !b->caps->value[CAP_PROC_FRESH])
		return add_host_proc(b, op);
	return add_directory(b, MOUNT_PROC, op) && (geteuid() != 0 || hide_in_proc(b));
}

/* A change of exec below a mount of its own is folded into that mount; elsewhere the
 * path is bound onto itself. */
static bool add_exec_change(struct builder *b, const struct op *op)
{
	vec_each(o, &b->plan->ops)
		if (o != op && str_eq(o->path, op->path) && o->kind >= OP_ROOT_EMPTY &&
		    o->kind <= OP_SOCKET)
			return true;
	/* The tree is taken while it is still writable. */
	return add_bind(b, op, op->number ? 0 : MOUNT_ATTR_RDONLY);
}

static bool add_link(struct builder *b, const struct op *op)
{
	return add_step(b, MOUNT_SYMLINK, op);
}

static bool add_readable(struct builder *b, const struct op *op)
{
	return add_bind(b, op, MOUNT_ATTR_RDONLY);
}

static bool add_writable(struct builder *b, const struct op *op)
{
	return add_bind(b, op, 0);
}

/* Where there is no such file to see, there is nothing to cover. */
static bool add_resolver(struct builder *b, const struct op *op)
{
	return !op->path.n || !b->caps->value[CAP_NETNS] ||
	       add_step(b, op->number == RESOLVER_HOSTS ? MOUNT_HOSTS : MOUNT_RESOLVER, op);
}

static bool add_veil(struct builder *b, const struct op *op)
{
	bool partly = op->kind == OP_HIDE_DIR && op->number;

	return add_step(b, partly ? MOUNT_VEIL_DIR : MOUNT_VEIL, op);
}

/* The operations that become steps of the mount phase. */
static bool (*const adders[OP_KIND_COUNT])(struct builder *, const struct op *) = {
	[OP_SYMLINK] = add_link,       [OP_BIND_RO] = add_readable, [OP_SOCKET] = add_readable,
	[OP_BIND_RW] = add_writable,   [OP_CACHE] = add_writable,   [OP_SHARED_TMP] = add_writable,
	[OP_HIDE_FILE] = add_veil,     [OP_HIDE_DIR] = add_veil,    [OP_TMPFS] = add_tmpfs,
	[OP_PROC] = add_proc,	       [OP_DEV] = add_dev,	    [OP_RESOLVER] = add_resolver,
	[OP_NOEXEC] = add_exec_change, [OP_EXEC] = add_exec_change,
};

static bool add_op(struct builder *b, const struct op *op)
{
	return !adders[op->kind] || adders[op->kind](b, op);
}

static uint64_t root_write_attribute(const struct plan *plan)
{
	const struct op *root = plan_find_op(plan, OP_ROOT_HOST);

	return root && root->number ? 0 : MOUNT_ATTR_RDONLY;
}

int native_prepare_mounts(struct arena *a, const struct plan *plan, const struct caps *caps,
			  struct native *n, struct cordon_error *err)
{
	struct builder b = { .arena = a, .plan = plan, .caps = caps, .native = n };
	struct native_mounts *m = &n->mounts;

	vec_each(op, &plan->ops)
		if (!add_op(&b, op))
			return err_nomem(err, stage);
	m->steps = b.steps.at;
	m->n_steps = b.steps.n;
	m->trees = arena_array(a, b.steps.n + 1, sizeof(*m->trees));
	m->empty_root = plan_find_op(plan, OP_ROOT_EMPTY);
	m->host_root = geteuid() == 0;
	m->root_attributes = SAFE_ATTRIBUTES | root_write_attribute(plan) |
			     (is_noexec(plan, STR("/")) ? MOUNT_ATTR_NOEXEC : 0);
	return m->trees ? 0 : err_nomem(err, stage);
}
