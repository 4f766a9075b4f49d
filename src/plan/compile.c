/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a policy to operations. The file part walks the paths that any rule mentions,
 * parents first, and emits an operation where the verdict differs from what the
 * operations so far already show there; so the tree the kernel gets follows
 * policy_decide and nothing else.
 */
#include "plan/plan.h"

#include "base/path.h"
#include "fmt/located.h"
#include "plan/plan_in.h"
#include "policy/caches.h"
#include "policy/environ.h"
#include "policy/resolve.h"

#define stage "compile"

const struct guarantee_row guarantee_rows[GUARANTEE_COUNT] = {
#define REQUIRED true
#define BEST false
#define GUARANTEE(id, text, class, what) \
	[GUARANTEE_##id] = { .name = text, .promise = what, .required = class },
#include "plan/guarantees.def"
#undef GUARANTEE
#undef REQUIRED
#undef BEST
};

const struct op_row op_rows[OP_KIND_COUNT] = {
#define OP(id, text, serves, shows, about) \
	[OP_##id] = { \
		.name = text, .guarantee = GUARANTEE_##serves, .view = VIEW_##shows, .help = about \
	},
#include "plan/ops.def"
#undef OP
};

enum op_view op_view_of(const struct op *op)
{
	if (op->kind == OP_ROOT_HOST && op->number)
		return VIEW_WRITE;
	return op_rows[op->kind].view;
}

const struct op *plan_shown_by(const struct plan *plan, struct str path, const struct op *before)
{
	const struct op *nearest = NULL;

	vec_each(op, &plan->ops) {
		if (op == before)
			break;
		if (op_rows[op->kind].view != VIEW_NONE && path_below(path, op->path) &&
		    (!nearest || op->path.n >= nearest->path.n))
			nearest = op;
	}
	return nearest;
}

bool op_is_writable(const struct op *op)
{
	/* A cache that covers nothing is where it is on the host. */
	return op_view_of(op) == VIEW_WRITE ||
	       (op->kind == OP_CACHE && str_eq(op->path, op->source));
}

bool plan_is_in_writable(const struct plan *plan, struct str path)
{
	vec_each(op, &plan->ops)
		if (op_is_writable(op) && op->path.n < path.n && path_below(path, op->path))
			return true;
	return false;
}

const char *plan_variable(const struct plan *plan, const char *name)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_ENV_SET && str_eq(op->path, str_of(name)))
			return op->source.p;
	return NULL;
}

const struct op *plan_find_op(const struct plan *plan, enum op_kind kind)
{
	vec_each(op, &plan->ops)
		if (op->kind == kind)
			return op;
	return NULL;
}

struct str plan_private_above(const struct plan *plan, struct str path)
{
	struct str found = { 0 };

	vec_each(op, &plan->ops)
		if (op->kind == OP_TMPFS && op->path.n > found.n && op->path.n < path.n &&
		    path_below(path, op->path))
			found = op->path;
	return found;
}

bool plan_closes(const struct plan *plan, const struct op *op)
{
	return (op->kind == OP_TMPFS || op->kind == OP_SHARED_TMP) &&
	       (strcmp(plan->backend, "landlock") == 0 || strcmp(plan->backend, "seatbelt") == 0);
}

uint64_t plan_tmp_size(const struct policy *policy)
{
	uint64_t size = policy_number(policy, KEY_TMP_SIZE);
	uint64_t memory = policy_number(policy, KEY_MEMORY);

	return memory && (!size || memory < size) ? memory : size;
}

struct op *plan_emit(struct compiler *c, enum op_kind kind, struct str path)
{
	struct op *op = vec_push(&c->plan->ops, c->arena);

	if (op)
		*op = (struct op){ .kind = kind, .path = path };
	else
		c->out_of_memory = true;
	return op;
}

void plan_emit_number(struct compiler *c, enum op_kind kind, struct str path, uint64_t number)
{
	struct op *op = plan_emit(c, kind, path);

	if (op)
		op->number = number;
}

static void emit_namespaces(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	plan_emit(c, OP_UNSHARE_USER, STR(""));
	plan_emit(c, OP_UNSHARE_MOUNT, STR(""));
	if (!policy_number(policy, KEY_SHARE_PID))
		plan_emit(c, OP_UNSHARE_PID, STR(""));
	if (policy_net_mode(policy) != NET_ON)
		plan_emit(c, OP_UNSHARE_NET, STR(""));
	plan_emit(c, OP_UNSHARE_IPC, STR(""));
	plan_emit(c, OP_UNSHARE_UTS, STR(""));
	plan_emit(c, OP_UNSHARE_CGROUP, STR(""));
}

