/* SPDX-License-Identifier: Apache-2.0 */
/* The members of the JSON result that a run alone knows. */
#include "run/result.h"

#include <stdint.h>
#include <string.h>

/* Room for every byte as \xNN. */
#define ESCAPED_FACTOR 4

static bool set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

/* JSON strings hold Unicode and jansson's setters stop at a NUL. */
static bool is_plain(struct str s)
{
	return str_is_utf8(s) && str_find(s, '\0') == s.n;
}

/* Length of the well-formed character at the start of s, 0 when there is none. */
static size_t character(struct str s)
{
	for (size_t n = 1; n <= 4 && n <= s.n; n++)
		if (s.p[0] && str_is_utf8(str_take(s, n)))
			return n;
	return 0;
}

static void add_escaped(struct buf *b, struct str s)
{
	while (s.n) {
		size_t n = character(s);

		if (s.p[0] == '\\')
			buf_adds(b, "\\\\");
		else if (n)
			buf_add(b, str_take(s, n));
		else
			buf_addf(b, "\\x%02x", (uint8_t)s.p[0]);
		s = str_skip(s, n ? n : 1);
	}
}

static bool set_text(json_t *object, const char *key, struct str text, bool escape)
{
	autobuf struct buf b = buf_make(text.n * ESCAPED_FACTOR);

	if (!escape)
		return set(object, key, json_stringn(text.p, text.n));
	add_escaped(&b, text);
	return !b.failed && set(object, key, json_stringn(b.p, b.n));
}

static bool set_streams(const struct run_result *r, json_t *object)
{
	struct str out = buf_str(&r->out.text), err = buf_str(&r->err.text);
	bool escape = !is_plain(out) || !is_plain(err);

	return set_text(object, "stdout", out, escape) &&
	       set_text(object, "stderr", err, escape) &&
	       set(object, "stdout_truncated", json_boolean(r->out.truncated)) &&
	       set(object, "stderr_truncated", json_boolean(r->err.truncated)) &&
	       (!escape || set(object, "escaped", json_true()));
}

static bool set_error(const struct cordon_error *e, json_t *object)
{
	json_t *error = json_object();
	struct str message = str_of(e->message), hint = str_of(e->hint);
	bool escape = !is_plain(message) || !is_plain(hint);

	return set(object, "error", error) &&
	       set(error, "code", json_string(cordon_code_to_string(e->code))) &&
	       set(error, "stage", json_string(e->stage)) &&
	       set_text(error, "message", message, escape) &&
	       set_text(error, "hint", hint, escape) &&
	       (!escape || set(error, "escaped", json_true()));
}

static bool set_usage(const struct run_result *r, json_t *object)
{
	json_t *usage = json_object();

	return set(object, "usage", usage) &&
	       set(usage, "user_ms", json_integer((json_int_t)r->usage.user_ms)) &&
	       set(usage, "sys_ms", json_integer((json_int_t)r->usage.sys_ms)) &&
	       set(usage, "max_rss_kb", json_integer((json_int_t)r->usage.max_rss_kb));
}

int run_result_to_json(const struct run_result *r, json_t *object, struct cordon_error *err)
{
	bool exited = r->exit_code >= 0;

	if (set(object, "cause", json_string(run_cause_to_string(r->cause))) &&
	    set(object, "exit_code", exited ? json_integer(r->exit_code) : json_null()) &&
	    set(object, "signal", r->signal ? json_integer(r->signal) : json_null()) &&
	    set(object, "duration_ms", json_integer((json_int_t)r->duration_ms)) &&
	    set_usage(r, object) &&
	    set(object, "survivors", json_integer((json_int_t)r->survivors)) &&
	    (!r->left || set(object, "left", json_integer((json_int_t)r->left))) &&
	    (!r->captured || set_streams(r, object)) &&
	    (r->cause != RUN_CAUSE_setup || set_error(&r->error, object)))
		return 0;
	return err_nomem(err, "result");
}
