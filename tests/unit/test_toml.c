/* SPDX-License-Identifier: Apache-2.0 */
/* toml: what is read, what is refused and where, limits, and the printers. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "fmt/toml.h"

#define ARENA_MAX ((size_t)256 << 20)
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct toml_table *read_ok(struct arena *a, struct str text)
{
	struct cordon_error err = { 0 };
	struct toml_table *root = NULL;
	int r;

	arena_init(a, ARENA_MAX);
	r = toml_read(a, text, "t.toml", &root, &err);
	cr_assert_eq(r, 0, "%.*s: %s", STR_ARG(str_take(text, 200)), err.message);
	return root;
}

static void expect_error(struct str text, enum cordon_code code, const char *message)
{
	struct toml_table *root = (struct toml_table *)&code;
	struct cordon_error err = { 0 };
	autoarena struct arena a;
	int r;

	arena_init(&a, ARENA_MAX);
	r = toml_read(&a, text, "f", &root, &err);
	cr_expect_eq(r, -(int)code, "%.*s: returned %d (%s)", STR_ARG(str_take(text, 200)), r,
		     err.message);
	cr_expect_eq(err.code, (int)code);
	cr_expect_str_eq(err.stage, "toml");
	cr_expect_eq(strncmp(err.message, message, strlen(message)), 0,
		     "%.*s:\n  got  %s\n  want %s", STR_ARG(str_take(text, 200)), err.message,
		     message);
	cr_expect_eq((void *)root, (void *)&code, "the result was touched");
}

#define DOC(text) \
	{ \
		text, sizeof(text) - 1 \
	}

static const struct {
	struct str text;
	const char *message;
} broken[] = {
	/* Characters */
	{ DOC("a = \"\xff\""), "f:1:6: byte 0xff is not UTF-8" },
	{ DOC("# \xc3\xa9 \xc3"), "f:1:5: byte 0xc3 is not UTF-8" },
	{ DOC("a = '\xed\xa0\x80'"), "f:1:6: byte 0xed is not UTF-8" },
	{ DOC("a = 1\n\0b = 2"), "f:2:1: NUL byte; a TOML file is text" },
	{ DOC("a = 1 # \x01"), "f:1:9: control character 0x01; in a string write it as \\u0001" },
	{ DOC("a = \"\x7f\""), "f:1:6: control character 0x7f" },
	{ DOC("a = 1\rb = 2"), "f:1:6: carriage return without a line feed" },
	{ DOC("\xef\xbb\xbf"
	      "a = 1"),
	  "f:1:1: byte order mark" },
	/* Keys */
	{ DOC("= 1"), "f:1:1: expected a key, found '='" },
	{ DOC("a"), "f:1:2: expected = after the key 'a', found the end of the file" },
	{ DOC("a\n= 1"), "f:1:2: expected = after the key 'a', found the end of the line" },
	{ DOC("a b = 1"), "f:1:3: expected = after the key 'a', found 'b'" },
	{ DOC("a. = 1"), "f:1:4: expected a key, found '='" },
	{ DOC("a..b = 1"), "f:1:3: expected a key, found '.'" },
	{ DOC(".a = 1"), "f:1:1: expected a key, found '.'" },
	{ DOC("\xc3\xa9 = 1"), "f:1:1: expected a key, found '\xc3\xa9'" },
	{ DOC("\"\"\"a\"\"\" = 1"), "f:1:1: a key cannot be a multi-line string" },
	{ DOC("\"a = 1"), "f:1:1: string without its closing \" on the same line" },
	/* Definitions */
	{ DOC("a = 1\n\na = 2"), "f:3:1: 'a' is defined twice; first defined at line 1" },
	{ DOC("a = 1\n'a' = 2"), "f:2:1: 'a' is defined twice; first defined at line 1" },
	{ DOC("[a]\n[b]\n[a]"), "f:3:2: 'a' is defined twice; first defined at line 1" },
	{ DOC("[a.b]\n[a]\n[a]"), "f:3:2: 'a' is defined twice; first defined at line 2" },
	{ DOC("a = 1\n[a]"), "f:2:2: 'a' is defined twice; first defined at line 1" },
	{ DOC("a = 1\n[a.b]"), "f:2:2: 'a' is an integer, not a table, and cannot hold keys; "
			       "first defined at line 1" },
	{ DOC("a = 1\na.b = 2"), "f:2:1: 'a' is an integer, not a table" },
	{ DOC("a = {b = 1}\na.c = 2"), "f:2:1: 'a' cannot be extended here: it is an inline "
				       "table; first defined at line 1" },
	{ DOC("a = {b = 1}\n[a.c]"), "f:2:2: 'a' cannot be extended here: it is an inline" },
	{ DOC("[a.b.c]\n[a]\nb.c.d = 1"), "f:3:3: 'c' cannot be extended here: it is a table "
					  "with a [header] of its own; first defined at line 1" },
	{ DOC("a.b = 1\n[a]"), "f:2:2: 'a' is defined twice; first defined at line 1" },
	{ DOC("[[a]]\n[a]"), "f:2:2: 'a' is defined twice; first defined at line 1" },
	{ DOC("[a]\n[[a]]"), "f:2:3: 'a' is defined twice; first defined at line 1" },
	{ DOC("a = []\n[[a]]"), "f:2:3: 'a' is defined twice; first defined at line 1" },
	{ DOC("a = [{}]\n[a.b]"), "f:2:2: 'a' is an array, not a table" },
	{ DOC("a = {b = {}, b.c = 1}"), "f:1:14: 'b' cannot be extended here" },
	/* Headers */
	{ DOC("[a"), "f:1:3: expected . or ] in a table header, found the end of the file" },
	{ DOC("[a\n]"), "f:1:3: expected . or ] in a table header, found the end of the line" },
	{ DOC("[]"), "f:1:2: expected a key, found ']'" },
	{ DOC("[[a]"), "f:1:4: expected . or ]] in a table header, found ']'" },
	{ DOC("[a] b = 1"), "f:1:5: expected the end of the line after a table header, "
			    "found 'b'" },
	/* Structure of values */
	{ DOC("a ="), "f:1:4: expected a value, found the end of the file" },
	{ DOC("a = # x"), "f:1:5: expected a value, found '#'" },
	{ DOC("a = 1 2"), "f:1:7: expected the end of the line after the value, found '2'" },
	{ DOC("a = 1, b = 2"), "f:1:6: expected the end of the line after the value, found ','" },
	{ DOC("a = [1, 2"), "f:1:5: array without its closing ]" },
	{ DOC("a = [1,\n\n"), "f:1:5: array without its closing ]" },
	{ DOC("a = [1\n2]"), "f:2:1: expected , or ] in an array, found '2'" },
	{ DOC("a = [,]"), "f:1:6: expected a value, found ','" },
	{ DOC("a = {b = 1"), "f:1:5: inline table without its closing }" },
	{ DOC("a = {b = 1\n}"), "f:1:11: an inline table must be on one line" },
	{ DOC("a = {b = 1,}"), "f:1:11: an inline table cannot end with a comma" },
	{ DOC("a = {,}"), "f:1:6: expected a key, found ','" },
	{ DOC("a = {b = 1 c = 2}"), "f:1:12: expected , or } in an inline table, found 'c'" },
	/* Strings */
	{ DOC("a = \"x\nb = 1"), "f:1:5: string without its closing \" on the same line" },
	{ DOC("a = 'x"), "f:1:5: string without its closing ' on the same line" },
	{ DOC("\na = \"\"\"x\n\n"), "f:2:5: multi-line string without its closing \"\"\"" },
	{ DOC("a = '''x''"), "f:1:5: multi-line string without its closing '''" },
	{ DOC("a = \"C:\\dir\""), "f:1:8: unknown escape: \\ before 'd'; write \\\\ for a" },
	{ DOC("a = \"\\x41\""), "f:1:6: unknown escape: \\ before 'x'" },
	{ DOC("a = \"\\u12\""), "f:1:6: \\u needs 4 hexadecimal digits" },
	{ DOC("a = \"\\U0000004\""), "f:1:6: \\U needs 8 hexadecimal digits" },
	{ DOC("a = \"\\ud800\""), "f:1:6: U+D800 is not a Unicode character" },
	{ DOC("a = \"\\U00110000\""), "f:1:6: U+110000 is not a Unicode character" },
	{ DOC("a = \"\"\"x \\ y\"\"\""), "f:1:10: unknown escape: \\ before ' '" },
	/* Numbers and words */
	{ DOC("a = yes"), "f:1:5: expected a value, found 'yes'; a string needs quotes" },
	{ DOC("a = True"), "f:1:5: expected a value, found 'True'" },
	{ DOC("a = 007"), "f:1:5: '007' has a leading zero; write octal numbers as 0o17" },
	{ DOC("a = -01.5"), "f:1:5: '-01.5' has a leading zero" },
	{ DOC("a = 1__0"), "f:1:5: '1__0' is not a number; each underscore must stand" },
	{ DOC("a = _1"), "f:1:5: expected a value, found '_1'" },
	{ DOC("a = 1_"), "f:1:5: '1_' is not a number; each underscore" },
	{ DOC("a = 0xg"), "f:1:5: '0xg' is not a number" },
	{ DOC("a = +0x1"), "f:1:5: '+0x1' is not a number" },
	{ DOC("a = 0b"), "f:1:5: '0b' is not a number" },
	{ DOC("a = 1."), "f:1:5: '1.' is not a number" },
	{ DOC("a = .5"), "f:1:5: expected a value, found '.5'" },
	{ DOC("a = 1e"), "f:1:5: '1e' is not a number" },
	{ DOC("a = 1.e5"), "f:1:5: '1.e5' is not a number" },
	{ DOC("a = 9223372036854775808"), "f:1:5: '9223372036854775808' does not fit in 64 bits" },
	{ DOC("a = 0xffffffffffffffff"), "f:1:5: '0xffffffffffffffff' does not fit in 64" },
	{ DOC("a = -9223372036854775809"), "f:1:5: '-9223372036854775809' does not fit" },
	{ DOC("a = 1e999"), "f:1:5: '1e999' is too large for a float" },
	/* Dates and times */
	{ DOC("a = 2023-13-01"), "f:1:5: impossible date or time '2023-13-01': the month must" },
	{ DOC("a = 2023-02-29"), "f:1:5: impossible date or time '2023-02-29': that month has" },
	{ DOC("a = 1900-02-29"), "f:1:5: impossible date or time '1900-02-29': that month has" },
	{ DOC("a = 24:00:00"), "f:1:5: impossible date or time '24:00:00': the hour must be" },
	{ DOC("a = 23:60:00"), "f:1:5: impossible date or time '23:60:00': the minute must be" },
	{ DOC("a = 23:59:60"), "f:1:5: impossible date or time '23:59:60': the second must be" },
	{ DOC("a = 2023-01-01T00:00:00+24:00"), "f:1:5: impossible date or time "
						"'2023-01-01T00:00:00+24:00': the offset" },
	{ DOC("a = 2023-1-1"), "f:1:5: '2023-1-1' is not a date or time; expected a form like" },
	{ DOC("a = 07:32"), "f:1:5: '07:32' is not a date or time" },
	{ DOC("a = 07:32:00Z"), "f:1:5: '07:32:00Z' is not a date or time" },
	{ DOC("a = 07:32:00."), "f:1:5: '07:32:00.' is not a date or time" },
	{ DOC("a = 2023-01-01T"), "f:1:5: '2023-01-01T' is not a date or time" },
};