/* What hides a directory above the path lets it be reached. */
static void open_above(struct compiler *c, struct str path)
{
	vec_each(op, &c->plan->ops)
		if (op->kind == OP_HIDE_DIR && path_below(path, op->path))
			op->number = 1;
}

/* Naming a socket opens it in spite of a profile's rule, not against a deny that counts
 * as much or more. */
static int check_socket(struct compiler *c, const struct statement *s, struct str real)
{
	struct decision d = policy_decide(c->in->policy, real);
	bool narrowed = d.data_layer == LAYER_PROJECT || d.data_layer == LAYER_LOCKED ||
			d.data_layer == LAYER_CORDON;

	if (d.data != ACCESS_NONE || !d.data_rule ||
	    (!narrowed && d.data_rule->origin.source < s->origin.source))
		return 0;
	origin_error(c->err, CORDON_E_CONFIG, stage, &s->origin,
		     "unix socket %s is denied by a rule that counts more",
		     quote(d.data_rule->spelled).text);
	return err_hint(c->err, "take the deny back where it was said, or do without the socket");
}

static int emit_sockets(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	vec_each(s, &policy->effective_lists[KEY_UNIX].items) {
		struct op *op;
		struct str real;
		struct node node;
		int r = resolve_path(c->arena, c->in->world, &policy->places, s->text, &real, &node,
				     c->err);

		if (r < 0)
			return r;
		/* The reader of the settings has warned of it (policy/srt.c). */
		if (node.type == NODE_ABSENT && s->origin.source == SOURCE_SETTINGS)
			continue;
		if (node.type == NODE_ABSENT) {
			origin_error(c->err, CORDON_E_PATH, stage, &s->origin,
				     "unix socket '%s' does not exist", s->text.p);
			return err_hint(c->err, "a socket is let in as it is at the start: start "
						"what listens there first, or leave it out");
		}
		if (node.type != NODE_SOCKET) {
			origin_error(c->err, CORDON_E_PATH, stage, &s->origin,
				     "'%s' is not a unix socket", s->text.p);
			return err_hint(c->err, "for files there are --allow-read and "
						"--allow-write");
		}
		r = check_socket(c, s, real);
		if (r < 0)
			return r;
		open_above(c, real);
		op = plan_emit(c, OP_SOCKET, real);
		if (op) {
			op->source = real;
			op->node = node;
		}
	}
	return 0;
}

static void emit_limits(struct compiler *c)
{
	static const enum key keys[] = { KEY_TIMEOUT,	 KEY_CPU,    KEY_MEMORY,
					 KEY_PROCS,	 KEY_FILES,  KEY_FILE_SIZE,
					 KEY_OUTPUT,	 KEY_CONNECTIONS, KEY_TRAFFIC };
	const struct policy *policy = c->in->policy;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct str name = str_skip(str_of(key_rows[keys[i]].name), sizeof("limits.") - 1);

		/* Without a list nothing is connected that could be counted. */
		if (policy_number(policy, keys[i]) &&
		    (!plan_counts_connections(keys[i]) || policy->hosts.n ||
		     policy->effective_lists[KEY_PUBLISH].items.n))
			plan_emit_number(c, OP_LIMIT, name, policy_number(policy, keys[i]));
	}
	/* The profile's own is part of the private directories, where there are any. */
	if (policy_number(policy, KEY_TMP_SIZE) && policy_number(policy, KEY_TMP) == TMP_PRIVATE &&
	    policy->effective[KEY_TMP_SIZE].origin.source != SOURCE_PROFILE)
		plan_emit_number(c, OP_LIMIT, STR("tmp_size"), policy_number(policy, KEY_TMP_SIZE));
}

static void emit_process(struct compiler *c)
{
	const struct policy *policy = c->in->policy;
	unsigned report = (unsigned)policy_number(policy, KEY_REPORT);

	if (policy_number(policy, KEY_PROTECT) == PROTECT_EXACT)
		plan_emit(c, OP_EXACT, STR(""));
	if (report != REPORT_NONE)
		plan_emit(c, OP_REPORT, str_of(choice_to_string(CHOICES_REPORT, report)));
	emit_limits(c);
	if (policy_number(policy, KEY_NEW_SESSION))
		plan_emit(c, OP_SESSION, STR(""));
	else
		plan_emit(c, OP_NO_TTY_INPUT, STR(""));
	plan_emit(c, OP_DIE_WITH_PARENT, STR(""));
	plan_emit(c, OP_DROP_CAPS, STR(""));
	plan_emit(c, OP_NO_NEW_PRIVS, STR(""));
	plan_emit(c, OP_LANDLOCK, STR(""));
	plan_emit(c, OP_SECCOMP, STR(""));
	if (!policy_number(policy, KEY_PTRACE))
		plan_emit(c, OP_NO_PTRACE, STR(""));
	if (!policy_number(policy, KEY_KEYRING))
		plan_emit(c, OP_NO_KEYRING, STR(""));
}

