/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fmt when memory runs out: every allocation fails in turn. Each call must end in
 * success or in an error value, and everything allocated must be freed.
 *
 * jansson is told to use the failing functions, since it may be a shared library.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "fmt/json.h"
#include "fmt/toml.h"

#define ARENA_MAX ((size_t)64 << 20)
#define LONG_TEXT "a string long enough to grow its buffer"

static char document[200000];

static void make_document(void)
{
	size_t n = 0;

	for (int i = 0; i < 1500; i++)
		n += (size_t)snprintf(document + n, sizeof(document) - n,
				      "[t%d.u]\n\"k\\u00e9y\" = 'v'\nf = [1.5, {a.b = 2}]\n"
				      "[[list]]\nt = 1979-05-27\n",
				      i);
	cr_assert_lt(n, sizeof(document) - 1);
}

static void read_toml(void)
{
	struct cordon_error err = { 0 };
	struct toml_table *root = NULL;
	struct arena a;
	int r;

	arena_init(&a, ARENA_MAX);
	r = toml_read(&a, str_of(document), "f", &root, &err);
	if (fail_alloc_failed()) {
		cr_assert_eq(r, -CORDON_E_NOMEM, "%s", err.message);
		cr_assert_null(root);
	} else {
		cr_assert_eq(r, 0, "%s", err.message);
	}
	arena_free(&a);
}

Test(fmt_faults, toml_read)
{
	make_document();
	cr_assert_gt(fail_alloc_each(read_toml, false), 8);
	cr_assert_gt(fail_alloc_each(read_toml, true), 8);
}

/* The message itself needs memory; without it the error is still an error. */
static void refuse_toml(void)
{
	struct cordon_error err = { 0 };
	struct toml_table *root = NULL;
	struct arena a;
	int r;

	arena_init(&a, ARENA_MAX);
	r = toml_read(&a, STR("a = 1\n'a' = yes"), "f", &root, &err);
	cr_assert(r == -CORDON_E_NOMEM || r == -CORDON_E_SYNTAX);
	cr_assert_eq(r, -err.code);
	cr_assert_null(root);
	arena_free(&a);
}

Test(fmt_faults, toml_error)
{
	cr_assert_gt(fail_alloc_each(refuse_toml, false), 2);
	cr_assert_gt(fail_alloc_each(refuse_toml, true), 2);
}

static void print_toml(void)
{
	struct buf b;

	buf_init(&b, 4096);
	toml_print_string(&b, STR("a\xe2\x80\xae\x01 \xc3\xa9 long enough to grow: "
				  "0123456789012345678901234567890123456789"));
	cr_assert(b.failed || !strncmp(b.p, "\"a\\u202E\\u0001 ", 15));
	buf_free(&b);
}

Test(fmt_faults, toml_print)
{
	cr_assert_gt(fail_alloc_each(print_toml, false), 3);
	cr_assert_gt(fail_alloc_each(print_toml, true), 3);
}

/* What was read although an allocation failed must be complete. */
static void check_json(const json_t *value)
{
	const json_t *list = json_object_get(value, "key"), *inner;

	cr_assert_eq(json_object_size(value), 2);
	cr_assert_eq(json_array_size(list), 4);
	cr_assert_str_eq(json_string_value(json_array_get(list, 2)), LONG_TEXT);
	inner = json_array_get(list, 3);
	cr_assert_eq(json_object_size(inner), 2);
	cr_assert_str_eq(json_string_value(json_object_get(inner, "c")), "\xc3\xa9");
	cr_assert_eq(json_integer_value(json_object_get(value, "d")), -12345678901234);
}

static void read_json(void)
{
	struct cordon_error err = { 0 };
	json_t *value = NULL;
	int r = json_read(STR("{\"key\": [1, 2.5, \"" LONG_TEXT "\", "
			      "{\"b\": null, \"c\": \"\\u00e9\"}], \"d\": -12345678901234}"),
			  "f", 4096, &value, &err);

	if (r)
		cr_assert(fail_alloc_failed() && r == -err.code && !value);
	else
		check_json(value);
	json_decref(value);
}

Test(fmt_faults, json_read)
{
	json_set_alloc_funcs(__wrap_malloc, __wrap_free);
	cr_assert_gt(fail_alloc_each(read_json, false), 8);
	cr_assert_gt(fail_alloc_each(read_json, true), 8);
}

static void set_json(void)
{
	json_t *obj = json_object();
	bool ok = obj && json_set_text(obj, "one", STR("back\\slash")) &&
		  json_set_text(obj, "two", STR("\xff\0"));
	struct buf b;

	buf_init(&b, 4096);
	if (ok)
		json_print(&b, obj, true);
	cr_assert(fail_alloc_failed() || (ok && !b.failed));
	if (ok && !b.failed)
		cr_assert_not_null(strstr(b.p, "\"escaped\": true"));
	buf_free(&b);
	json_decref(obj);
}

Test(fmt_faults, json_text)
{
	json_set_alloc_funcs(__wrap_malloc, __wrap_free);
	cr_assert_gt(fail_alloc_each(set_json, false), 8);
	cr_assert_gt(fail_alloc_each(set_json, true), 8);
}