Test(toml, broken_documents_are_refused_at_their_place)
{
	for (size_t i = 0; i < COUNT(broken); i++)
		expect_error(broken[i].text, CORDON_E_SYNTAX, broken[i].message);
}

static const struct {
	struct str text; /* defines x */
	int64_t value;
} integers[] = {
	{ DOC("x = 0"), 0 },
	{ DOC("x = +17"), 17 },
	{ DOC("x = -0"), 0 },
	{ DOC("x=1_000_000"), 1000000 },
	{ DOC("x = 0xDEAD_beef"), 0xdeadbeef },
	{ DOC("x = 0o755 # mode"), 0755 },
	{ DOC("x = 0b1101"), 13 },
	{ DOC("x = 0x00ff"), 255 },
	{ DOC("x = 9223372036854775807"), INT64_MAX },
	{ DOC("x = -9223372036854775808"), INT64_MIN },
};

Test(toml, integers)
{
	for (size_t i = 0; i < COUNT(integers); i++) {
		autoarena struct arena a;
		const struct toml_value *v = toml_get(read_ok(&a, integers[i].text), STR("x"));

		cr_assert_eq(v->type, TOML_INTEGER);
		cr_assert_eq(v->integer, integers[i].value, "%s", integers[i].text.p);
	}
}

