/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structure of a TOML document: keys, headers, arrays, inline tables, and the
 * rules on what may be defined twice. Characters are toml_lex.c's business, scalars
 * toml_string.c's and toml_scalar.c's.
 *
 * Arrays and inline tables are read by recursion, bounded by TOML_DEPTH_MAX.
 */
#include "fmt/toml_in.h"

struct key_part {
	struct str text;
	size_t start; /* offset in the text */
	struct place at;
};

struct dotted_key {
	struct key_part part[TOML_DEPTH_MAX];
	size_t n;
};

const char *toml_type_to_string(enum toml_type type)
{
	static const char *const names[] = {
#define X(name, text) [TOML_##name] = text,
		TOML_TYPES(X)
#undef X
	};

	return names[type];
}

static int count_node(struct toml_in *in, size_t at, uint32_t depth)
{
	if (depth > TOML_DEPTH_MAX)
		return toml_fail_limit(in, at, "nested more than %d levels deep", TOML_DEPTH_MAX);
	if (in->nodes++ == TOML_NODES_MAX)
		return toml_fail_limit(in, at, "more than %zu values in one file", TOML_NODES_MAX);
	return 0;
}

/* Keys */

static bool is_bare_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

static int read_bare_key(struct toml_in *in, struct str *ret)
{
	size_t start = in->at;
	char *copy;

	while (is_bare_key_char(toml_peek(in)))
		in->at++;
	if (in->at == start)
		return toml_fail(in, start, "expected a key, found %s", toml_found(in).text);
	copy = arena_dup(in->arena, (struct str){ in->text.p + start, in->at - start });
	if (!copy)
		return toml_fail_nomem(in);
	*ret = (struct str){ copy, in->at - start };
	return 0;
}

static int read_key_part(struct toml_in *in, struct key_part *part)
{
	part->start = in->at;
	/* Before the key is read: places are cheap only in the order of the text. */
	part->at = toml_place(in, in->at);
	if (toml_looking_at(in, STR("\"\"\"")) || toml_looking_at(in, STR("'''")))
		return toml_fail(in, in->at, "a key cannot be a multi-line string");
	if (toml_peek(in) == '"' || toml_peek(in) == '\'')
		return toml_read_line_string(in, &part->text);
	return read_bare_key(in, &part->text);
}

/* Reads up to and including the blanks behind the last part. */
static int read_key(struct toml_in *in, struct dotted_key *key)
{
	int r;

	key->n = 0;
	do {
		toml_skip_blank(in);
		if (key->n == TOML_DEPTH_MAX)
			return toml_fail_limit(in, in->at, "a key of more than %d parts",
					       TOML_DEPTH_MAX);
		r = read_key_part(in, &key->part[key->n]);
		if (r)
			return r;
		key->n++;
		toml_skip_blank(in);
	} while (toml_take(in, '.'));
	return 0;
}

/* Tables */

/* `part` is the header or key that makes the table. */
static int new_table(struct toml_in *in, const struct key_part *part, uint32_t depth,
		     enum toml_origin origin, struct toml_value *ret)
{
	struct toml_table *t;
	int r = count_node(in, part->start, depth);

	if (r)
		return r;
	t = arena_new(in->arena, struct toml_table);
	if (!t)
		return toml_fail_nomem(in);
	t->depth = depth;
	t->origin = origin;
	ret->type = TOML_TABLE;
	ret->at = part->at;
	ret->table = t;
	return 0;
}

static int add_entry(struct toml_in *in, struct toml_table *t, const struct key_part *part,
		     const struct toml_value *v)
{
	struct toml_entry *e = toml_table_add(t, in->arena, part->text);

	if (!e)
		return toml_fail_nomem(in);
	e->at = part->at;
	e->value = *v;
	return 0;
}

static int duplicate(struct toml_in *in, const struct key_part *part,
		     const struct toml_entry *first)
{
	return toml_fail(in, part->start, "%s is defined twice; first defined at line %u",
			 quote(part->text).text, first->at.line);
}

