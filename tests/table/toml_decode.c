/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads TOML and prints the tagged JSON of the public toml-test suite.
 *
 * Without arguments: one document on stdin, exit status 1 when it is refused. With
 * --batch: documents as "LENGTH\n" and that many bytes each, answered by one line
 * each, "ok JSON" or "error MESSAGE".
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "fmt/json.h"
#include "fmt/toml.h"

#define INPUT_MAX ((size_t)64 << 20)
#define ARENA_MAX ((size_t)1 << 30)

static json_t *tag(const char *type, struct str text)
{
	return json_pack("{s:s, s:o}", "type", type, "value", json_stringn(text.p, text.n));
}

static void print_real(struct buf *b, double real)
{
	if (isnan(real))
		buf_adds(b, "nan");
	else if (isinf(real))
		buf_adds(b, real < 0 ? "-inf" : "inf");
	else
		buf_addf(b, "%.17g", real);
}

static void print_date(struct buf *b, const struct toml_time *t)
{
	buf_addf(b, "%04u-%02u-%02u", t->year, t->month, t->day);
}

static void print_clock(struct buf *b, const struct toml_time *t)
{
	buf_addf(b, "%02u:%02u:%02u", t->hour, t->minute, t->second);
	if (t->nanosecond)
		buf_addf(b, ".%09" PRIu32, t->nanosecond);
}

static void print_offset(struct buf *b, int offset)
{
	int minutes = abs(offset);

	if (offset)
		buf_addf(b, "%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
	else
		buf_addc(b, 'Z');
}

static json_t *convert(const struct toml_value *v);

static json_t *convert_table(const struct toml_table *t)
{
	json_t *obj = json_object();

	vec_each(e, &t->entries)
		json_object_setn_new(obj, e->key.p, e->key.n, convert(&e->value));
	return obj;
}

static json_t *convert_array(const struct toml_array *array)
{
	json_t *list = json_array();

	vec_each(item, &array->items)
		json_array_append_new(list, convert(item));
	return list;
}

static json_t *convert(const struct toml_value *v)
{
	autobuf struct buf b = buf_make(256);

	switch (v->type) {
	case TOML_TABLE:
		return convert_table(v->table);
	case TOML_ARRAY:
		return convert_array(v->array);
	case TOML_STRING:
		return tag("string", v->string);
	case TOML_BOOLEAN:
		return tag("bool", str_of(v->boolean ? "true" : "false"));
	case TOML_INTEGER:
		buf_addf(&b, "%" PRId64, v->integer);
		return tag("integer", buf_str(&b));
	case TOML_FLOAT:
		print_real(&b, v->real);
		return tag("float", buf_str(&b));
	case TOML_LOCAL_DATE:
		print_date(&b, &v->time);
		return tag("date-local", buf_str(&b));
	case TOML_LOCAL_TIME:
		print_clock(&b, &v->time);
		return tag("time-local", buf_str(&b));
	case TOML_LOCAL_DATETIME:
	case TOML_DATETIME:
		print_date(&b, &v->time);
		buf_addc(&b, 'T');
		print_clock(&b, &v->time);
		if (v->type == TOML_LOCAL_DATETIME)
			return tag("datetime-local", buf_str(&b));
		print_offset(&b, v->time.offset);
		return tag("datetime", buf_str(&b));
	}
	return NULL;
}

static int decode(struct str text, struct buf *out, struct cordon_error *err)
{
	autoarena struct arena a;
	struct toml_table *root;
	json_t *tree;
	int r;

	arena_init(&a, ARENA_MAX);
	r = toml_read(&a, text, "input", &root, err);
	if (r)
		return r;
	tree = convert_table(root);
	json_print(out, tree, false);
	json_decref(tree);
	return out->failed ? err_nomem(err, "decode") : 0;
}

static int answer(struct str text)
{
	struct cordon_error err;
	autobuf struct buf out = buf_make(INPUT_MAX * 4);
	int r;

	r = decode(text, &out, &err);
	if (r)
		printf("error %s\n", err.message);
	else
		printf("ok %s\n", out.p);
	return r;
}

static int batch(void)
{
	size_t n;

	while (scanf("%zu", &n) == 1 && n <= INPUT_MAX && getchar() == '\n') {
		/* Exactly n bytes, so that a sanitizer sees any read beyond them. */
		char *text = malloc(n ? n : 1);

		if (!text || fread(text, 1, n, stdin) != n)
			return 2;
		answer((struct str){ text, n });
		free(text);
	}
	return feof(stdin) ? 0 : 2;
}

static int single(void)
{
	autoarena struct arena a;
	struct cordon_error err;
	autobuf struct buf out = buf_make(INPUT_MAX * 4);
	struct str text;

	arena_init(&a, ARENA_MAX);
	if (fd_read_stream(&a, 0, "stdin", INPUT_MAX, &text, &err) || decode(text, &out, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	puts(out.p);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return single();
	return strcmp(argv[1], "--batch") ? 2 : batch();
}