static const struct {
	struct str text;
	double value;
} reals[] = {
	{ DOC("x = 1.5"), 1.5 },
	{ DOC("x = -0.0"), -0.0 },
	{ DOC("x = 5e+22"), 5e22 },
	{ DOC("x = 1E06"), 1e6 },
	{ DOC("x = 6.626e-34"), 6.626e-34 },
	{ DOC("x = 224_617.445_991"), 224617.445991 },
	{ DOC("x = inf"), INFINITY },
	{ DOC("x = -inf"), -INFINITY },
	{ DOC("x = 1e-400"), 0.0 },
};

Test(toml, reals)
{
	autoarena struct arena nan_arena;
	struct toml_table *root = read_ok(&nan_arena, STR("x = -nan"));

	cr_assert(isnan(toml_get(root, STR("x"))->real));
	for (size_t i = 0; i < COUNT(reals); i++) {
		autoarena struct arena a;
		const struct toml_value *v = toml_get(read_ok(&a, reals[i].text), STR("x"));

		cr_assert_eq(v->type, TOML_FLOAT);
		cr_assert(v->real == reals[i].value, "%s", reals[i].text.p);
		cr_assert_eq(!signbit(v->real), !signbit(reals[i].value));
	}
}

static const struct {
	struct str text, value;
} strings[] = {
	{ DOC("x = \"\""), DOC("") },
	{ DOC("x = ''"), DOC("") },
	{ DOC("x = \"a\\tb\\n\\\"\\\\\\b\\f\\r\""), DOC("a\tb\n\"\\\b\f\r") },
	{ DOC("x = \"\\u00e9\\U0001F600\\u0000z\""), DOC("\xc3\xa9\xf0\x9f\x98\x80\0z") },
	{ DOC("x = 'C:\\dir'"), DOC("C:\\dir") },
	{ DOC("x = \"\"\"\"\"\""), DOC("") },
	{ DOC("x = \"\"\"\none\r\ntwo\"\"\""), DOC("one\ntwo") },
	{ DOC("x = \"\"\"a \\  \n\n  \tb\"\"\""), DOC("a b") },
	{ DOC("x = \"\"\"a\\\r\n b\"\"\""), DOC("ab") },
	{ DOC("x = \"\"\"\"q\"\"\"\"\""), DOC("\"q\"\"") },
	{ DOC("x = '''''q'''''"), DOC("''q''") },
	{ DOC("x = '''\r\n\\n'''"), DOC("\\n") },
	{ DOC("x = \"a # b\" # c"), DOC("a # b") },
};

