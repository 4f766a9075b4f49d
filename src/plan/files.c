/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file part of a plan. The spots are visited in their order, parents first; `views`
 * remembers what the operations emitted so far show at the ancestors.
 */
#include "plan/plan_in.h"

#include "base/path.h"
#include "policy/caches.h"

/* What is shown at and below a path by what has been emitted. */
struct view {
	struct str path;
	enum access data;
	bool exec;
	size_t op; /* index of the operation that made it */
	bool hidden_dir;
	bool scratch; /* the sandbox's own: what is not there need not be guarded */
};

struct tree {
	struct compiler *c;
	VEC(struct view) views;
};

static struct view *view_at(struct tree *t, struct str path)
{
	while (t->views.n > 1 && !path_below(path, t->views.at[t->views.n - 1].path))
		t->views.n--;
	return &t->views.at[t->views.n - 1];
}

/* For what the operation emitted last shows. */
static void push_view(struct tree *t, struct view view)
{
	struct view *v = vec_push(&t->views, t->c->arena);

	view.op = t->c->plan->ops.n - 1;
	if (v)
		*v = view;
	else
		t->c->out_of_memory = true;
}

/* Something below a hidden directory shows: it must be searchable. */
static void open_parents(struct tree *t)
{
	for (size_t i = t->views.n; i-- > 0;) {
		if (t->views.at[i].data != ACCESS_NONE)
			return;
		if (t->views.at[i].hidden_dir)
			t->c->plan->ops.at[t->views.at[i].op].number = 1;
	}
}

static bool is_private(const struct rule *rule)
{
	return rule && rule->flags & RULE_PRIVATE;
}

static enum op_kind private_kind(const struct compiler *c, struct str path)
{
	if (str_eq(path, STR("/dev")))
		return OP_DEV;
	/* The kernel mounts a /proc only for a pid namespace of one's own. */
	if (str_eq(path, STR("/proc")))
		return policy_number(c->in->policy, KEY_SHARE_PID) ? OP_BIND_RO : OP_PROC;
	return str_eq(path, c->in->policy->shared_tmp.path) ? OP_SHARED_TMP : OP_TMPFS;
}

/* Asked for only where names may be compared folded at all. */
static bool has_twin(const struct compiler *c, struct str path)
{
	const struct world *world = c->in->world;

	return c->in->policy->folding.n && world && world->has_twin &&
	       world->has_twin(world, c->arena, path);
}

/* In a tree of the sandbox's own the host's other spellings do not show; a cache may be the
 * host's. */
static bool shows_host(const struct tree *t, const struct view *around)
{
	return !around->scratch || t->c->plan->ops.at[around->op].kind == OP_CACHE;
}

/* Would another spelling give more? */
static bool has_better_twin(const struct tree *t, const struct spot *p, const struct decision *d,
			    const struct view *around)
{
	return (d->data == ACCESS_NONE || (d->data < around->data && shows_host(t, around))) &&
	       has_twin(t->c, p->path);
}

/* Around what is hidden as well: the hidden directory has another spelling, too. */
static bool has_executed_twin(const struct tree *t, struct str path)
{
	for (size_t i = t->views.n; i-- > 0;) {
		const struct view *v = &t->views.at[i];

		if (str_eq(v->path, path) || (v->data == ACCESS_NONE && !v->scratch))
			continue;
		return v->exec && shows_host(t, v) && has_twin(t->c, path);
	}
	return false;
}

/* Reading and changing can be refused by a broker, whatever the spelling; executing cannot. */
static bool twin_runs(const struct tree *t, const struct spot *p)
{
	const struct world *world = t->c->in->world;

	return has_executed_twin(t, p->path) &&
	       (!world->is_executable || world->is_executable(world, p->path));
}

static void emit_noexec(struct tree *t, const struct spot *p)
{
	struct op *op = plan_emit(t->c, OP_NOEXEC, p->path);

	if (op)
		op->twin = has_executed_twin(t, p->path);
}

