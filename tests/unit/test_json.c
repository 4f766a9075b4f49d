/* SPDX-License-Identifier: Apache-2.0 */
/* json: places, limits, and text of any bytes. */
#include <criterion/criterion.h>
#include <string.h>

#include "fmt/json.h"

#define SIZE_LIMIT ((size_t)1 << 20)
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define DOC(text) \
	{ \
		text, sizeof(text) - 1 \
	}

static const struct {
	struct str text;
	const char *message;
} broken[] = {
	{ DOC(""), "f:1:1: expected a value, found the end of the file" },
	{ DOC(" \n "), "f:2:2: expected a value, found the end of the file" },
	{ DOC("{"), "f:1:2: expected a key in double quotes, found the end of the file" },
	{ DOC("[1,\n 2,\n x]"), "f:3:2: expected a value, found 'x'" },
	{ DOC("[1,\n 2"), "f:2:3: expected , or ] in an array, found the end of the file" },
	{ DOC("{\"a\": 1, \"a\": 2}"), "f:1:10: 'a' is defined twice" },
	{ DOC("{\"a\": 1, \"\\u0061\": 2}"), "f:1:10: 'a' is defined twice" },
	{ DOC("{\"\\u0000\": 1}"), "f:1:2: a key cannot hold a NUL" },
	{ DOC("{\"a\" 1}"), "f:1:6: expected : after a key, found '1'" },
	{ DOC("{\"a\": 1 \"b\"}"), "f:1:9: expected , or } in an object, found '\"'" },
	{ DOC("{\"a\": 1} x"), "f:1:10: expected the end of the file, found 'x'" },
	{ DOC("[1] [2]"), "f:1:5: expected the end of the file, found '['" },
	{ DOC("\"\xc3\xa9\xff\""), "f:1:3: byte 0xff is not UTF-8" },
	{ DOC("[\"\\ud800\"]"), "f:1:3: \\uD800 is half of a surrogate pair" },
	{ DOC("[\"\\ud800\\n\"]"), "f:1:3: \\uD800 is half of a surrogate pair" },
	{ DOC("[\"\\ud800\\u0041\"]"), "f:1:3: \\uD800 is half of a surrogate pair" },
	{ DOC("[\"\\udc00\"]"), "f:1:3: \\uDC00 is half of a surrogate pair" },
	{ DOC("[\"\\u12\"]"), "f:1:3: \\u needs 4 hexadecimal digits" },
	{ DOC("[\"\\q\"]"), "f:1:3: unknown escape: \\ before 'q'; write \\\\ for" },
	{ DOC("\"\\"), "f:1:2: unknown escape: \\ before the end of the file" },
	{ DOC("[01]"), "f:1:2: '01' is not a number" },
	{ DOC("[-]"), "f:1:2: '-' is not a number" },
	{ DOC("[1.]"), "f:1:2: '1.' is not a number" },
	{ DOC("[1e+]"), "f:1:2: '1e+' is not a number" },
	{ DOC("[+1]"), "f:1:2: expected a value, found '+'" },
	{ DOC("[.5]"), "f:1:2: expected a value, found '.'" },
	{ DOC("[1,]"), "f:1:4: expected a value, found ']'" },
	{ DOC("{\"a\":1,}"), "f:1:8: expected a key in double quotes, found '}'" },
	{ DOC("{a: 1}"), "f:1:2: expected a key in double quotes, found 'a'" },
	{ DOC("[\"a\nb\"]"), "f:1:2: string without its closing \" on the same line" },
	{ DOC("[\"a"), "f:1:2: string without its closing \" on the same line" },
	{ DOC("[\"a\tb\"]"), "f:1:4: control character 0x09 in a string; write it as \\u0009" },
	{ DOC("[1e999]"), "f:1:2: '1e999' is too large for a number" },
	{ DOC("[9223372036854775808]"), "f:1:2: '9223372036854775808' does not fit in 64" },
	{ DOC("\0"), "f:1:1: expected a value, found '\\x00'" },
	{ DOC("9\0"), "f:1:2: expected the end of the file, found '\\x00'" },
	{ DOC("[\x1b]"), "f:1:2: expected a value, found '\\x1b'" },
	{ DOC("[truex]"), "f:1:2: expected a value, found 't'" },
	{ DOC("\xef\xbb\xbf[]"), "f:1:1: expected a value, found" },
};