Test(toml, strings)
{
	for (size_t i = 0; i < COUNT(strings); i++) {
		autoarena struct arena a;
		const struct toml_value *v = toml_get(read_ok(&a, strings[i].text), STR("x"));

		cr_assert_eq(v->type, TOML_STRING);
		cr_assert(str_eq(v->string, strings[i].value), "%s", strings[i].text.p);
		cr_assert_eq(v->string.p[v->string.n], '\0');
	}
}

static const struct {
	struct str text;
	enum toml_type type;
	struct toml_time time;
} times[] = {
	{ DOC("x = 1979-05-27"), TOML_LOCAL_DATE, { .year = 1979, .month = 5, .day = 27 } },
	{
		DOC("x = 07:32:01.5"),
		TOML_LOCAL_TIME,
		{ .hour = 7, .minute = 32, .second = 1, .nanosecond = 500000000 },
	},
	{
		DOC("x = 2000-02-29t23:59:59"),
		TOML_LOCAL_DATETIME,
		{ .year = 2000, .month = 2, .day = 29, .hour = 23, .minute = 59, .second = 59 },
	},
	{
		DOC("x = 1979-05-27 00:00:00.1234567899Z"),
		TOML_DATETIME,
		{ .year = 1979, .month = 5, .day = 27, .nanosecond = 123456789 },
	},
	{
		DOC("x = 1979-05-27T00:00:00-07:30"),
		TOML_DATETIME,
		{ .year = 1979, .month = 5, .day = 27, .offset = -450 },
	},
};