static void emit_bind(struct tree *t, const struct spot *p, const struct decision *d,
		      const struct view *around)
{
	struct op *op;
	bool dir = p->node.type == NODE_DIR;

	open_parents(t);
	op = plan_emit(t->c,
		       d->data == ACCESS_WRITE	? OP_BIND_RW
		       : d->data == ACCESS_READ ? OP_BIND_RO
		       : dir			? OP_HIDE_DIR
						: OP_HIDE_FILE,
		       p->path);
	if (!op)
		return;
	op->rule = d->data_rule;
	op->source = d->data == ACCESS_NONE ? (struct str){ 0 } : p->path;
	op->node = p->node;
	op->found = !p->rule;
	op->twin = has_better_twin(t, p, d, around);
	op->runs = op->twin && d->data == ACCESS_NONE && twin_runs(t, p);
	push_view(t, (struct view){ p->path, d->data, d->data == ACCESS_NONE || d->exec,
				    .hidden_dir = d->data == ACCESS_NONE && dir });
	if (d->data != ACCESS_NONE && !d->exec)
		emit_noexec(t, p);
}

/* In place of the toolchain's own directory, or under its own path. */
static void emit_cache(struct tree *t, const struct spot *p, const struct decision *d)
{
	const struct cache *cache = policy_cache_at(t->c->in->policy, p->path);
	struct op *op;

	if (!cache || d->data != ACCESS_WRITE)
		return;
	open_parents(t);
	op = plan_emit(t->c, OP_CACHE, p->path);
	if (!op)
		return;
	op->rule = p->rule;
	op->source = cache->source;
	op->node = cache->node;
	push_view(t, (struct view){ p->path, ACCESS_WRITE, d->exec, .scratch = true });
	if (!d->exec)
		plan_emit(t->c, OP_NOEXEC, p->path);
}

/* /dev, /proc, /run and /tmp of the sandbox's own, unless a rule put something else. */
static void emit_private(struct tree *t, const struct spot *p, const struct decision *d,
			 const struct view *around)
{
	struct op *op;
	bool tmpfs;

	/* Inside these the mechanism that makes /dev and /proc takes care. */
	if (str_eq(p->path, STR("/dev/shm")) || str_eq(p->path, STR("/proc/sys")))
		return;
	/* In the host's tree there is nothing to mount on, and nobody can make it. */
	if (p->node.type != NODE_DIR && around->data != ACCESS_NONE)
		return;
	/* Empty and not writable is as good as closed. */
	if (d->data != ACCESS_WRITE) {
		struct decision closed = *d;

		closed.data = ACCESS_NONE;
		if (around->data != ACCESS_NONE)
			emit_bind(t, p, &closed, around);
		return;
	}
	op = plan_emit(t->c, private_kind(t->c, p->path), p->path);
	if (!op)
		return;
	op->rule = p->rule;
	tmpfs = op->kind == OP_TMPFS || op->kind == OP_SHARED_TMP;
	if (op->kind == OP_SHARED_TMP) {
		op->source = t->c->in->policy->shared_tmp.source;
		op->node = t->c->in->policy->shared_tmp.node;
	}
	if (op->kind == OP_BIND_RO) {
		op->source = p->path;
		op->node = p->node;
	}
	if (op->kind == OP_TMPFS)
		op->number = plan_tmp_size(t->c->in->policy);
	push_view(t, (struct view){ p->path, ACCESS_WRITE, !tmpfs || d->exec, .scratch = true });
	if (tmpfs && !d->exec)
		plan_emit(t->c, OP_NOEXEC, p->path);
}

static int pin(struct tree *t, struct str dir, bool exec)
{
	struct compiler *c = t->c;
	const char *path = arena_dup(c->arena, dir);
	struct node node;
	struct str real;
	struct op *op;
	int r;

	if (!path)
		return err_nomem(c->err, "compile");
	r = c->in->world->resolve(c->in->world, c->arena, str_of(path), &real, &node, c->err);
	if (r < 0)
		return r;
	if (!str_eq(real, dir) || node.type != NODE_DIR)
		return err_set(c->err, CORDON_E_PATH, 0, "compile",
			       "'%s' changed while cordon was looking at it", path);
	op = plan_emit(c, OP_BIND_RW, str_of(path));
	if (!op)
		return 0;
	op->source = op->path;
	op->node = node;
	push_view(t, (struct view){ op->path, ACCESS_WRITE, exec });
	if (!exec)
		plan_emit(c, OP_NOEXEC, str_of(path));
	return 0;
}

/* Whoever may write the directories above something protected could move them away,
 * with it, and put others in their place. A mount point cannot be renamed, so they
 * become mounts of themselves. */
