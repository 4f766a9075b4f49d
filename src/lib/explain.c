/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking what a policy says. The supervisor answers as `cordon explain` does: reading the
 * configuration, the places and the machine takes most of cordon, and none of that belongs
 * into the caller's process.
 */
#include <stdlib.h>
#include <string.h>

#include "fmt/json.h"
#include "lib/link.h"

#define stage "explain"
#define ANSWER_MAX ((size_t)64 << 20)
#define MEMORY_MAX ((size_t)128 << 20)

struct cordon_explanation {
	struct lib_reader reader;
	const char *json;
	VEC(struct cordon_verdict) verdicts;
};

static bool read_verdict(struct cordon_explanation *e, const char *object, const json_t *row)
{
	struct cordon_verdict *v = vec_push(&e->verdicts, &e->reader.arena);
	const json_t *fix = json_object_get(row, "fix");
	struct lib_reader *reader = &e->reader;

	if (!v)
		return false;
	*v = (struct cordon_verdict){
		.object = object,
		.op = lib_text(reader, row, "op"),
		.allowed = json_is_true(json_object_get(row, "allowed")),
		.rule = lib_text(reader, row, "rule"),
		.origin = lib_text(reader, row, "from"),
		.enforced_by = lib_text(reader, row, "enforced_by"),
		.not_enforced = lib_text(reader, row, "not_enforced"),
		.fix = lib_text(reader, fix, "flags"),
		.fix_toml = lib_text(reader, fix, "toml"),
		.warning = lib_text(reader, fix, "warning"),
		.reason = lib_text(reader, row, "reason"),
	};
	return object && v->op && v->rule && v->origin && !reader->failed;
}

static bool read_object(struct cordon_explanation *e, const json_t *obj)
{
	bool is_path = json_object_get(obj, "path");
	const char *object = lib_text(&e->reader, obj, is_path ? "path" : "host");
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(obj, "verdicts"), i, row)
		if (!read_verdict(e, object, row))
			return false;
	return true;
}

static int read_objects(struct cordon_explanation *e, const json_t *root, struct cordon_error *err)
{
	const json_t *obj;
	size_t i;

	if (lib_read_error(&e->reader, root, err))
		return -err->code;
	json_array_foreach(json_object_get(root, "objects"), i, obj)
		if (!read_object(e, obj))
			return err_nomem(err, stage);
	return 0;
}

static int read_answer(struct cordon_explanation *e, struct str text, struct cordon_error *err)
{
	json_t *root;
	int failed;

	e->json = arena_dup(&e->reader.arena, text);
	if (!e->json)
		return err_nomem(err, stage);
	failed = json_read(text, "explanation", ANSWER_MAX, &root, err);
	if (failed)
		return failed;
	failed = read_objects(e, root, err);
	json_decref(root);
	return failed;
}

/* Until the answer is there; nothing else of what comes is of interest. */
static int wait_for_answer(struct link *link, struct frame *ret, struct cordon_error *err)
{
	for (;;) {
		int found = link_find(link, ret, err);

		if (found < 0 || (found > 0 && ret->kind == FRAME_answer))
			return found < 0 ? found : 0;
		if (found > 0)
			continue;
		found = link_receive(link, err);
		if (found < 0)
			return found;
		if (found == 0)
			link_wait(link, -1);
	}
}

static int ask(const struct cordon_policy *policy, const struct buf *words,
	       struct cordon_explanation *e, struct cordon_error *err)
{
	struct link link = { 0 };
	struct frame answer;
	int failed = link_open(policy, words, 0, &link, err);

	if (!failed)
		failed = wait_for_answer(&link, &answer, err);
	if (!failed)
		failed = read_answer(e, answer.body, err);
	/* It ends by itself, soon; only then can it be reaped where that is ours to do. */
	while (link.in.p && !failed && link_receive(&link, &(struct cordon_error){ 0 }) >= 0)
		link_wait(&link, -1);
	link_close(&link);
	return failed;
}

static int explain(const struct cordon_policy *policy, const char *flag, const char *object,
		   struct cordon_explanation **ret, struct cordon_error *err)
{
	autobuf struct buf words = lib_words();
	struct cordon_explanation *e;
	int failed;

	if (!object || !*object || *object == '-')
		return err_set(err, CORDON_E_USAGE, 0, stage,
			       "the object to explain is empty, or looks like an option");
	failed = lib_begin_words(&words, policy, "explain", NULL, err);
	if (failed)
		return failed;
	if (flag)
		lib_add_word(&words, flag);
	lib_add_word(&words, object);
	e = calloc(1, sizeof(*e));
	if (!e)
		return err_nomem(err, stage);
	arena_init(&e->reader.arena, MEMORY_MAX);
	failed = ask(policy, &words, e, err);
	if (failed)
		cordon_explanation_free(e);
	else
		*ret = e;
	return failed;
}

int cordon_explain(const struct cordon_policy *policy, const char *object,
		   struct cordon_explanation **ret, struct cordon_error *err)
{
	return explain(policy, NULL, object, ret, LIB_ERR(err));
}

void cordon_explanation_free(struct cordon_explanation *explanation)
{
	struct arena arena;

	if (!explanation)
		return;
	arena = explanation->reader.arena;
	arena_free(&arena);
	free(explanation);
}

const struct cordon_verdict *
cordon_explanation_verdict(const struct cordon_explanation *explanation, size_t i)
{
	return explanation && i < explanation->verdicts.n ? &explanation->verdicts.at[i] : NULL;
}

const char *cordon_explanation_json(const struct cordon_explanation *explanation)
{
	return explanation ? explanation->json : "{}";
}

static const struct {
	const char *op, *flag;
} ops[] = {
	{ "read", "--read" }, { "write", "--write" }, { "exec", "--exec" }, { "connect", NULL },
};

static int find_op(const char *op, size_t *ret, struct cordon_error *err)
{
	for (size_t i = 0; op && i < sizeof(ops) / sizeof(ops[0]); i++)
		if (strcmp(ops[i].op, op) == 0) {
			*ret = i;
			return 0;
		}
	return err_set(err, CORDON_E_USAGE, 0, stage, "op is read, write, exec or connect");
}

int cordon_decide(const struct cordon_policy *policy, const char *op, const char *object,
		  struct cordon_error *err)
{
	autoarena struct arena a = { .max = (size_t)1 << 20 };
	struct cordon_explanation *e;
	const struct cordon_verdict *v;
	size_t which = 0;
	int r;

	err = LIB_ERR(err);
	r = find_op(op, &which, err);
	if (r < 0)
		return r;
	/* A relative path may look like anything; with "./" it is nothing but a path. */
	if (ops[which].flag && object && *object && *object != '/' && *object != '~') {
		object = arena_printf(&a, "./%s", object);
		if (!object)
			return err_nomem(err, stage);
	}
	r = explain(policy, ops[which].flag, object, &e, err);
	if (r < 0)
		return r;
	v = cordon_explanation_verdict(e, 0);
	if (v && strcmp(v->op, op) == 0)
		r = v->allowed;
	else
		r = err_set(err, CORDON_E_USAGE, 0, stage, "%s of %s is not a question", op,
			    object);
	cordon_explanation_free(e);
	return r;
}