Test(toml, times)
{
	for (size_t i = 0; i < COUNT(times); i++) {
		autoarena struct arena a;
		const struct toml_value *v = toml_get(read_ok(&a, times[i].text), STR("x"));
		const struct toml_time *t = &v->time, *want = &times[i].time;

		cr_assert_eq(v->type, times[i].type, "%s", times[i].text.p);
		cr_assert(t->year == want->year && t->month == want->month && t->day == want->day &&
				  t->hour == want->hour && t->minute == want->minute &&
				  t->second == want->second && t->nanosecond == want->nanosecond &&
				  t->offset == want->offset,
			  "%s", times[i].text.p);
	}
}

Test(toml, tables_keep_order_and_places)
{
	autoarena struct arena a;
	struct toml_table *root = read_ok(&a, STR("z = 1\n  'a b'.c =  [ 2 ]\n[t.u]\n"
						  "k = '\xc3\xa9' # c\n[t]\n"));
	const struct toml_value *v;

	cr_assert_eq(root->entries.n, 3);
	cr_assert_str_eq(root->entries.at[0].key.p, "z");
	cr_assert_str_eq(root->entries.at[1].key.p, "a b");
	cr_assert_str_eq(root->entries.at[2].key.p, "t");
	cr_assert_eq(root->entries.at[1].at.line, 2);
	cr_assert_eq(root->entries.at[1].at.column, 3);
	v = toml_get(root->entries.at[1].value.table, STR("c"));
	cr_assert_eq(v->at.column, 14);
	cr_assert_eq(v->array->items.at[0].at.column, 16);
	/* A table takes the place of its own header once that comes. */
	cr_assert_eq(root->entries.at[2].at.line, 5);
	v = toml_get(root->entries.at[2].value.table, STR("u"));
	cr_assert_eq(v->type, TOML_TABLE);
	cr_assert_str_eq(toml_get(v->table, STR("k"))->string.p, "\xc3\xa9");
}

Test(toml, arrays_of_tables_collect_what_follows)
{
	autoarena struct arena a;
	struct toml_table *root = read_ok(&a, STR("[[p]]\nn = 1\n[p.q]\nr = 2\n[[p]]\n[[p]]\n"
						  "n = 3\n[[p.s]]\n[[p.s]]\n"));
	const struct toml_array *p = toml_get(root, STR("p"))->array;

	cr_assert_eq(p->items.n, 3);
	cr_assert_eq(toml_get(toml_get(p->items.at[0].table, STR("q"))->table, STR("r"))->integer,
		     2);
	cr_assert_eq(p->items.at[1].table->entries.n, 0);
	cr_assert_eq(toml_get(p->items.at[2].table, STR("s"))->array->items.n, 2);
}

Test(toml, an_empty_text_is_an_empty_table)
{
	static const struct str texts[] = { { NULL, 0 }, DOC("\n"), DOC("# only a comment") };

	for (size_t i = 0; i < COUNT(texts); i++) {
		autoarena struct arena a;
		struct toml_table *root = read_ok(&a, texts[i]);

		cr_assert_eq(root->entries.n, 0);
		cr_assert_null(toml_get(root, STR("x")));
	}
}

