/* SPDX-License-Identifier: Apache-2.0 */
/* run/result: the exit status of every cause, and the JSON members. */
#include <criterion/criterion.h>
#include <string.h>

#include "run/result.h"

Test(status, of_every_cause)
{
	static const struct {
		struct run_result r;
		int status;
	} rows[] = {
		{ { .cause = RUN_CAUSE_exited, .exit_code = 3 }, 3 },
		{ { .cause = RUN_CAUSE_signal, .signal = 9, .exit_code = -1 }, 137 },
		{ { .cause = RUN_CAUSE_timeout, .exit_code = 0 }, 124 },
		{ { .cause = RUN_CAUSE_memory, .signal = 15 }, 137 },
		{ { .cause = RUN_CAUSE_cpu, .signal = 15 }, 137 },
		{ { .cause = RUN_CAUSE_procs, .signal = 15 }, 137 },
		{ { .cause = RUN_CAUSE_output, .signal = 15 }, 137 },
		{ { .cause = RUN_CAUSE_file_size, .signal = 25 }, 137 },
		{ { .cause = RUN_CAUSE_traffic, .signal = 9 }, 137 },
		{ { .cause = RUN_CAUSE_policy, .exit_code = 0 }, 125 },
		{ { .cause = RUN_CAUSE_setup, .error.code = CORDON_E_NOT_FOUND }, 127 },
	};

	cr_assert_eq(sizeof(rows) / sizeof(rows[0]), RUN_CAUSE_COUNT);
	for (size_t i = 0; i < RUN_CAUSE_COUNT; i++) {
		cr_assert_eq(rows[i].r.cause, i);
		cr_assert_eq(run_result_status(&rows[i].r), rows[i].status);
		cr_assert(*run_cause_to_string(rows[i].r.cause));
		cr_assert(*run_cause_meaning(rows[i].r.cause));
	}
}

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

Test(json, members)
{
	struct run_result r = { .cause = RUN_CAUSE_exited, .exit_code = 2, .captured = true };
	json_t *object = json_object();
	struct cordon_error err;

	r.usage.max_rss_kb = 77;
	r.err.truncated = true;
	buf_init(&r.out.text, 100);
	buf_init(&r.err.text, 100);
	buf_add(&r.out.text, STR("a\\b\377\000c\303\244"));
	cr_assert_eq(run_result_to_json(&r, object, &err), 0);
	cr_assert_str_eq(text_at(object, "cause"), "exited");
	cr_assert_eq(json_integer_value(json_object_get(object, "exit_code")), 2);
	cr_assert(json_is_null(json_object_get(object, "signal")));
	cr_assert_str_eq(text_at(object, "stdout"), "a\\\\b\\xff\\x00c\xc3\xa4");
	cr_assert(json_is_true(json_object_get(object, "escaped")));
	cr_assert(json_is_false(json_object_get(object, "stdout_truncated")));
	cr_assert(json_is_true(json_object_get(object, "stderr_truncated")));
	cr_assert_eq(json_integer_value(json_object_get(json_object_get(object, "usage"),
							"max_rss_kb")), 77);
	cr_assert_null(json_object_get(object, "error"));
	json_decref(object);
	run_result_free(&r);
}

Test(json, plain_text_is_not_escaped)
{
	struct run_result r = { .cause = RUN_CAUSE_signal, .signal = 9, .exit_code = -1,
				.captured = true };
	json_t *object = json_object();
	struct cordon_error err;

	buf_init(&r.out.text, 100);
	buf_init(&r.err.text, 100);
	buf_adds(&r.out.text, "a\\b");
	cr_assert_eq(run_result_to_json(&r, object, &err), 0);
	cr_assert_str_eq(text_at(object, "stdout"), "a\\b");
	cr_assert_null(json_object_get(object, "escaped"));
	cr_assert(json_is_null(json_object_get(object, "exit_code")));
	cr_assert_eq(json_integer_value(json_object_get(object, "signal")), 9);
	json_decref(object);
	run_result_free(&r);
}

Test(json, a_failed_setup_says_why)
{
	struct run_result r = { .cause = RUN_CAUSE_setup, .exit_code = -1 };
	json_t *object = json_object();
	struct cordon_error err;

	err_set(&r.error, CORDON_E_NOT_FOUND, 0, "exec", "x: command not found");
	cr_assert_eq(run_result_to_json(&r, object, &err), 0);
	cr_assert_str_eq(text_at(object, "cause"), "setup");
	cr_assert_str_eq(text_at(json_object_get(object, "error"), "code"), "not_found");
	cr_assert_str_eq(text_at(json_object_get(object, "error"), "stage"), "exec");
	cr_assert_null(json_object_get(object, "stdout"));
	json_decref(object);
	run_result_free(&r);
}
