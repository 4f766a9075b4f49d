/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a policy to operations. The file part walks the paths that any rule mentions,
 * parents first, and emits an operation where the verdict differs from what the
 * operations so far already show there; so the tree the kernel gets follows
 * policy_decide and nothing else.
 */
#include "plan/plan.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

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

bool plan_is_in_writable(const struct plan *plan, struct str path)
{
	vec_each(op, &plan->ops)
		if ((op->kind == OP_BIND_RW || (op->kind == OP_ROOT_HOST && op->number)) &&
		    op->path.n < path.n && path_below(path, op->path))
			return true;
	return false;
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

static void emit_number(struct compiler *c, enum op_kind kind, struct str path, uint64_t number)
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

/* A connection to the loopback says nothing but its port. */
static int check_host(struct compiler *c, const struct net_host *h, const char *text)
{
	if (!host_is_local(&h->host) || (h->host.port && h->host.prefix_bits == 128))
		return 0;
	origin_error(c->err, CORDON_E_CONFIG, stage, &h->origin,
		     "network: %s means services of the host, one by one", text);
	return err_hint(c->err, "name the port: localhost:8080");
}

/* In the host's own network nobody asks before a connection is made. */
static int check_denied(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	if (!policy->confined || policy_net_mode(policy) != NET_ON || !policy->denied.n)
		return 0;
	origin_error(c->err, CORDON_E_CONFIG, stage, &policy->denied.at[0].origin,
		     "deny_hosts takes from a list of hosts, and the network is on");
	return err_hint(c->err, "list what may be reached (--allow-network=HOST,...), or leave "
				"the denied hosts out");
}

static bool counts_connections(enum key key)
{
	return key == KEY_CONNECTIONS || key == KEY_TRAFFIC;
}

/* Nor is anything counted there. */
static int check_counted(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	if (!policy->confined || policy_net_mode(policy) != NET_ON)
		return 0;
	for (enum key key = 0; key < KEY_COUNT; key++) {
		if (!counts_connections(key) || !policy_number(policy, key))
			continue;
		origin_error(c->err, CORDON_E_CONFIG, stage, &policy->effective[key].origin,
			     "%s counts connections to a list of hosts, and the network is on",
			     key_rows[key].name);
		return err_hint(c->err,
				"list what may be reached (--allow-network=HOST,...), or lift the "
				"limit (%s none)",
				key_rows[key].flag);
	}
	return 0;
}

static void emit_denied(struct compiler *c)
{
	vec_each(h, &c->in->policy->denied) {
		autobuf struct buf b = buf_make(512);

		host_print(&b, &h->host);
		plan_emit(c, OP_NET_DENY, str_of(arena_dup(c->arena, buf_str(&b))));
	}
}

/* With the host's network the command listens there itself. */
static int emit_published(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	vec_each(s, &policy->effective_lists[KEY_PUBLISH].items) {
		const char *text = arena_printf(c->arena, "%" PRIu64 ":%" PRIu64, s->number >> 16,
						s->number & 0xffff);

		if (policy->confined && policy_net_mode(policy) == NET_ON) {
			origin_error(c->err, CORDON_E_CONFIG, stage, &s->origin,
				     "publish needs a network of the command's own, and the "
				     "network is on");
			return err_hint(c->err, "leave --publish out: what the command listens on "
						"is the host's already");
		}
		if (!text)
			return err_nomem(c->err, stage);
		plan_emit(c, OP_PUBLISH, str_of(text));
	}
	return 0;
}

static int emit_network(struct compiler *c)
{
	const struct policy *policy = c->in->policy;
	int r = check_denied(c);

	if (r == 0)
		r = check_counted(c);
	if (r < 0)
		return r;

	vec_each(h, &policy->hosts) {
		autobuf struct buf b = buf_make(512);

		host_print(&b, &h->host);
		if (check_host(c, h, b.p) < 0)
			return -CORDON_E_CONFIG;
		plan_emit(c, OP_NET_HOST, str_of(arena_dup(c->arena, buf_str(&b))));
	}
	if (policy->hosts.n)
		emit_denied(c);
	if (policy_net_mode(policy) == NET_ON)
		vec_each(s, &policy->effective_lists[KEY_BIND].items)
			emit_number(c, OP_LISTEN_PORT, STR(""), s->number);
	return emit_published(c);
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
		if (node.type == NODE_ABSENT) {
			err_set(c->err, CORDON_E_PATH, 0, stage, "unix socket '%s': does not exist",
				s->text.p);
			return err_hint(c->err, "a socket is let in as it is at the start: start "
						"what listens there first, or leave it out");
		}
		if (node.type != NODE_SOCKET) {
			err_set(c->err, CORDON_E_PATH, 0, stage, "'%s' is not a unix socket",
				s->text.p);
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
		    (!counts_connections(keys[i]) || policy->hosts.n ||
		     policy->effective_lists[KEY_PUBLISH].items.n))
			emit_number(c, OP_LIMIT, name, policy_number(policy, keys[i]));
	}
}

