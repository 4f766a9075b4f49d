/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes json_read and the text helpers: it accepts what jansson's own reader does,
 * with the same result (limits aside), what is read prints and reads back equal, and
 * any bytes set as text come back the same, whatever stands beside them.
 */
#include <string.h>

#include "fmt/json.h"
#include "fuzz.h"

#define SIZE_LIMIT ((size_t)1 << 20)

static void check_print(const json_t *value, bool pretty)
{
	autobuf struct buf b = buf_make(SIZE_LIMIT * 16);
	struct cordon_error err;
	json_t *again;

	json_print(&b, value, pretty);
	CHECK(!b.failed);
	CHECK(json_read(buf_str(&b), "printed", SIZE_LIMIT * 16, &again, &err) == 0);
	CHECK(json_equal(value, again));
	json_decref(again);
}

static void check_against_jansson(struct str text, const json_t *ours, int code)
{
	json_t *theirs = json_loadb(text.n ? text.p : "", text.n,
				    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
				    NULL);

	/* jansson takes a NUL behind the value for the end of the text. */
	if (code != -CORDON_E_LIMIT && str_find(text, '\0') == text.n)
		CHECK(!ours == !theirs);
	if (ours)
		CHECK(json_equal(ours, theirs));
	json_decref(theirs);
}

/* The input cut in two and set as two members, in that order. */
static void check_text(struct str text)
{
	struct str one = str_take(text, text.n / 3), two = str_skip(text, text.n / 3), got;
	json_t *obj = json_object();
	autoarena struct arena a;

	arena_init(&a, SIZE_LIMIT * 16);
	CHECK(json_set_text(obj, "one", one));
	CHECK(json_set_text(obj, "two", two));
	check_print(obj, false);
	CHECK(json_get_text(obj, "one", &a, &got) && str_eq(got, one));
	CHECK(json_get_text(obj, "two", &a, &got) && str_eq(got, two));
	json_decref(obj);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct cordon_error err = { 0 };
	json_t *value = NULL;
	int r;

	if (size > SIZE_LIMIT)
		return 0;
	r = json_read(text, "fuzz", SIZE_LIMIT, &value, &err);
	check_against_jansson(text, value, r);
	if (r) {
		CHECK(r == -err.code && !strncmp(err.message, "fuzz:", 5));
	} else {
		check_print(value, false);
		check_print(value, true);
		json_decref(value);
	}
	check_text(text);
	return 0;
}
