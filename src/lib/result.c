/* SPDX-License-Identifier: Apache-2.0 */
/* Results: the JSON of a run, taken apart once. */
#include <stdlib.h>
#include <string.h>

#include "fmt/json.h"
#include "lib/lib.h"
#include "run/result.h"

#define stage "result"
#define RESULT_MEMORY_MAX ((size_t)256 << 20)
#define RESULT_MAX ((size_t)64 << 20)

struct cordon_result {
	struct lib_reader reader;
	const char *json;
	enum cordon_cause cause;
	int exit_code, signal;
	uint64_t duration_ms;
	struct buf out, err;
	bool truncated;
	struct cordon_error error;
	const char *backend, *profile;
	VEC(struct cordon_violation) violations;
	VEC(const char *) enforced, degraded;
	VEC(struct cordon_host) hosts;
	VEC(struct cordon_change) changes;
};

/* --- reading -------------------------------------------------------------------------- */

const char *lib_text(struct lib_reader *reader, const json_t *obj, const char *key)
{
	struct str text;

	if (json_get_text(obj, key, &reader->arena, &text))
		return text.p;
	reader->failed |= json_is_string(json_object_get(obj, key));
	return NULL;
}

static int code_of(const char *name)
{
	for (int code = CORDON_OK + 1; name && code < CORDON_CODE_COUNT; code++)
		if (strcmp(cordon_code_to_string(code), name) == 0)
			return code;
	return CORDON_E_BUG;
}

bool lib_read_error(struct lib_reader *reader, const json_t *obj, struct cordon_error *ret)
{
	const json_t *e = json_object_get(obj, "error");
	const char *where = lib_text(reader, e, "stage"), *message = lib_text(reader, e, "message");
	const char *hint = lib_text(reader, e, "hint");

	if (!json_is_object(e))
		return false;
	err_set(ret, (enum cordon_code)code_of(lib_text(reader, e, "code")), 0, where ? where : "",
		"%s", message ? message : "");
	err_hint(ret, "%s", hint ? hint : "");
	return true;
}

static uint64_t number(const json_t *obj, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(obj, key));

	return n < 0 ? 0 : (uint64_t)n;
}

/* Of null, which says that there is none. */
static int number_or(const json_t *obj, const char *key, int none)
{
	const json_t *n = json_object_get(obj, key);

	return json_is_integer(n) ? (int)json_integer_value(n) : none;
}

static const char *text_or(const char *text, const char *none)
{
	return text ? text : none;
}

void lib_read_violation(struct lib_reader *reader, const json_t *row, struct cordon_violation *ret)
{
	const json_t *fix = json_object_get(row, "fix");

	*ret = (struct cordon_violation){
		.op = text_or(lib_text(reader, row, "op"), ""),
		.object = text_or(lib_text(reader, row, "object"), ""),
		.rule = lib_text(reader, row, "rule"),
		.origin = lib_text(reader, row, "origin"),
		.source = text_or(lib_text(reader, row, "source"), ""),
		.program = lib_text(reader, row, "program"),
		.fix = lib_text(reader, fix, "flags"),
		.fix_toml = lib_text(reader, fix, "toml"),
		.warning = lib_text(reader, fix, "warning"),
		.reason = lib_text(reader, row, "reason"),
		.count = number(row, "count"),
		.pid = number_or(row, "pid", 0),
		.opens_secret = json_is_true(json_object_get(fix, "opens_secret")),
		.opens_control = json_is_true(json_object_get(fix, "opens_control")),
	};
}

static bool read_violations(struct cordon_result *r, const json_t *list)
{
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row) {
		struct cordon_violation *v = vec_push(&r->violations, &r->reader.arena);

		if (!v)
			return false;
		lib_read_violation(&r->reader, row, v);
	}
	return true;
}

static bool read_hosts(struct cordon_result *r, const json_t *list)
{
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row) {
		struct cordon_host *h = vec_push(&r->hosts, &r->reader.arena);

		if (!h)
			return false;
		*h = (struct cordon_host){
			.host = text_or(lib_text(&r->reader, row, "host"), ""),
			.port = (uint16_t)number(row, "port"),
			.connections = number(row, "count"),
			.sent = number(row, "sent"),
			.received = number(row, "received"),
			.duration_ms = number(row, "duration_ms"),
			.failure = lib_text(&r->reader, row, "failure"),
		};
	}
	return true;
}

static bool read_changes(struct cordon_result *r, const json_t *changes)
{
	static const char *const kinds[] = { "created", "changed", "deleted" };
	const json_t *row;
	size_t i;

	for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		json_array_foreach(json_object_get(changes, kinds[k]), i, row) {
			struct cordon_change *c = vec_push(&r->changes, &r->reader.arena);

			if (!c)
				return false;
			*c = (struct cordon_change){
				.kind = kinds[k],
				.path = text_or(lib_text(&r->reader, row, "path"), ""),
				.later = lib_text(&r->reader, row, "later"),
			};
		}
	return true;
}

static bool read_names(struct cordon_result *r, const json_t *list, bool degraded)
{
	const json_t *name;
	size_t i;

	json_array_foreach(list, i, name) {
		const char **slot = degraded ? vec_push(&r->degraded, &r->reader.arena)
					     : vec_push(&r->enforced, &r->reader.arena);

		if (!slot)
			return false;
		*slot = arena_dup(&r->reader.arena, str_of(json_string_value(name)));
		if (!*slot)
			return false;
	}
	return true;
}

static bool cause_of(const char *name, enum cordon_cause *ret)
{
	for (int cause = 0; name && cause < CORDON_CAUSE_COUNT; cause++)
		if (strcmp(run_cause_to_string((enum run_cause)cause), name) == 0) {
			*ret = (enum cordon_cause)cause;
			return true;
		}
	return false;
}

