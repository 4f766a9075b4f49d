/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as text for people and as JSON for programs. */
#include "plan/plan.h"

#include <inttypes.h>

#include "base/num.h"
#include "fmt/json.h"

/* A limit in the unit of its key. */
static void print_limit(struct buf *b, const struct op *op)
{
	autobuf struct buf name = buf_make(64);
	enum key key;

	buf_addf(&name, "limits.%.*s", STR_ARG(op->path));
	buf_addf(b, "%.*s ", STR_ARG(op->path));
	if (!key_from_string(buf_str(&name), &key))
		buf_addf(b, "%" PRIu64, op->number);
	else if (key_rows[key].type == TYPE_DURATION)
		num_print_duration(b, op->number);
	else if (key_rows[key].type == TYPE_SIZE)
		num_print_size(b, op->number);
	else
		buf_addf(b, "%" PRIu64, op->number);
}

static void print_tmpfs(struct buf *b, const struct op *op)
{
	buf_add_escaped(b, op->path);
	if (!op->number)
		return;
	buf_adds(b, " size ");
	num_print_size(b, op->number);
}

static void print_link(struct buf *b, const struct op *op)
{
	buf_add_escaped(b, op->path);
	buf_adds(b, " -> ");
	buf_add_escaped(b, op->source);
}

static void print_cache(struct buf *b, const struct op *op)
{
	buf_add_escaped(b, op->path);
	buf_adds(b, " from ");
	buf_add_escaped(b, op->source);
}

static void print_hidden_dir(struct buf *b, const struct op *op)
{
	buf_add_escaped(b, op->path);
	buf_adds(b, op->number ? " partly" : "");
}

static void print_root(struct buf *b, const struct op *op)
{
	buf_adds(b, op->number ? "/ writable" : "/");
}

static void print_port(struct buf *b, const struct op *op)
{
	buf_addf(b, "%" PRIu64, op->number);
}

static void print_path_and_source(struct buf *b, const struct op *op)
{
	buf_add_escaped(b, op->path);
	buf_addf(b, " %.*s", STR_ARG(op->source));
}

/* Operations that say more than their path. */
static void (*const printers[OP_KIND_COUNT])(struct buf *, const struct op *) = {
	[OP_LIMIT] = print_limit,
	[OP_TMPFS] = print_tmpfs,
	[OP_SYMLINK] = print_link,
	[OP_HIDE_DIR] = print_hidden_dir,
	[OP_CACHE] = print_cache,
	[OP_SHARED_TMP] = print_cache,
	[OP_ROOT_HOST] = print_root,
	[OP_LISTEN_PORT] = print_port,
	[OP_GUARD_HIDDEN] = print_path_and_source,
};

static void print_op(struct buf *b, const struct op *op)
{
	buf_addf(b, "%-16s", op_rows[op->kind].name);
	if (printers[op->kind])
		printers[op->kind](b, op);
	else
		buf_add_escaped(b, op->path);
}

void plan_print(struct buf *b, const struct plan *plan)
{
	buf_addf(b, "backend %s, profile %s\n", plan->backend, plan->policy->profile);
	vec_each(op, &plan->ops) {
		print_op(b, op);
		while (b->n && b->p[b->n - 1] == ' ' && !b->failed)
			b->p[--b->n] = '\0';
		buf_addc(b, '\n');
	}
	vec_each(loss, &plan->degraded) {
		buf_adds(b, loss->required ? "MISSING: " : "degraded: ");
		plan_print_loss(b, plan, loss);
		buf_addf(b, " (no %s)\n", op_rows[loss->op].name);
	}
}

void plan_print_loss(struct buf *b, const struct plan *plan, const struct loss *loss)
{
	const char *before = " of ";

	buf_adds(b, guarantee_rows[loss->guarantee].name);
	if (loss->op != OP_LIMIT)
		return;
	vec_each(op, &plan->ops)
		if (op->kind == OP_LIMIT && op->lost) {
			buf_addf(b, "%s%.*s", before, (int)op->path.n, op->path.p);
			before = " and ";
		}
}

void plan_print_degraded(struct buf *b, const struct plan *plan)
{
	vec_each(loss, &plan->degraded) {
		buf_adds(b, loss == plan->degraded.at ? "" : ", ");
		plan_print_loss(b, plan, loss);
	}
}

static bool op_has_number(enum op_kind kind)
{
	return kind == OP_LIMIT || kind == OP_TMPFS || kind == OP_LISTEN_PORT;
}

static json_t *op_to_json(const struct op *op)
{
	json_t *o = json_object();
	int bad = !o;

	bad |= json_object_set_new(o, "op", json_string(op_rows[op->kind].name));
	if (op->path.n)
		bad |= !json_set_text(o, "path", op->path);
	/* The value of a variable may be a secret: a plan names it only. */
	if (op->source.n && op->kind != OP_ENV_SET && !str_eq(op->source, op->path))
		bad |= !json_set_text(o, "source", op->source);
	if (op_has_number(op->kind))
		bad |= json_object_set_new(o, "number", json_integer((json_int_t)op->number));
	if (op->lost)
		bad |= json_object_set_new(o, "enforced", json_false());
	if (op->rule) {
		autobuf struct buf origin = buf_make(8192);

		origin_print(&origin, &op->rule->origin);
		bad |= !json_set_text(o, "rule", op->rule->spelled);
		bad |= !json_set_text(o, "from", buf_str(&origin));
	}
	if (!bad)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *loss_to_json(const struct loss *loss)
{
	return json_pack("{s:s, s:s, s:b, s:s?}", "guarantee", guarantee_rows[loss->guarantee].name,
			 "operation", op_rows[loss->op].name, "required", loss->required, "missing",
			 loss->missing == CAP_COUNT ? NULL : cap_rows[loss->missing].name);
}

json_t *plan_to_json(const struct plan *plan)
{
	json_t *root = json_pack("{s:s, s:s, s:[], s:[], s:[]}", "backend", plan->backend,
				 "profile", plan->policy->profile, "operations", "enforced",
				 "degraded");
	int bad = !root;

	vec_each(op, &plan->ops)
		bad |= json_array_append_new(json_object_get(root, "operations"), op_to_json(op));
	for (unsigned g = 0; g < GUARANTEE_COUNT; g++)
		if (plan->enforced[g])
			bad |= json_array_append_new(json_object_get(root, "enforced"),
						     json_string(guarantee_rows[g].name));
	vec_each(loss, &plan->degraded)
		bad |= json_array_append_new(json_object_get(root, "degraded"), loss_to_json(loss));
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}