static int not_a_table(struct toml_in *in, const struct key_part *part,
		       const struct toml_entry *first)
{
	return toml_fail(in, part->start,
			 "%s is %s, not a table, and cannot hold keys; first defined at line %u",
			 quote(part->text).text, toml_type_to_string(first->value.type),
			 first->at.line);
}

static int closed(struct toml_in *in, const struct key_part *part, const struct toml_entry *first,
		  const char *what)
{
	return toml_fail(in, part->start,
			 "%s cannot be extended here: it is %s; first defined at line %u",
			 quote(part->text).text, what, first->at.line);
}

static struct toml_entry *find(struct toml_table *t, const struct key_part *part)
{
	return (struct toml_entry *)toml_entry(t, part->text);
}

static int add_table(struct toml_in *in, struct toml_table **t, const struct key_part *part,
		     enum toml_origin origin)
{
	struct toml_value v;
	int r = new_table(in, part, (*t)->depth + 1, origin, &v);

	if (!r)
		r = add_entry(in, *t, part, &v);
	if (!r)
		*t = v.table;
	return r;
}

/* One step of a.b.c = ...: *t becomes its child `part`. */
static int step_dotted(struct toml_in *in, struct toml_table **t, const struct key_part *part)
{
	struct toml_entry *e = find(*t, part);

	if (!e)
		return add_table(in, t, part, TOML_FROM_DOTS);
	if (e->value.type != TOML_TABLE)
		return not_a_table(in, part, e);
	switch (e->value.table->origin) {
	case TOML_FROM_INLINE:
		return closed(in, part, e, "an inline table");
	case TOML_FROM_HEADER:
		return closed(in, part, e, "a table with a [header] of its own");
	case TOML_FROM_PATH:
	case TOML_FROM_DOTS:
		break;
	}
	e->value.table->origin = TOML_FROM_DOTS;
	*t = e->value.table;
	return 0;
}

/* One step of [a.b.c] before the last: *t becomes its child `part`, or the newest
 * element of an array of tables. */
static int step_header(struct toml_in *in, struct toml_table **t, const struct key_part *part)
{
	struct toml_entry *e = find(*t, part);

	if (!e)
		return add_table(in, t, part, TOML_FROM_PATH);
	if (e->value.type == TOML_ARRAY && e->value.array->of_tables) {
		*t = e->value.array->items.at[e->value.array->items.n - 1].table;
		return 0;
	}
	if (e->value.type != TOML_TABLE)
		return not_a_table(in, part, e);
	if (e->value.table->origin == TOML_FROM_INLINE)
		return closed(in, part, e, "an inline table");
	*t = e->value.table;
	return 0;
}

static int open_table(struct toml_in *in, struct toml_table **t, const struct key_part *part)
{
	struct toml_entry *e = find(*t, part);

	if (!e)
		return add_table(in, t, part, TOML_FROM_HEADER);
	if (e->value.type != TOML_TABLE || e->value.table->origin != TOML_FROM_PATH)
		return duplicate(in, part, e);
	e->value.table->origin = TOML_FROM_HEADER;
	e->at = e->value.at = part->at;
	*t = e->value.table;
	return 0;
}

static int new_array(struct toml_in *in, const struct key_part *part, uint32_t depth,
		     struct toml_value *ret)
{
	int r = count_node(in, part->start, depth);

	if (r)
		return r;
	ret->array = arena_new(in->arena, struct toml_array);
	if (!ret->array)
		return toml_fail_nomem(in);
	ret->type = TOML_ARRAY;
	ret->at = part->at;
	return 0;
}

static int push(struct toml_in *in, struct toml_array *array, const struct toml_value *v)
{
	struct toml_value *slot = vec_push(&array->items, in->arena);

	if (!slot)
		return toml_fail_nomem(in);
	*slot = *v;
	return 0;
}