Test(json, broken_documents_are_refused_at_their_place)
{
	for (size_t i = 0; i < COUNT(broken); i++) {
		struct cordon_error err = { 0 };
		json_t *value = NULL;
		int r = json_read(broken[i].text, "f", SIZE_LIMIT, &value, &err);

		cr_expect_eq(r, -CORDON_E_SYNTAX, "%s", broken[i].text.p);
		cr_expect_str_eq(err.stage, "json");
		cr_expect_eq(strncmp(err.message, broken[i].message, strlen(broken[i].message)), 0,
			     "%s:\n  got  %s\n  want %s", broken[i].text.p, err.message,
			     broken[i].message);
		cr_expect_null(strchr(err.message, '\x1b'));
		cr_expect_null(value);
	}
}

static struct buf nested(size_t depth)
{
	struct buf b;

	buf_init(&b, SIZE_LIMIT);
	buf_adds(&b, "{\"[[[[\\\"[[\":\n");
	for (size_t i = 1; i < depth; i++)
		buf_addc(&b, '[');
	for (size_t i = 1; i < depth; i++)
		buf_addc(&b, ']');
	buf_addc(&b, '}');
	return b;
}

Test(json, depth_is_limited_and_strings_do_not_count)
{
	autobuf struct buf good = nested(JSON_DEPTH_LIMIT);
	autobuf struct buf bad = nested(JSON_DEPTH_LIMIT + 1);
	struct cordon_error err = { 0 };
	json_t *value = NULL;

	cr_assert_eq(json_read(buf_str(&good), "f", SIZE_LIMIT, &value, &err), 0, "%s",
		     err.message);
	json_decref(value);
	cr_assert_eq(json_read(buf_str(&bad), "f", SIZE_LIMIT, &value, &err), -CORDON_E_LIMIT);
	cr_assert_str_eq(err.message, "f:2:64: nested more than 64 levels deep");
}

static const struct {
	struct str text;
	const char *printed;
} good[] = {
	{ DOC(" [ ] "), "[]" },
	{ DOC("\t{\r\n}\n"), "{}" },
	{ DOC("[-0, 0, -9223372036854775808, 9223372036854775807]"),
	  "[0,0,-9223372036854775808,9223372036854775807]" },
	{ DOC("[1.5, -2e3, 1E-2, 1e-999]"), "[1.5,-2000.0,0.01,0.0]" },
	{ DOC("[true,false,null]"), "[true,false,null]" },
	{ DOC("\"\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\"\\\\\x7f\""),
	  "\"\xc3\xa9\xf0\x9f\x98\x80/\\b\\f\\n\\r\\t\\\"\\\\\x7f\"" },
	{ DOC("\"\\u0000\""), "\"\\u0000\"" },
	{ DOC("{\"\":{\"b\":[{}]},\"a\":0}"), "{\"\":{\"b\":[{}]},\"a\":0}" },
};

static void expect_print(const json_t *value, bool pretty, const char *text);

Test(json, good_documents_are_read)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct cordon_error err = { 0 };
		json_t *value = NULL;

		cr_assert_eq(json_read(good[i].text, "f", SIZE_LIMIT, &value, &err), 0, "%s",
			     err.message);
		expect_print(value, false, good[i].printed);
		json_decref(value);
	}
}

Test(json, size_is_limited)
{
	struct cordon_error err = { 0 };
	json_t *value = NULL;

	cr_assert_eq(json_read(STR("[1,2]"), "f", 5, &value, &err), 0);
	json_decref(value);
	cr_assert_eq(json_read(STR("[1,2]"), "f", 4, &value, &err), -CORDON_E_LIMIT);
	cr_assert_str_eq(err.message, "f:1:1: 5 bytes, more than the limit of 4");
}

static void expect_print(const json_t *value, bool pretty, const char *text)
{
	autobuf struct buf b = buf_make(SIZE_LIMIT);

	json_print(&b, value, pretty);
	cr_expect_not(b.failed);
	cr_expect_str_eq(b.p, text);
}