/* A file of the resolver is covered where the command sees it. */
static int emit_resolver_file(struct compiler *c, struct str path, enum resolver_file which)
{
	const struct world *world = c->in->world;
	struct node node;
	struct str real;
	struct op *op;
	bool seen;
	int r = world->resolve(world, c->arena, path, &real, &node, c->err);

	if (r < 0)
		return r;
	seen = node.type == NODE_FILE && policy_decide(c->in->policy, real).data == ACCESS_READ;
	if (!seen && which == RESOLVER_HOSTS)
		return 0;
	op = plan_emit(c, OP_RESOLVER, seen ? real : STR(""));
	if (op) {
		op->number = which;
		op->node = seen ? node : (struct node){ 0 };
	}
	return 0;
}

/* Without a file that names the server, programs ask 127.0.0.1, where it is. Names that
 * the host's own file knows would be looked up past it. */
static int emit_resolver(struct compiler *c)
{
	const struct policy *policy = c->in->policy;
	int r;

	if (policy_net_mode(policy) == NET_ON ||
	    (!policy->hosts.n && policy_number(policy, KEY_REPORT) < REPORT_WRITES))
		return 0;
	r = emit_resolver_file(c, STR("/etc/resolv.conf"), RESOLVER_SERVERS);
	if (r == 0 && policy->hosts.n)
		r = emit_resolver_file(c, STR("/etc/hosts"), RESOLVER_HOSTS);
	return r;
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
	r = emit_network(c);
	if (r == 0)
		r = plan_files(c);
	if (r == 0)
		r = emit_sockets(c);
	if (r < 0)
		return r;
	r = emit_resolver(c);
	if (r < 0)
		return r;
	emit_process(c);
	r = emit_environment(c);
	if (r == 0)
		plan_emit(c, OP_CHDIR, shows(c, workdir) ? workdir : STR("/"));
	return r;
}

static int add_loss(struct compiler *c, enum guarantee g, enum op_kind op)
{
	struct loss *loss = vec_push(&c->plan->degraded, c->arena);

	if (!loss)
		return err_nomem(c->err, stage);
	*loss = (struct loss){
		.guarantee = g,
		.op = op,
		.missing = c->in->claims->enforces[op] ? CAP_COUNT : c->in->claims->missing[op],
		.required = guarantee_rows[g].required,
	};
	return 0;
}

/* Sharing the host's processes was asked for: then they are seen, and nothing ends one
 * that has left the command's tree when the supervisor is killed. */
static int share_processes(struct compiler *c, bool *lost)
{
	const struct policy *policy = c->in->policy;

	if (!policy->confined || !policy_number(policy, KEY_SHARE_PID))
		return 0;
	c->plan->promised[GUARANTEE_PROCESSES] = lost[GUARANTEE_PROCESSES];
	if (lost[GUARANTEE_SURVIVORS])
		return 0;
	lost[GUARANTEE_SURVIVORS] = true;
	return add_loss(c, GUARANTEE_SURVIVORS, OP_UNSHARE_PID);
}