static bool read_members(struct cordon_result *r, const json_t *root)
{
	r->exit_code = number_or(root, "exit_code", -1);
	r->signal = number_or(root, "signal", 0);
	r->duration_ms = number(root, "duration_ms");
	r->backend = text_or(lib_text(&r->reader, root, "backend"), "");
	r->profile = text_or(lib_text(&r->reader, root, "profile"), "");
	lib_read_error(&r->reader, root, &r->error);
	return read_violations(r, json_object_get(root, "violations")) &&
	       read_hosts(r, json_object_get(root, "hosts")) &&
	       read_changes(r, json_object_get(root, "changes")) &&
	       read_names(r, json_object_get(root, "enforced"), false) &&
	       read_names(r, json_object_get(root, "degraded"), true) && !r->reader.failed;
}

static int read_root(struct cordon_result *r, const json_t *root, struct cordon_error *err)
{
	if (cause_of(json_string_value(json_object_get(root, "cause")), &r->cause))
		return read_members(r, root) ? 0 : err_nomem(err, stage);
	if (lib_read_error(&r->reader, root, err))
		return -err->code;
	return err_set(err, CORDON_E_SYSTEM, 0, stage, "the answer is not a result");
}

static int read_all(struct cordon_result *r, struct str text, struct cordon_error *err)
{
	json_t *root;
	int failed;

	r->json = arena_dup(&r->reader.arena, text);
	if (!r->json)
		return err_nomem(err, stage);
	failed = json_read(text, "result", RESULT_MAX, &root, err);
	if (failed)
		return failed;
	failed = read_root(r, root, err);
	json_decref(root);
	return failed;
}

int lib_read_result(struct str text, struct cordon_result **ret, struct cordon_error *err)
{
	struct cordon_result *r = calloc(1, sizeof(*r));
	int failed;

	if (!r)
		return err_nomem(err, stage);
	arena_init(&r->reader.arena, RESULT_MEMORY_MAX);
	buf_init(&r->out, 0);
	buf_init(&r->err, 0);
	failed = read_all(r, text, err);
	if (failed)
		cordon_result_free(r);
	else
		*ret = r;
	return failed;
}

void lib_set_output(struct cordon_result *result, struct buf *out, struct buf *err,
		    bool truncated)
{
	result->out = *out;
	result->err = *err;
	result->truncated = truncated;
	buf_init(out, 0);
	buf_init(err, 0);
}

/* --- asking --------------------------------------------------------------------------- */

void cordon_result_free(struct cordon_result *result)
{
	struct arena arena;

	if (!result)
		return;
	buf_free(&result->out);
	buf_free(&result->err);
	arena = result->reader.arena;
	arena_free(&arena);
	free(result);
}

const char *cordon_cause_to_string(enum cordon_cause cause)
{
	return (unsigned)cause < CORDON_CAUSE_COUNT ? run_cause_to_string((enum run_cause)cause)
						    : "unknown";
}

enum cordon_cause cordon_result_cause(const struct cordon_result *result)
{
	return result ? result->cause : CORDON_CAUSE_setup;
}

int cordon_result_exit_code(const struct cordon_result *result)
{
	return result ? result->exit_code : -1;
}

int cordon_result_signal(const struct cordon_result *result)
{
	return result ? result->signal : 0;
}

int cordon_result_status(const struct cordon_result *result)
{
	struct run_result r = { .cause = RUN_CAUSE_setup, .error.code = CORDON_E_SYSTEM };

	if (result) {
		r.cause = (enum run_cause)result->cause;
		r.exit_code = result->exit_code;
		r.signal = result->signal;
		r.error.code = result->error.code;
	}
	return run_result_status(&r);
}

uint64_t cordon_result_duration_ms(const struct cordon_result *result)
{
	return result ? result->duration_ms : 0;
}

static const char *output(const struct buf *b, size_t *ret_size)
{
	if (ret_size)
		*ret_size = b ? b->n : 0;
	return b ? b->p : "";
}

const char *cordon_result_stdout(const struct cordon_result *result, size_t *ret_size)
{
	return output(result ? &result->out : NULL, ret_size);
}

const char *cordon_result_stderr(const struct cordon_result *result, size_t *ret_size)
{
	return output(result ? &result->err : NULL, ret_size);
}

bool cordon_result_truncated(const struct cordon_result *result)
{
	return result && result->truncated;
}

const struct cordon_error *cordon_result_error(const struct cordon_result *result)
{
	return result && result->error.code ? &result->error : NULL;
}

const char *cordon_result_backend(const struct cordon_result *result)
{
	return result ? result->backend : "";
}

const char *cordon_result_profile(const struct cordon_result *result)
{
	return result ? result->profile : "";
}

const struct cordon_violation *cordon_result_violation(const struct cordon_result *result, size_t i)
{
	return result && i < result->violations.n ? &result->violations.at[i] : NULL;
}

const char *cordon_result_enforced(const struct cordon_result *result, size_t i)
{
	return result && i < result->enforced.n ? result->enforced.at[i] : NULL;
}

const char *cordon_result_degraded(const struct cordon_result *result, size_t i)
{
	return result && i < result->degraded.n ? result->degraded.at[i] : NULL;
}

const struct cordon_host *cordon_result_host(const struct cordon_result *result, size_t i)
{
	return result && i < result->hosts.n ? &result->hosts.at[i] : NULL;
}

const struct cordon_change *cordon_result_change(const struct cordon_result *result, size_t i)
{
	return result && i < result->changes.n ? &result->changes.at[i] : NULL;
}

const char *cordon_result_json(const struct cordon_result *result)
{
	return result ? result->json : "{}";
}