Test(json, prints_in_order)
{
	struct cordon_error err = { 0 };
	json_t *value = NULL;
	autobuf struct buf small = buf_make(10);

	cr_assert_eq(json_read(STR("{\"z\":[1,true],\"a\":\"\\u0000\"}"), "f", SIZE_LIMIT, &value,
			       &err),
		     0);
	expect_print(value, false, "{\"z\":[1,true],\"a\":\"\\u0000\"}");
	expect_print(value, true,
		     "{\n  \"z\": [\n    1,\n    true\n  ],\n  \"a\": \"\\u0000\"\n}\n");
	json_print(&small, value, false);
	cr_expect(small.failed);
	buf_free(&small);
	json_decref(value);
}

Test(json, prints_for_a_terminal)
{
	struct cordon_error err = { 0 };
	json_t *value = NULL;
	autobuf struct buf b = buf_make(SIZE_LIMIT), small = buf_make(4);

	cr_assert_eq(json_read(STR("{\"a\x7f\": \"\x7f\xc2\x9b 31m\xe2\x80\xae x\x7f\"}"), "f",
			       SIZE_LIMIT, &value, &err),
		     0, "%s", err.message);
	json_print_ascii(&b, value);
	cr_expect_str_eq(b.p, "{\n  \"a\\u007f\": \"\\u007f\\u009B 31m\\u202E x\\u007f\"\n}\n");
	json_print_ascii(&small, value);
	cr_expect(small.failed);
	json_decref(value);
}

static const struct {
	struct str one, two; /* set in this order */
	const char *text;
} texts[] = {
	{ DOC("a"), DOC("b"), "{\"one\":\"a\",\"two\":\"b\"}" },
	{ DOC(""), DOC("\xc3\xa9\n"), "{\"one\":\"\",\"two\":\"\xc3\xa9\\n\"}" },
	{ DOC("a\\b"), DOC("\\xff"), "{\"one\":\"a\\\\b\",\"two\":\"\\\\xff\"}" },
	{ DOC("caf\xe9"), DOC("a\\b"),
	  "{\"escaped\":true,\"one\":\"caf\\\\xe9\",\"two\":\"a\\\\\\\\b\"}" },
	{ DOC("a\\b"), DOC("caf\xe9"),
	  "{\"one\":\"a\\\\\\\\b\",\"escaped\":true,\"two\":\"caf\\\\xe9\"}" },
	{ DOC("a\0b"), DOC("x"), "{\"escaped\":true,\"one\":\"a\\\\x00b\",\"two\":\"x\"}" },
	{ DOC("\xff\xfe"), DOC("\x80"),
	  "{\"escaped\":true,\"one\":\"\\\\xff\\\\xfe\",\"two\":\"\\\\x80\"}" },
};

Test(json, text_of_any_bytes_comes_back)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		json_t *obj = json_object();
		autoarena struct arena a;
		struct str got;

		arena_init(&a, SIZE_LIMIT);
		cr_assert(json_set_text(obj, "one", texts[i].one));
		cr_assert(json_set_text(obj, "two", texts[i].two));
		expect_print(obj, false, texts[i].text);
		cr_expect(json_get_text(obj, "one", &a, &got) && str_eq(got, texts[i].one));
		cr_expect(json_get_text(obj, "two", &a, &got) && str_eq(got, texts[i].two));
		cr_expect_not(json_get_text(obj, "three", &a, &got));
		json_decref(obj);
	}
}

Test(json, malformed_escapes_are_refused)
{
	static const char *const bad[] = { "\\", "a\\x", "\\x4", "\\xg0", "\\q" };

	for (size_t i = 0; i < COUNT(bad); i++) {
		json_t *obj = json_pack("{s:s, s:b}", "k", bad[i], "escaped", 1);
		autoarena struct arena a;
		struct str got;

		arena_init(&a, SIZE_LIMIT);
		cr_expect_not(json_get_text(obj, "k", &a, &got), "%s", bad[i]);
		json_decref(obj);
	}
}
