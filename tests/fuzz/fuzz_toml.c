/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes toml_read. Whatever is read must hold what toml.h promises: strings are
 * UTF-8 and terminated, every key is found again, no node is too deep, and every
 * string and key comes back from its printed form.
 */
#include <string.h>

#include "fmt/toml.h"
#include "fuzz.h"

#define ARENA_MAX ((size_t)64 << 20)

static void check_string(struct str s)
{
	CHECK(str_is_utf8(s));
	CHECK(s.p[s.n] == '\0');
}

/* Prints `key = "value"` and reads it back. */
static void check_round_trip(struct str key, struct str value)
{
	autoarena struct arena a;
	autobuf struct buf b = buf_make(ARENA_MAX);
	struct toml_table *root;
	struct cordon_error err;
	const struct toml_value *v;

	arena_init(&a, ARENA_MAX);
	toml_print_key(&b, key);
	buf_adds(&b, " = ");
	toml_print_string(&b, value);
	CHECK(!b.failed);
	if (b.n > TOML_BYTES_MAX)
		return;
	CHECK(toml_read(&a, buf_str(&b), "printed", &root, &err) == 0);
	v = toml_get(root, key);
	CHECK(v && v->type == TOML_STRING && str_eq(v->string, value));
}

static void check_value(const struct toml_value *v, unsigned depth);

static void check_table(const struct toml_table *t, unsigned depth)
{
	vec_each(e, &t->entries) {
		check_string(e->key);
		CHECK(toml_get(t, e->key) == &e->value);
		CHECK(e->at.line && e->at.column);
		if (e->value.type == TOML_STRING)
			check_round_trip(e->key, e->value.string);
		check_value(&e->value, depth + 1);
	}
}

static void check_value(const struct toml_value *v, unsigned depth)
{
	CHECK(depth <= TOML_DEPTH_MAX);
	CHECK(v->at.line && v->at.column);
	if (v->type == TOML_STRING)
		check_string(v->string);
	if (v->type == TOML_TABLE)
		check_table(v->table, depth);
	if (v->type == TOML_ARRAY)
		vec_each(item, &v->array->items)
			check_value(item, depth + 1);
}

static void check_error(const struct cordon_error *err, int r)
{
	CHECK(r == -err->code);
	CHECK(err->code == CORDON_E_SYNTAX || err->code == CORDON_E_LIMIT ||
	      err->code == CORDON_E_NOMEM);
	CHECK(!strncmp(err->message, "fuzz:", 5));
	for (const char *p = err->message; *p; p++)
		CHECK((unsigned char)*p >= 0x20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	autoarena struct arena a;
	struct cordon_error err = { 0 };
	struct toml_table *root = NULL;
	int r;

	arena_init(&a, ARENA_MAX);
	r = toml_read(&a, text, "fuzz", &root, &err);
	if (r)
		check_error(&err, r);
	else
		check_table(root, 0);
	return 0;
}
