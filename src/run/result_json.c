/* SPDX-License-Identifier: Apache-2.0 */
/* The members of the JSON result that a run alone knows. */
#include "run/result.h"

#include <string.h>

#include "fmt/json.h"

static bool set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

static bool set_streams(const struct run_result *r, json_t *object)
{
	return json_set_text(object, "stdout", buf_str(&r->out.text)) &&
	       json_set_text(object, "stderr", buf_str(&r->err.text)) &&
	       set(object, "stdout_truncated", json_boolean(r->out.truncated)) &&
	       set(object, "stderr_truncated", json_boolean(r->err.truncated));
}

static bool set_error(const struct cordon_error *e, json_t *object)
{
	json_t *error = json_object();

	return set(object, "error", error) &&
	       set(error, "code", json_string(cordon_code_to_string(e->code))) &&
	       set(error, "kind", json_string(cordon_kind_to_string(cordon_code_kind(e->code)))) &&
	       set(error, "stage", json_string(e->stage)) &&
	       json_set_text(error, "message", str_of(e->message)) &&
	       json_set_text(error, "hint", str_of(e->hint));
}

static bool set_usage(const struct run_result *r, json_t *object)
{
	json_t *usage = json_object();

	return set(object, "usage", usage) &&
	       set(usage, "user_ms", json_integer((json_int_t)r->usage.user_ms)) &&
	       set(usage, "sys_ms", json_integer((json_int_t)r->usage.sys_ms)) &&
	       set(usage, "max_rss_kb", json_integer((json_int_t)r->usage.max_rss_kb));
}

static bool set_quarantined(const struct run_result *r, json_t *object)
{
	json_t *list = json_array();
	bool fine = set(object, "quarantined", list);

	for (size_t i = 0; fine && i < r->n_quarantined; i++) {
		json_t *one = json_object();

		fine = json_array_append_new(list, one) == 0 &&
		       json_set_text(one, "object", str_of(r->quarantined[i].object)) &&
		       (r->quarantined[i].kept
				? json_set_text(one, "kept", str_of(r->quarantined[i].kept))
				: set(one, "kept", json_null())) &&
		       (!r->quarantined[i].why ||
			set(one, "error", json_string(strerror(r->quarantined[i].why))));
	}
	return fine;
}

static bool set_limits_met(const struct run_result *r, json_t *object)
{
	json_t *list = json_array();
	bool fine = set(object, "limits_met", list);

	for (size_t i = 0; fine && i < r->n_limits_met; i++)
		fine = json_array_append_new(list, json_string(r->limits_met[i])) == 0;
	return fine;
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
	    (!r->hidden || set(object, "hidden", json_true())) &&
	    (!r->undelivered || set(object, "undelivered", json_true())) &&
	    (!r->n_limits_met || set_limits_met(r, object)) &&
	    (!r->n_quarantined || set_quarantined(r, object)) &&
	    (!r->more_quarantined || set(object, "quarantined_more",
					 json_integer((json_int_t)r->more_quarantined))) &&
	    (!r->more_left ||
	     set(object, "quarantined_left", json_integer((json_int_t)r->more_left))) &&
	    (!r->captured || set_streams(r, object)) &&
	    ((r->cause != RUN_CAUSE_setup && !r->error.code) || set_error(&r->error, object)))
		return 0;
	return err_nomem(err, "result");
}
