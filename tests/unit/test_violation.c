/* SPDX-License-Identifier: Apache-2.0 */
/* report/violation: what is kept, what is only counted, and the JSON of it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "report/violation.h"

static struct violation seen(enum violation_op op, const char *object)
{
	return (struct violation){ .op = op, .source = VIOLATION_BY_guard,
				   .object = str_of(object) };
}

Test(words, go_there_and_back)
{
	for (unsigned i = 0; i < VIOLATION_OP_COUNT; i++) {
		enum violation_op op = VIOLATION_OP_COUNT;

		cr_assert(violation_op_from_string(str_of(violation_op_to_string(i)), &op));
		cr_assert_eq(op, i);
		cr_assert(*violation_op_doing(i));
	}
	for (unsigned i = 0; i < VIOLATION_SOURCE_COUNT; i++) {
		enum violation_source source = VIOLATION_SOURCE_COUNT;

		cr_assert(violation_source_from_string(str_of(violation_source_to_string(i)),
						       &source));
		cr_assert_eq(source, i);
		cr_assert(*violation_source_how(i));
	}
	cr_assert_not(violation_op_from_string(STR("reads"), &(enum violation_op){ 0 }));
	cr_assert_not(violation_source_from_string(STR(""), &(enum violation_source){ 0 }));
}

Test(store, the_same_again_is_counted)
{
	struct violations *all = violations_new();
	struct violation v = seen(VIOLATION_write, "/a"), w = seen(VIOLATION_read, "/a");

	cr_assert(violations_add(all, &v));
	cr_assert_not(violations_add(all, &v));
	cr_assert(violations_add(all, &w));
	cr_assert_eq(violations_count(all), 2);
	cr_assert_eq(violations_at(all, 0)->count, 2);
	cr_assert_eq(violations_at(all, 1)->count, 1);
	cr_assert_neq(violations_at(all, 0)->time_ms, 0);
	cr_assert_eq(violations_dropped(all), 0);
	cr_assert(violations_has_object(all, STR("/a")));
	cr_assert_not(violations_has_object(all, STR("/b")));
	violations_free(all);
}

static void note_first(void *data, const struct violation *v)
{
	(void)v;
	++*(int *)data;
}

Test(store, what_did_not_count_counts_when_it_is_tried_otherwise)
{
	struct violations *all = violations_new();
	int told = 0;
	struct violation_listener listener = { .first = note_first, .data = &told };
	struct violation v = seen(VIOLATION_write, "/x/.git/objects/ab/cd");

	violations_listen(all, &listener);
	snprintf(v.program, sizeof(v.program), "git");
	v.links = true;
	violations_add(all, &v);
	cr_assert_eq(violations_observed(all), 0);
	violations_add(all, &v);
	cr_assert_eq(violations_observed(all), 0);
	v.links = false;
	violations_add(all, &v);
	cr_assert_eq(violations_observed(all), 1);
	violations_add(all, &v);
	cr_assert_eq(violations_observed(all), 1);
	cr_assert_eq(told, 2);
	cr_assert_eq(violations_at(all, 0)->count, 4);
	v.object = STR("/x/other");
	v.links = true;
	violations_add(all, &v);
	cr_assert_eq(violations_observed(all), 2);
	violations_free(all);
}

Test(store, texts_are_copied)
{
	struct violations *all = violations_new();
	char object[] = "/tmp/x", program[] = "0123456789abcdef-and-more";
	struct violation v = seen(VIOLATION_exec, object);

	memcpy(v.program, program, sizeof(v.program));
	violations_add(all, &v);
	memset(object, '?', sizeof(object) - 1);
	cr_assert_str_eq(violations_at(all, 0)->object.p, "/tmp/x");
	cr_assert_str_eq(violations_at(all, 0)->program, "0123456789abcde");
	violations_free(all);
}

Test(store, is_bounded)
{
	struct violations *all = violations_new();
	char name[32];

	for (unsigned i = 0; i < 10000; i++) {
		struct violation v;

		snprintf(name, sizeof(name), "/flood/%u", i);
		v = seen(VIOLATION_write, name);
		cr_assert_eq(violations_add(all, &v), i < VIOLATIONS_MAX);
	}
	cr_assert_eq(violations_count(all), VIOLATIONS_MAX);
	cr_assert_eq(violations_dropped(all), 10000 - VIOLATIONS_MAX);
	cr_assert_str_eq(violations_at(all, VIOLATIONS_MAX - 1)->object.p, "/flood/255");
	violations_free(all);
}

Test(store, what_is_advisory_is_marked_in_json)
{
	struct violation v = { .op = VIOLATION_send,
			       .source = VIOLATION_BY_kernel,
			       .object = STR("example.com:443") };
	json_t *plain = violation_to_json(&v, NULL), *marked;

	v.advisory = true;
	marked = violation_to_json(&v, NULL);
	cr_assert(plain && marked);
	cr_assert_null(json_object_get(plain, "advisory"));
	cr_assert(json_is_true(json_object_get(marked, "advisory")));
	json_decref(plain);
	json_decref(marked);
}

Test(store, what_is_advisory_leaves_room_for_what_counts)
{
	struct violations *all = violations_new();
	struct violation v = seen(VIOLATION_write, "/x");
	char name[32];

	for (unsigned i = 0; i < 10000; i++) {
		struct violation a;

		snprintf(name, sizeof(name), "ok.test:%u", i);
		a = seen(VIOLATION_send, name);
		a.advisory = true;
		cr_assert_eq(violations_add(all, &a), i < VIOLATIONS_ADVISORY_MAX);
	}
	cr_assert_eq(violations_observed(all), 0);
	cr_assert(violations_add(all, &v));
	cr_assert_eq(violations_observed(all), 1);
	violations_free(all);
}

Test(store, odd_objects_count_as_any_other)
{
	struct violations *all = violations_new();
	static char lengthy[VIOLATION_OBJECT_MAX + 2];
	struct violation v = seen(VIOLATION_write, "");

	cr_assert(violations_add(all, &v));
	cr_assert_eq(violations_observed(all), 1);
	cr_assert(str_eq(violations_at(all, 0)->object, STR("(no name)")));
	memset(lengthy, 'x', sizeof(lengthy) - 1);
	v = seen(VIOLATION_write, lengthy);
	cr_assert(violations_add(all, &v));
	cr_assert_eq(violations_observed(all), 2);
	cr_assert_eq(violations_at(all, 1)->object.n, VIOLATION_OBJECT_MAX);
	v.object.n--;
	cr_assert_not(violations_add(all, &v), "the same, as far as it was kept");
	cr_assert_eq(violations_dropped(all), 0);
	violations_free(all);
}

Test(store, none_is_empty)
{
	struct violation v = seen(VIOLATION_write, "/a");
	json_t *list = violations_to_json(NULL, NULL);

	cr_assert_not(violations_add(NULL, &v));
	cr_assert_eq(violations_count(NULL) + violations_dropped(NULL) + violations_observed(NULL),
		     0);
	cr_assert_eq(json_array_size(list), 0);
	cr_assert_not(violations_has_object(NULL, STR("/a")));
	json_decref(list);
	violations_free(NULL);
}

static void count_first(void *data, const struct violation *v)
{
	cr_assert_eq(v->count, 1);
	++*(unsigned *)data;
}

static enum violation_need need_of(const char *program, const char *object, bool removes,
				   bool ended_well)
{
	struct violations *all = violations_new();
	struct violation v = { .op = VIOLATION_write, .object = str_of(object),
			       .removes = removes };
	enum violation_need need;

	snprintf(v.program, sizeof(v.program), "%s", program);
	cr_assert(violations_add(all, &v));
	violations_settle(all, STR("/bin/sh"), ended_well);
	need = violations_at(all, 0)->need;
	violations_free(all);
	return need;
}

Test(store, what_cargo_locks_is_not_needed)
{
	const char *lock = "/h/.cargo/.package-cache";

	cr_assert(need_of("cargo", lock, false, true) == VIOLATION_SPARED);
	cr_assert(need_of("cargo", "/h/.cargo/.package-cache-mutate", false, true) ==
		  VIOLATION_SPARED);
	cr_assert(need_of("cargo", "/h/.cargo/.global-cache", false, true) == VIOLATION_SPARED);
	cr_assert(need_of("cargo", lock, false, false) == VIOLATION_NEEDED);
	cr_assert(need_of("cargo", lock, true, true) == VIOLATION_NEEDED);
	cr_assert(need_of("sh", lock, false, true) == VIOLATION_NEEDED);
	cr_assert(need_of("cargo", "/h/.cargo/config.toml", false, true) == VIOLATION_NEEDED);
}

Test(store, listeners_hear_of_each_once)
{
	struct violations *all = violations_new();
	unsigned one = 0, two = 0;
	struct violation_listener a = { .first = count_first, .data = &one };
	struct violation_listener b = { .first = count_first, .data = &two };
	struct violation v = seen(VIOLATION_write, "/a"), w = seen(VIOLATION_write, "/b");

	violations_listen(all, &a);
	violations_listen(all, &b);
	violations_add(all, &v);
	violations_add(all, &v);
	violations_unlisten(all, &a);
	violations_unlisten(all, &a);
	violations_add(all, &w);
	cr_assert_eq(one, 1);
	cr_assert_eq(two, 2);
	violations_free(all);
}

Test(store, inferred_is_not_observed)
{
	struct violations *all = violations_new();
	struct violation v = seen(VIOLATION_read, "/a");

	v.source = VIOLATION_BY_inferred;
	violations_add(all, &v);
	cr_assert_eq(violations_observed(all), 0);
	v = seen(VIOLATION_read, "/b");
	violations_add(all, &v);
	cr_assert_eq(violations_observed(all), 1);
	violations_free(all);
}

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void advise(void *data, const struct violation *v, struct violation_advice *ret)
{
	cr_assert_null(data);
	if (v->op != VIOLATION_write)
		return;
	*ret = (struct violation_advice){
		.rule = "read ~", .origin = "config.toml:3",
		.fix = { .flags = "--allow-write /a", .toml = "write = [\"/a\"]",
			 .opens_secret = true },
	};
}

Test(json, one_with_advice_and_one_without)
{
	struct violations *all = violations_new();
	struct violation_advisor advisor = { .advise = advise };
	struct violation v = seen(VIOLATION_write, "/a\377");
	struct violation w = seen(VIOLATION_resolve, "h.example");
	json_t *list, *row, *fix;

	v.time_ms = 1500000000123;
	v.pid = 7;
	memcpy(v.program, "sh", 3);
	violations_add(all, &v);
	violations_add(all, &w);
	list = violations_to_json(all, &advisor);
	row = json_array_get(list, 0);
	cr_assert_str_eq(text_at(row, "op"), "write");
	cr_assert_str_eq(text_at(row, "object"), "/a\\xff");
	cr_assert(json_is_true(json_object_get(row, "escaped")));
	cr_assert_str_eq(text_at(row, "source"), "guard");
	cr_assert_str_eq(text_at(row, "program"), "sh");
	cr_assert_str_eq(text_at(row, "time"), "2017-07-14T02:40:00.123Z");
	cr_assert_str_eq(text_at(row, "rule"), "read ~");
	cr_assert_str_eq(text_at(row, "origin"), "config.toml:3");
	cr_assert_eq(json_integer_value(json_object_get(row, "pid")), 7);
	fix = json_object_get(row, "fix");
	cr_assert_str_eq(text_at(fix, "flags"), "--allow-write /a");
	cr_assert_str_eq(text_at(fix, "warning"), FIX_SECRET_WARNING);
	row = json_array_get(list, 1);
	cr_assert_str_eq(text_at(row, "op"), "resolve");
	cr_assert(json_is_null(json_object_get(row, "rule")));
	cr_assert(json_is_null(json_object_get(row, "fix")));
	cr_assert_null(json_object_get(row, "pid"));
	json_decref(list);
	violations_free(all);
}