/* Keys that are prefixes of each other, empty, or hold a NUL stay apart. */
Test(toml, near_keys_are_different_keys)
{
	autoarena struct arena a;
	struct toml_table *root = read_ok(&a, STR("\"\" = 1\na = 2\naa = 3\nab = 4\n"
						  "\"a\\u0000\" = 5\n\"\\u0000\" = 6\nA = 7\n"));
	static const struct str keys[] = { DOC(""),    DOC("a"),  DOC("aa"), DOC("ab"),
					   DOC("a\0"), DOC("\0"), DOC("A") };

	for (size_t i = 0; i < COUNT(keys); i++)
		cr_assert_eq(toml_get(root, keys[i])->integer, (int64_t)i + 1);
	cr_assert_null(toml_get(root, STR("b")));
	cr_assert_null(toml_get(root, STR("aaa")));
	cr_assert_null(toml_get(root, STR("\0\0")));
}

static void repeat(struct buf *b, const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_adds(b, text);
}

static struct buf new_text(void)
{
	struct buf b;

	buf_init(&b, (size_t)64 << 20);
	return b;
}

Test(toml, a_hundred_thousand_parts_are_refused)
{
	autobuf struct buf b = new_text();

	repeat(&b, "a.", 100000);
	buf_adds(&b, "a = 1");
	expect_error(buf_str(&b), CORDON_E_LIMIT, "f:1:129: a key of more than 64 parts");
	buf_clear(&b);
	buf_adds(&b, "[");
	repeat(&b, "a.", 100000);
	buf_adds(&b, "a]");
	expect_error(buf_str(&b), CORDON_E_LIMIT, "f:1:130: a key of more than 64 parts");
}

Test(toml, deep_nesting_is_refused)
{
	autobuf struct buf b = new_text();
	autoarena struct arena a;

	buf_adds(&b, "x = ");
	repeat(&b, "[", 100000);
	expect_error(buf_str(&b), CORDON_E_LIMIT, "f:1:69: nested more than 64 levels deep");
	buf_clear(&b);
	buf_adds(&b, "x = ");
	repeat(&b, "{a=", 100000);
	expect_error(buf_str(&b), CORDON_E_LIMIT, "f:1:197: nested more than 64 levels deep");
	/* Levels add up, however they are written. */
	buf_clear(&b);
	buf_adds(&b, "[a.b.c]\nd.e.f = ");
	repeat(&b, "[", 59);
	repeat(&b, "]", 59);
	read_ok(&a, buf_str(&b));
	buf_clear(&b);
	buf_adds(&b, "[a.b.c]\nd.e.f = ");
	repeat(&b, "[", 60);
	repeat(&b, "]", 60);
	expect_error(buf_str(&b), CORDON_E_LIMIT, "f:2:68: nested more than 64 levels deep");
}

Test(toml, large_input_is_refused)
{
	autobuf struct buf b = new_text();

	repeat(&b, "#", TOML_BYTES_MAX + 1);
	expect_error(buf_str(&b), CORDON_E_LIMIT,
		     "f:1:1: the file has 4194305 bytes, more than the limit of 4194304");
	buf_clear(&b);
	buf_adds(&b, "x = [\n");
	repeat(&b, "1,", TOML_NODES_MAX);
	buf_adds(&b, "]");
	/* The root, the array, and the items before this one reach the limit. */
	expect_error(buf_str(&b), CORDON_E_LIMIT, "f:2:524285: more than 262144 values");
}

Test(toml, a_small_arena_is_an_error_with_a_place)
{
	struct cordon_error err = { 0 };
	struct toml_table *root;
	autoarena struct arena a;

	arena_init(&a, 1024);
	cr_assert_eq(toml_read(&a, STR("a = 1\nb = 2\nc = [1,2,3,4,5,6,7,8,9]"), "f", &root, &err),
		     -CORDON_E_NOMEM);
	cr_assert_eq(strncmp(err.message, "f:", 2), 0, "%s", err.message);
}