static int pin_parents(struct tree *t, const struct spot *p, const struct view *around)
{
	int r = 0;

	if (around->data != ACCESS_WRITE || around->scratch)
		return 0;
	for (size_t i = around->path.n + 1; i < p->path.n && r == 0; i++)
		if (p->path.p[i] == '/')
			r = pin(t, str_take(p->path, i), around->exec);
	return r;
}

static void guard_name(struct tree *t, const struct spot *p, const struct decision *d)
{
	const struct compiler *c = t->c;
	const struct op *last = &c->plan->ops.at[c->plan->ops.n - 1];
	struct op *op;

	if (policy_number(c->in->policy, KEY_PROTECT) == PROTECT_OFF)
		return;
	/* Two rules may name it. */
	if (last->kind == OP_GUARD_NAME && str_eq(last->path, p->path))
		return;
	op = plan_emit(t->c, OP_GUARD_NAME, p->path);
	if (op)
		op->rule = d->data_rule;
}

/* How somebody makes what is not there. */
static int hint_to_make(struct compiler *c, struct str path)
{
	const struct world *world = c->in->world;
	const char *parent = arena_dup(c->arena, path_parent(path));
	struct cordon_error ignored;
	struct str real;
	struct node node;
	bool bare;

	/* It is to be pasted. */
	if (str_find(path, '\'') < path.n)
		return err_hint(c->err, "create it first");
	bare = parent && world &&
	       world->resolve(world, c->arena, str_of(parent), &real, &node, &ignored) == 0 &&
	       node.type == NODE_ABSENT;
	return err_hint(c->err, "create it first: %s%s%stouch '%.*s', or mkdir -p for a directory",
			bare ? "mkdir -p '" : "", bare ? parent : "", bare ? "' && " : "",
			STR_ARG(path));
}

/* A path that does not exist: nothing to mount. Where the verdict is lower than what
 * is around it, the name has to be guarded; where it is higher, a rule somebody wrote
 * would silently do nothing. */
static int place_absent(struct tree *t, const struct spot *p, const struct decision *d,
			const struct view *around)
{
	struct compiler *c = t->c;

	if (around->scratch)
		return 0;
	/* In a tree that is not writable nobody inside can make the name. */
	if (d->data < around->data && around->data == ACCESS_WRITE) {
		guard_name(t, p, d);
		return 0;
	}
	if (d->data <= around->data)
		return 0;
	/* Whoever looks for it there must be told that it is absent, not that it is closed. */
	open_parents(t);
	if (!p->rule || p->rule->flags & RULE_OPTIONAL || d->data_rule != p->rule)
		return 0;
	origin_error(c->err, CORDON_E_PATH, "compile", &p->rule->origin,
		     "'%s' does not exist, so it cannot be made %s", p->rule->spelled.p,
		     d->data == ACCESS_WRITE ? "writable" : "readable");
	return hint_to_make(c, p->path);
}

/* The rule for the real path follows the one that was spelled through a link. */
static struct str real_path(const struct rule *rule)
{
	while (!(rule->flags & RULE_ALIAS))
		rule++;
	return rule->path;
}

static void place_link(struct tree *t, const struct spot *p, const struct decision *d,
		       const struct view *around)
{
	struct op *op;

	/* The link itself could be replaced, and a mount protects only where it leads. */
	if (around->data == ACCESS_WRITE && !around->scratch && d->data < ACCESS_WRITE) {
		guard_name(t, p, d);
		return;
	}
	if (d->data == ACCESS_NONE)
		return;

	/* Where the host's tree is visible, its own link is there already. */
	if (around->data != ACCESS_NONE)
		return;
	open_parents(t);
	op = plan_emit(t->c, OP_SYMLINK, p->path);
	if (!op)
		return;
	op->source = real_path(p->rule);
	push_view(t, (struct view){ p->path, ACCESS_READ, true });
}

static void emit_exec_change(struct tree *t, const struct spot *p, const struct decision *d,
			     const struct view *around)
{
	struct op *op = plan_emit(t->c, d->exec ? OP_EXEC : OP_NOEXEC, p->path);

	if (!op)
		return;
	op->source = p->path;
	op->node = p->node;
	op->number = d->data == ACCESS_WRITE;
	op->rule = d->exec_rule;
	op->twin = !d->exec && has_executed_twin(t, p->path);
	push_view(t, (struct view){ p->path, d->data, d->exec, .scratch = around->scratch });
}

static bool socket_is_named(const struct policy *policy, struct str path)
{
	vec_each(s, &policy->effective_lists[KEY_UNIX].items)
		if (str_eq(s->text, path))
			return true;
	return false;
}

