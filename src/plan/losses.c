/* SPDX-License-Identifier: Apache-2.0 */
/* What a backend does not hold of a plan, and whether that may be. */
#include "plan/plan_in.h"

#define stage "compile"
#define NAME_MAX_BYTES 1024

static int add_loss(struct compiler *c, enum guarantee g, enum op_kind op)
{
	const struct claims *claims = c->in->claims;
	struct loss *loss = vec_push(&c->plan->degraded, c->arena);

	if (!loss)
		return err_nomem(c->err, stage);
	*loss = (struct loss){
		.guarantee = g,
		.op = op,
		.missing = claims->enforces[op] ? CAP_COUNT : claims->missing[op],
		.required = guarantee_rows[g].required,
	};
	if (loss->missing != CAP_COUNT && claims->caps)
		loss->why = claims->caps->why[loss->missing];
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
int plan_losses(struct compiler *c)
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
			plan->degraded.at[plan->degraded.n - 1].twin = op;
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

#define ELSEWHERE \
	"move it to a file system that tells cases apart, or accept the loss with --fallback " \
	"degrade"

/* Nobody executes on behalf, and a socket is found by what it is. */
static const char *twin_remedy(const struct op *op)
{
	if (op->node.type == NODE_SOCKET)
		return "end who listens there, or make the socket on a file system that tells "
		       "cases apart, or accept the loss with --fallback degrade";
	if (op->runs)
		return "it could be executed: take --profile shell, which executes nothing in the "
		       "workdir, another file system, or --fallback degrade";
	if (op->kind == OP_NOEXEC)
		return ELSEWHERE;
	return "add --protect exact, with --backend native: it looks at every spelling; or "
	       ELSEWHERE;
}

static int refuse_twin(const struct plan *plan, const struct loss *loss, struct cordon_error *err)
{
	err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
		"the %s backend cannot promise '%s': the file system of '%.*s' takes names in any "
		"case for the same, and another spelling would get round the rule for it",
		plan->backend, guarantee_rows[loss->guarantee].name, (int)loss->twin->path.n,
		loss->twin->path.p);
	return err_hint(err, "%s", twin_remedy(loss->twin));
}

/* What to do about a capability that is missing, or an operation that no capability brings. */
static int refuse(const struct plan *plan, const struct loss *loss, struct cordon_error *err)
{
	const struct guarantee_row *g = &guarantee_rows[loss->guarantee];
	const struct cap_row *cap = &cap_rows[loss->missing == CAP_COUNT ? 0 : loss->missing];
	autobuf struct buf name = buf_make(NAME_MAX_BYTES);
	const char *text;

	plan_print_loss(&name, plan, loss);
	text = name.failed ? g->name : name.p;
	if (loss->missing == CAP_COUNT) {
		err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
			"the %s backend cannot promise '%s' (%s): it has no means for this: %s",
			plan->backend, text, g->promise, op_rows[loss->op].help);
		return err_hint(err, "%s", remedy(loss->op));
	}
	err_set(err, CORDON_E_UNAVAILABLE, 0, stage,
		"the %s backend cannot promise '%s' (%s) without %s (%s)%s%s", plan->backend, text,
		g->promise, cap->name, cap->purpose, loss->why ? ": " : "",
		loss->why ? loss->why : "");
	return err_hint(err,
			loss->op == OP_EXACT ? "%s; or use --protect guard"
					     : "%s; or use --fallback degrade",
			cap->fix);
}

int plan_check(const struct plan *plan, struct cordon_error *err)
{
	vec_each(loss, &plan->degraded) {
		if (loss->required)
			return loss->twin ? refuse_twin(plan, loss, err) : refuse(plan, loss, err);
	}
	return 0;
}