static int add_array_of_tables(struct toml_in *in, struct toml_table *t,
			       const struct key_part *part, struct toml_array **ret)
{
	struct toml_value v;
	int r = new_array(in, part, t->depth + 1, &v);

	if (!r)
		r = add_entry(in, t, part, &v);
	if (r)
		return r;
	v.array->of_tables = true;
	*ret = v.array;
	return 0;
}

/* The last step of [[a.b]]: *t becomes a new element. */
static int append_table(struct toml_in *in, struct toml_table **t, const struct key_part *part)
{
	struct toml_entry *e = find(*t, part);
	struct toml_array *array;
	struct toml_value item;
	int r = 0;

	if (e && (e->value.type != TOML_ARRAY || !e->value.array->of_tables))
		return duplicate(in, part, e);
	if (e)
		array = e->value.array;
	else
		r = add_array_of_tables(in, *t, part, &array);
	if (!r)
		r = new_table(in, part, (*t)->depth + 2, TOML_FROM_HEADER, &item);
	if (!r)
		r = push(in, array, &item);
	if (!r)
		*t = item.table;
	return r;
}

/* Values */

static int read_value(struct toml_in *in, uint32_t depth, struct toml_value *ret);

/* A bracket at the cursor, as the maker of an array or table. */
static struct key_part here(struct toml_in *in)
{
	return (struct key_part){ .start = in->at, .at = toml_place(in, in->at) };
}

static int array_end(struct toml_in *in, size_t open)
{
	if (in->at == in->text.n)
		return toml_fail(in, open, "array without its closing ]");
	return toml_fail(in, in->at, "expected , or ] in an array, found %s", toml_found(in).text);
}

static int read_array(struct toml_in *in, uint32_t depth, struct toml_value *ret)
{
	struct key_part open = here(in);
	struct toml_value item;
	int r = new_array(in, &open, depth, ret);

	in->at++;
	while (!r) {
		toml_skip_filler(in);
		if (toml_take(in, ']'))
			return 0;
		if (in->at == in->text.n)
			return array_end(in, open.start);
		r = read_value(in, depth + 1, &item);
		if (!r)
			r = push(in, ret->array, &item);
		if (r)
			return r;
		toml_skip_filler(in);
		if (!toml_take(in, ',') && toml_peek(in) != ']')
			return array_end(in, open.start);
	}
	return r;
}

/* Reads a key up to and including its = and walks to the table that will hold the
 * last part. Not inlined: the parts need not stay on the stack while a nested value
 * is read. */
static int read_target(struct toml_in *in, struct toml_table **t, struct key_part *ret_last)
	__attribute__((noinline));

static int read_target(struct toml_in *in, struct toml_table **t, struct key_part *ret_last)
{
	struct dotted_key key;
	struct key_part *last;
	struct toml_entry *e;
	int r = read_key(in, &key);

	if (r)
		return r;
	last = &key.part[key.n - 1];
	if (!toml_take(in, '='))
		return toml_fail(in, in->at, "expected = after the key %s, found %s",
				 quote(last->text).text, toml_found(in).text);
	for (size_t i = 0; i + 1 < key.n; i++) {
		r = step_dotted(in, t, &key.part[i]);
		if (r)
			return r;
	}
	e = find(*t, last);
	if (e)
		return duplicate(in, last, e);
	*ret_last = *last;
	return 0;
}

static int read_pair(struct toml_in *in, struct toml_table *t)
{
	struct key_part last;
	struct toml_value v;
	int r = read_target(in, &t, &last);

	if (r)
		return r;
	toml_skip_blank(in);
	r = read_value(in, t->depth + 1, &v);
	return r ? r : add_entry(in, t, &last, &v);
}

