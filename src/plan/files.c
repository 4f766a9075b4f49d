/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file part of a plan. Every path that a rule mentions is visited, parents first;
 * `views` remembers what the operations emitted so far show at the ancestors.
 */
#include "plan/plan_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "fmt/glob.h"
#include "policy/caches.h"

/* A path that some rule mentions, or a hidden name that exists. */
struct spot {
	struct str path;
	struct node node;
	const struct rule *rule;
	bool link;   /* spelled through a symlink: rule names the target */
	bool socket; /* a unix socket of the host, to be covered unless named */
};

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
	VEC(struct spot) spots;
	VEC(struct view) views;
};

static bool add_spot(struct tree *t, struct str path, struct node node, const struct rule *rule,
		     bool link)
{
	struct spot *p = vec_push(&t->spots, t->c->arena);

	if (!p) {
		t->c->out_of_memory = true;
		return false;
	}
	*p = (struct spot){ path, node, rule, .link = link };
	return true;
}

static int refuse_rule(struct compiler *c, const struct rule *rule, const char *why)
{
	autobuf struct buf where = buf_make(8192);

	origin_print(&where, &rule->origin);
	return err_set(c->err, CORDON_E_CONFIG, 0, "compile", "%s: '%s': %s", where.p,
		       rule->spelled.p, why);
}

/* The directory in which the pattern of a glob begins. */
static struct str literal_part(struct str glob)
{
	struct str rest = glob, part;
	size_t n = 0;

	while (path_next(&rest, &part) && !glob_has_magic(part))
		n = (size_t)(part.p - glob.p) + part.n;
	return n ? str_take(glob, n) : STR("/");
}

/* Does a read rule by pattern give something, rather than take writing away? */
static bool glob_opens(const struct compiler *c, const struct rule *rule)
{
	struct decision d = policy_decide(c->in->policy, literal_part(rule->path));

	return rule->right == RIGHT_READ && d.data == ACCESS_NONE;
}

/* A glob protects names; it cannot show or hide a tree that exists (rule 9). */
static int place_glob(struct tree *t, const struct rule *rule)
{
	struct compiler *c = t->c;
	struct op *op;

	if (rule->flags & RULE_ALIAS)
		return 0;
	if (rule->right == RIGHT_WRITE || rule->right == RIGHT_EXEC || glob_opens(c, rule)) {
		refuse_rule(c, rule, "a grant must name its directories");
		return err_hint(c->err, "grant the directory above it and deny what must stay out");
	}
	if (rule->right == RIGHT_DENY &&
	    policy_number(c->in->policy, KEY_PROTECT) != PROTECT_EXACT) {
		refuse_rule(c, rule, "hiding what exists by a pattern needs protect = \"exact\"");
		if (c->in->claims->enforces[OP_HIDE_GLOB])
			return err_hint(c->err, "add --protect exact, or name the paths");
		return err_hint(c->err, "name the paths, or the directory they are in: this "
					"backend cannot hide what matches a pattern");
	}
	op = plan_emit(c, rule->right == RIGHT_DENY ? OP_HIDE_GLOB : OP_GUARD_GLOB, rule->path);
	if (op)
		op->rule = rule;
	return 0;
}

static int collect_rules(struct tree *t, const struct ruleset *rules)
{
	for (size_t i = 0; rules && i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);
		int r = 0;

		if (rule->kind == RULE_GLOB)
			r = place_glob(t, rule);
		else if (rule->kind == RULE_EXACT && rule->node.type == NODE_DIR)
			r = refuse_rule(t->c, rule,
					"'=' singles out a file, and this is a directory");
		else
			add_spot(t, rule->path, rule->node, rule, rule->flags & RULE_VIA_LINK);
		if (r < 0)
			return r;
	}
	return 0;
}

/* By bytes, with the slash before all others, so that a directory comes right before
 * what is below it. */
static int compare_paths(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	/* Most have a long beginning in common. */
	while (i + 8 <= n && memcmp(a.p + i, b.p + i, 8) == 0)
		i += 8;
	while (i < n && a.p[i] == b.p[i])
		i++;
	if (i == n)
		return a.n < b.n ? -1 : a.n > b.n;
	if (a.p[i] == '/' || b.p[i] == '/')
		return a.p[i] == '/' ? -1 : 1;
	return (unsigned char)a.p[i] < (unsigned char)b.p[i] ? -1 : 1;
}

static int by_path(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	int c = compare_paths(x->path, y->path);

	/* The same path twice: what exists first. */
	return c ? c : (y->node.type != NODE_ABSENT) - (x->node.type != NODE_ABSENT);
}

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
	op->twin = has_better_twin(t, p, d, around);
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
	err_set(c->err, CORDON_E_PATH, 0, "compile",
		"%s: '%s' does not exist, so it cannot be made %s", p->rule->origin.file,
		p->rule->spelled.p, d->data == ACCESS_WRITE ? "writable" : "readable");
	return err_hint(c->err, "create it first: mkdir -p '%s'", p->path.p);
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

static void emit_hidden(struct tree *t)
{
	const struct plan_input *in = t->c->in;
	unsigned hidden = (unsigned)policy_number(in->policy, KEY_HIDDEN_WRITES);
	struct op *op;

	if (hidden == HIDDEN_ALLOW)
		return;
	for (size_t i = 0; i < in->hidden_count; i++)
		add_spot(t, in->hidden[i].path, in->hidden[i].node, NULL, false);
	op = plan_emit(t->c, OP_GUARD_HIDDEN, in->policy->places.workdir);
	if (op)
		op->source = str_of(choice_to_string(CHOICES_HIDDEN, hidden));
}

/* Connecting to a socket needs no mount that is writable, so each one that shows is
 * covered. */
static void emit_sockets(struct tree *t)
{
	const struct plan_input *in = t->c->in;

	for (size_t i = 0; i < in->socket_count; i++)
		if (add_spot(t, in->sockets[i].path, in->sockets[i].node, NULL, false))
			t->spots.at[t->spots.n - 1].socket = true;
	plan_emit(t->c, in->sockets_known ? OP_COVER_SOCKETS : OP_KNOW_SOCKETS, STR(""));
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
	const struct policy *policy = c->in->policy;
	struct tree t = { .c = c };
	int r;

	emit_root(&t);
	r = collect_rules(&t, policy->trusted.rules);
	vec_each(o, &policy->narrowing)
		if (r == 0)
			r = collect_rules(&t, (*o)->settings.rules);
	if (r == 0)
		r = collect_rules(&t, policy->own);
	if (r == 0)
		emit_hidden(&t);
	if (r == 0)
		emit_sockets(&t);
	if (r < 0 || c->out_of_memory)
		return r;
	qsort(t.spots.at, t.spots.n, sizeof(t.spots.at[0]), by_path);
	for (size_t i = 0; i < t.spots.n && r == 0; i++)
		r = place_one(&t, &t.spots.at[i]);
	return r;
}