static bool is_enforced(const struct claims *claims, const struct plan *plan, const struct op *op)
{
	return claims->enforces[op->kind] &&
	       (!claims->enforces_op || claims->enforces_op(plan, op, claims->caps));
}

static bool is_lost_by_twin(const struct claims *claims, const struct plan *plan,
			    const struct op *op)
{
	struct op plain = *op;

	plain.twin = false;
	return op->twin && is_enforced(claims, plan, &plain);
}

/* Compares what the operations need with what the backend claims. */
static int collect_losses(struct compiler *c)
{
	struct plan *plan = c->plan;
	bool lost[GUARANTEE_COUNT] = { false };
	int r = 0;

	vec_each(op, &plan->ops) {
		enum guarantee g = op_rows[op->kind].guarantee;

		plan->promised[g] = true;
		op->lost = !is_enforced(c->in->claims, plan, op);
		if (r < 0 || lost[g] || !op->lost)
			continue;
		lost[g] = true;
		r = add_loss(c, g, op->kind);
		if (r == 0 && is_lost_by_twin(c->in->claims, plan, op))
			plan->degraded.at[plan->degraded.n - 1].twin = op->path;
	}
	if (r == 0 && c->in->policy->caches_lost && !lost[GUARANTEE_CACHES]) {
		plan->promised[GUARANTEE_CACHES] = lost[GUARANTEE_CACHES] = true;
		r = add_loss(c, GUARANTEE_CACHES, OP_CACHE);
	}
	if (r == 0)
		r = share_processes(c, lost);
	for (unsigned g = 0; g < GUARANTEE_COUNT; g++)
		plan->enforced[g] = plan->promised[g] && !lost[g];
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
		r = collect_losses(&c);
	if (r == 0)
		*ret = plan;
	return r;
}

/* What does help, where another backend or profile would not. */
static const char *remedy(enum op_kind op)
{
	if (op == OP_NET_HOST)
		return "only --backend native can let listed hosts be reached: --allow-network "
		       "alone opens the whole network, without it there is none";
	if (op == OP_PUBLISH)
		return "only --backend native can publish a port";
	if (op == OP_HIDE_GLOB)
		return "this backend cannot hide what matches a pattern: name the paths, or the "
		       "directory they are in";
	if (op == OP_EXACT)
		return "only native and landlock can carry calls out: ask for less with "
		       "--protect guard, or accept the loss with --fallback degrade";
	return "choose another --backend or --profile, or accept the loss with --fallback degrade";
}

static int refuse_twin(const struct plan *plan, const struct loss *loss, struct cordon_error *err)
{
	err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
		"the %s backend cannot promise '%s': the file system of '%.*s' takes names in any "
		"case for the same, and another spelling would get round the rule for it",
		plan->backend, guarantee_rows[loss->guarantee].name, (int)loss->twin.n,
		loss->twin.p);
	return err_hint(err, loss->op == OP_NOEXEC
				     ? "move it to a file system that tells cases apart, or accept "
				       "the loss with --fallback degrade"
				     : "add --protect exact, with --backend native: it looks at "
				       "every spelling; or move it to a file system that tells "
				       "cases apart, or accept the loss with --fallback degrade");
}

int plan_check(const struct plan *plan, struct cordon_error *err)
{
	vec_each(loss, &plan->degraded) {
		const struct guarantee_row *g = &guarantee_rows[loss->guarantee];

		if (!loss->required)
			continue;
		if (loss->twin.n)
			return refuse_twin(plan, loss, err);
		err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
			"the %s backend cannot promise '%s' (%s): it has no %s", plan->backend,
			g->name, g->promise, op_rows[loss->op].name);
		if (loss->missing != CAP_COUNT)
			return err_hint(err, loss->op == OP_EXACT
						     ? "%s; or use --protect guard"
						     : "%s; or use --fallback degrade",
					cap_rows[loss->missing].fix);
		return err_hint(err, "%s", remedy(loss->op));
	}
	return 0;
}