static void emit_variable(struct compiler *c, struct str name, struct str value)
{
	struct op *op = plan_emit(c, OP_ENV_SET, name);

	if (!value.p)
		c->out_of_memory = true;
	else if (op)
		op->source = value;
}

/* Did somebody give the variable a value of its own? */
static bool is_set(const struct variables *v, struct str name)
{
	vec_each(item, &v->items)
		if (item->origin && str_eq(item->name, name))
			return true;
	return false;
}

static bool names_scratch(struct str name)
{
	return str_eq(name, STR("TMPDIR")) || str_eq(name, STR("TMP")) || str_eq(name, STR("TEMP"));
}

/* The caller's directory for temporary files is of no use where it is not shown or not
 * writable, and programs that trust the variable would fail. */
static struct str usable_value(const struct compiler *c, const struct variable *v)
{
	const struct policy *policy = c->in->policy;
	struct decision d;

	if (v->origin || !names_scratch(v->name) || !path_is_normal(v->value))
		return v->value;
	d = policy_decide(policy, v->value);
	if (d.data == ACCESS_WRITE && !(d.trusted_rule->flags & RULE_PRIVATE))
		return v->value;
	return policy_decide(policy, policy->places.tmp).data == ACCESS_WRITE ? policy->places.tmp
									      : v->value;
}

static int emit_environment(struct compiler *c)
{
	struct variables v;
	int r = environ_filter(c->arena, c->in->policy, c->in->environ, &v, c->err);

	if (r < 0)
		return r;
	plan_emit(c, OP_ENV_CLEAR, STR(""));
	vec_each(item, &v.items) {
		if (str_eq(item->name, STR("TMPDIR")))
			c->plan->caller_tmp = item->value;
		if (item->origin || !cache_named_by(c->in->policy, item->name))
			emit_variable(c, item->name, usable_value(c, item));
	}
	vec_each(cache, &c->in->policy->caches)
		if (!cache->covers && !is_set(&v, str_of(cache->row->sets)))
			emit_variable(c, str_of(cache->row->sets),
				      str_of(cache_value(c->arena, c->in->policy, cache)));
	return 0;
}

/* Does the sandbox have this directory, as itself or for what shows below it? */
static bool shows(const struct compiler *c, struct str dir)
{
	struct decision d = policy_decide(c->in->policy, dir);

	/* The sandbox's own directories start empty. */
	if (d.data != ACCESS_NONE &&
	    (!(d.data_rule->flags & RULE_PRIVATE) || str_eq(d.data_rule->path, dir)))
		return true;
	vec_each(op, &c->plan->ops)
		if ((op->kind == OP_BIND_RO || op->kind == OP_BIND_RW || op->kind == OP_SYMLINK ||
		     op->kind == OP_SOCKET) &&
		    path_below(op->path, dir))
			return true;
	return false;
}

/* Without confinement the command gets what it would have had without cordon, and the
 * limits. */
static int emit_unconfined(struct compiler *c)
{
	emit_limits(c);
	for (const char *const *e = c->in->environ; e && *e; e++) {
		struct str name, value;
		struct op *op;

		str_cut(str_of(*e), '=', &name, &value);
		op = plan_emit(c, OP_ENV_SET, name);
		if (op)
			op->source = value;
	}
	plan_emit(c, OP_CHDIR, c->in->policy->places.workdir);
	return 0;
}

static int emit_all(struct compiler *c)
{
	struct str workdir = c->in->policy->places.workdir;
	int r;

	if (!c->in->policy->confined)
		return emit_unconfined(c);
	emit_namespaces(c);
	r = plan_network(c);
	if (r == 0)
		r = plan_files(c);
	if (r == 0)
		r = emit_sockets(c);
	if (r < 0)
		return r;
	r = plan_resolver(c);
	if (r < 0)
		return r;
	emit_process(c);
	r = emit_environment(c);
	if (r == 0)
		plan_emit(c, OP_CHDIR, shows(c, workdir) ? workdir : STR("/"));
	return r;
}

int plan_compile(struct arena *a, const struct plan_input *in, struct plan **ret,
		 struct cordon_error *err)
{
	struct plan *plan = arena_new(a, struct plan);
	struct compiler c = { .arena = a, .in = in, .plan = plan, .err = err };
	int r;

	if (!plan)
		return err_nomem(err, stage);
	plan->policy = in->policy;
	plan->backend = in->claims->backend;
	r = emit_all(&c);
	if (r == 0 && c.out_of_memory)
		r = err_nomem(err, stage);
	if (r == 0)
		r = plan_losses(&c);
	if (r == 0)
		*ret = plan;
	return r;
}