static double seconds_to_read(struct str text, size_t keys)
{
	struct timespec from, to;
	autoarena struct arena a;
	struct toml_table *root;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	root = read_ok(&a, text);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	cr_assert_eq(root->entries.n, keys);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* Quadratic work would take minutes here; the bounds leave room for sanitizers. */
Test(toml, large_tables_and_lines_are_read_in_linear_time)
{
	autobuf struct buf b = new_text();

	for (int i = 0; i < 100000; i++)
		buf_addf(&b, "key%d = %d\n", i, i);
	cr_assert_lt(seconds_to_read(buf_str(&b), 100000), 2.0);
	buf_clear(&b);
	buf_adds(&b, "x = [");
	repeat(&b, "{a.b=1},", 80000);
	buf_adds(&b, "]");
	cr_assert_lt(seconds_to_read(buf_str(&b), 1), 2.0);
	/* Each key a prefix of the next: the deepest index there is. */
	buf_clear(&b);
	for (int i = 1; i < 2500; i++) {
		repeat(&b, "a", (size_t)i);
		buf_adds(&b, "=1\n");
	}
	cr_assert_lt(seconds_to_read(buf_str(&b), 2499), 2.0);
}

Test(toml, names_in_messages_are_escaped_and_shortened)
{
	struct cordon_error err = { 0 };
	struct toml_table *root;
	autoarena struct arena a;
	char name[300];

	arena_init(&a, ARENA_MAX);
	toml_read(&a, STR("?"), "a\x1b[31m.toml", &root, &err);
	cr_assert_eq(strncmp(err.message, "a\\x1b[31m.toml:1:1: ", 20), 0, "%s", err.message);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	toml_read(&a, STR("?"), name, &root, &err);
	cr_assert_eq(strncmp(err.message, "...nnn", 6), 0);
	cr_assert_not_null(strstr(err.message, "n:1:1: expected a key, found '?'"));
	toml_read(&a, STR("\"\xe2\x80\xae\" = 1\n\"\xe2\x80\xae\" = 1"), "f", &root, &err);
	cr_assert_str_eq(err.message, "f:2:1: '\\xe2\\x80\\xae' is defined twice; "
				      "first defined at line 1");
}

static const struct {
	struct str bytes;
	const char *as_string, *as_key;
} printed[] = {
	{ DOC(""), "\"\"", "\"\"" },
	{ DOC("plain-1_A"), "\"plain-1_A\"", "plain-1_A" },
	{ DOC("a.b"), "\"a.b\"", "\"a.b\"" },
	{ DOC("\"\\\n\t\r"), "\"\\\"\\\\\\n\\t\\r\"", "\"\\\"\\\\\\n\\t\\r\"" },
	{ DOC("\0\x01\x7f"), "\"\\u0000\\u0001\\u007F\"", "\"\\u0000\\u0001\\u007F\"" },
	{ DOC("\xc3\xa9"), "\"\xc3\xa9\"", "\"\xc3\xa9\"" },
	{ DOC("\xe2\x80\xae"), "\"\\u202E\"", "\"\\u202E\"" },
	{ DOC("\xf3\xa0\x80\x81"), "\"\\U000E0001\"", "\"\\U000E0001\"" },
};

Test(toml, printed_text_reads_back)
{
	for (size_t i = 0; i < COUNT(printed); i++) {
		autobuf struct buf b = new_text();
		autoarena struct arena a;
		const struct toml_value *v;

		toml_print_string(&b, printed[i].bytes);
		cr_expect_str_eq(b.p, printed[i].as_string);
		buf_clear(&b);
		toml_print_key(&b, printed[i].bytes);
		cr_expect_str_eq(b.p, printed[i].as_key);
		buf_adds(&b, "=");
		toml_print_string(&b, printed[i].bytes);
		v = toml_get(read_ok(&a, buf_str(&b)), printed[i].bytes);
		cr_assert(v && str_eq(v->string, printed[i].bytes));
	}
}

Test(toml, text_that_is_not_utf8_cannot_be_printed)
{
	autobuf struct buf b = new_text();

	toml_print_string(&b, STR("a\xff"));
	cr_assert(b.failed);
}

Test(toml, type_names)
{
	cr_assert_str_eq(toml_type_to_string(TOML_STRING), "a string");
	cr_assert_str_eq(toml_type_to_string(TOML_TABLE), "a table");
}