static void place_socket(struct tree *t, const struct spot *p, const struct view *around)
{
	struct op *op;

	if (around->data == ACCESS_NONE || around->scratch || str_eq(around->path, p->path) ||
	    socket_is_named(t->c->in->policy, p->path))
		return;
	op = plan_emit(t->c, OP_HIDE_FILE, p->path);
	if (!op)
		return;
	op->node = p->node;
	op->twin = has_twin(t->c, p->path);
	op->found = true;
	push_view(t, (struct view){ p->path, ACCESS_NONE, true });
}

/* What git writes are names and patterns, which no mount can single out in a directory
 * that is read-only. So the directory itself stays as it is around it; what else exists
 * in it is protected one by one, and the guard takes care of new names. */
static bool is_open_git_dir(const struct tree *t, const struct spot *p, const struct decision *d)
{
	const struct policy *policy = t->c->in->policy;

	return d->data_layer == LAYER_HIDDEN &&
	       policy_number(policy, KEY_HIDDEN_WRITES) == HIDDEN_GIT &&
	       (str_eq(p->path, policy->places.git_dir) ||
		str_eq(p->path, policy->places.git_common));
}

/* What does not exist and is denied, where nobody inside could make it, or lies in a place of
 * the sandbox's own: whatever the verdict is, there is nothing to do. Most secrets are such, so
 * they are not decided about. */
static bool is_idle(const struct spot *p, const struct view *around)
{
	if (p->node.type != NODE_ABSENT || p->link || p->socket || !p->rule || is_private(p->rule))
		return false;
	return around->scratch ||
	       (p->rule->right == RIGHT_DENY && around->data != ACCESS_WRITE);
}

static int place_one(struct tree *t, const struct spot *p)
{
	const struct policy *policy = t->c->in->policy;
	struct view around = *view_at(t, p->path);
	bool same_mount = str_eq(around.path, p->path);
	struct decision d;
	int r;

	if (is_idle(p, &around))
		return 0;
	d = policy_decide(policy, p->path);
	if (is_private(p->rule)) {
		if (d.trusted_rule != p->rule || same_mount)
			return 0;
		if (p->rule->flags & RULE_CACHE)
			emit_cache(t, p, &d);
		else
			emit_private(t, p, &d, &around);
		return 0;
	}
	/* Inside the sandbox's own directories the host's objects show only when a rule
	 * of the trusted sources means them. */
	if (around.scratch && d.data != ACCESS_NONE && is_private(d.trusted_rule))
		return 0;
	if (p->socket) {
		place_socket(t, p, &around);
		return 0;
	}
	if (p->link) {
		place_link(t, p, &d, &around);
		return 0;
	}
	if (p->node.type == NODE_ABSENT)
		return place_absent(t, p, &d, &around);
	if (is_open_git_dir(t, p, &d))
		return 0;
	if (d.data == around.data && !around.scratch) {
		if (d.data != ACCESS_NONE && d.exec != around.exec && !same_mount)
			emit_exec_change(t, p, &d, &around);
		return 0;
	}
	if (same_mount)
		return 0;
	r = pin_parents(t, p, &around);
	if (r == 0)
		emit_bind(t, p, &d, &around);
	return r;
}

static void emit_root(struct tree *t)
{
	struct decision d = policy_decide(t->c->in->policy, STR("/"));
	/* A rule for "/" alone shows the directory, not what is in it. */
	bool host = d.data != ACCESS_NONE && d.data_rule->kind != RULE_EXACT;

	struct op *op = plan_emit(t->c, host ? OP_ROOT_HOST : OP_ROOT_EMPTY, STR("/"));

	if (op)
		op->number = host && d.data == ACCESS_WRITE;
	push_view(t, (struct view){ STR("/"), host ? d.data : ACCESS_NONE, !host || d.exec });
	if (host && !d.exec)
		plan_emit(t->c, OP_NOEXEC, STR("/"));
	plan_emit(t->c, OP_KEEP_METADATA, STR(""));
}

int plan_files(struct compiler *c)
{
	struct tree t = { .c = c };
	struct spots spots = { 0 };
	int r;

	emit_root(&t);
	r = plan_spots(c, &spots);
	if (r < 0 || c->out_of_memory)
		return r;
	vec_each(spot, &spots.items)
		if (r == 0)
			r = place_one(&t, spot);
	return r;
}