static int inline_end(struct toml_in *in, size_t open)
{
	if (in->at == in->text.n)
		return toml_fail(in, open, "inline table without its closing }");
	if (toml_newline_at(in, in->at) || toml_peek(in) == '#')
		return toml_fail(in, in->at,
				 "an inline table must be on one line; expected , or } here");
	return toml_fail(in, in->at, "expected , or } in an inline table, found %s",
			 toml_found(in).text);
}

/* An inline table ends on the line it starts on. */
static bool at_line_end(const struct toml_in *in)
{
	return in->at == in->text.n || toml_newline_at(in, in->at) || toml_peek(in) == '#';
}

static int read_inline_table(struct toml_in *in, uint32_t depth, struct toml_value *ret)
{
	struct key_part open = here(in);
	size_t comma = 0;
	int r = new_table(in, &open, depth, TOML_FROM_INLINE, ret);

	in->at++;
	while (!r) {
		toml_skip_blank(in);
		if (comma && toml_peek(in) == '}')
			return toml_fail(in, comma, "an inline table cannot end with a comma");
		if (!comma && toml_take(in, '}'))
			return 0;
		if (at_line_end(in))
			return inline_end(in, open.start);
		r = read_pair(in, ret->table);
		if (r)
			return r;
		toml_skip_blank(in);
		if (toml_take(in, '}'))
			return 0;
		comma = in->at;
		if (!toml_take(in, ','))
			return inline_end(in, open.start);
	}
	return r;
}

static int read_value(struct toml_in *in, uint32_t depth, struct toml_value *ret)
{
	char first = toml_peek(in);
	int r;

	if (first == '[')
		return read_array(in, depth, ret);
	if (first == '{')
		return read_inline_table(in, depth, ret);
	r = count_node(in, in->at, depth);
	if (r)
		return r;
	if (first != '"' && first != '\'')
		return toml_read_bare(in, ret);
	ret->type = TOML_STRING;
	ret->at = toml_place(in, in->at);
	return toml_read_string(in, &ret->string);
}

/* Lines */

/* [a.b] or [[a.b]]; *t becomes the table that the next lines fill. */
static int read_header(struct toml_in *in, struct toml_table *root, struct toml_table **t)
{
	bool append = toml_looking_at(in, STR("[["));
	struct str close = append ? STR("]]") : STR("]");
	struct toml_table *at = root;
	struct dotted_key key;
	int r;

	in->at += close.n;
	r = read_key(in, &key);
	if (r)
		return r;
	if (!toml_looking_at(in, close))
		return toml_fail(in, in->at, "expected . or %s in a table header, found %s",
				 close.p, toml_found(in).text);
	in->at += close.n;
	for (size_t i = 0; i + 1 < key.n; i++) {
		r = step_header(in, &at, &key.part[i]);
		if (r)
			return r;
	}
	r = (append ? append_table : open_table)(in, &at, &key.part[key.n - 1]);
	if (r)
		return r;
	*t = at;
	return toml_end_line(in, "a table header");
}

static int read_line(struct toml_in *in, struct toml_table *root, struct toml_table **t)
{
	int r;

	if (toml_peek(in) == '[')
		return read_header(in, root, t);
	r = read_pair(in, *t);
	return r ? r : toml_end_line(in, "the value");
}

int toml_read(struct arena *a, struct str text, const char *name, struct toml_table **ret_root,
	      struct cordon_error *err)
{
	struct toml_in in = {
		.arena = a,
		.name = name,
		.text = text,
		.place = { 1, 1 },
		.err = err,
	};
	struct key_part start = { .at = { 1, 1 } };
	struct toml_table *section;
	struct toml_value root;
	int r = toml_check_text(&in);

	if (!r)
		r = new_table(&in, &start, 0, TOML_FROM_HEADER, &root);
	if (r)
		return r;
	section = root.table;
	for (toml_skip_filler(&in); in.at < text.n; toml_skip_filler(&in)) {
		r = read_line(&in, root.table, &section);
		if (r)
			return r;
	}
	*ret_root = root.table;
	return 0;
}
