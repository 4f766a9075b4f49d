/* SPDX-License-Identifier: Apache-2.0 */
/* Statements said in C, and their TOML. */
#include "policy/builder.h"

#include <inttypes.h>

#include "base/num.h"
#include "fmt/toml.h"

#define NUMBER_TEXT_MAX 64

static const struct origin said_in_c = { SOURCE_FLAGS, "the program", 0, 0 };

void policy_builder_init(struct policy_builder *b, struct arena *a, const char *profile)
{
	*b = (struct policy_builder){ .arena = a, .profile = profile };
}

/* TOML has no way to empty a list that a profile filled and to fill it again. */
static bool is_emptied(const struct policy_builder *b, enum key key)
{
	enum key_type type = key_rows[key].type;

	vec_each(s, &b->said.statements)
		if (s->key == key && s->empty && type != TYPE_NETWORK && type != TYPE_PATHS)
			return true;
	return false;
}

void policy_builder_add(struct policy_builder *b, enum key key, const char *text)
{
	struct origin origin = said_in_c;

	if (b->failed)
		return;
	if (is_emptied(b, key)) {
		b->failed = err_set(&b->error, CORDON_E_CONFIG, 0, "config",
				    "%s was said to be empty", key_rows[key].name);
		return;
	}
	b->failed = layer_add_text(b->arena, &b->said, key, str_of(text), &origin, &b->error);
	if (b->failed)
		err_wrap(&b->error, "%s", key_rows[key].name);
}

static void print_number(struct buf *out, enum key_type type, uint64_t number)
{
	if (type == TYPE_BOOL)
		buf_adds(out, number ? "true" : "false");
	else if (!number && type != TYPE_PORTS)
		buf_adds(out, "none");
	else if (type == TYPE_DURATION)
		num_print_duration(out, number);
	else if (type == TYPE_SIZE)
		num_print_size(out, number);
	else
		buf_addf(out, "%" PRIu64, number);
}

void policy_builder_set(struct policy_builder *b, enum key key, uint64_t number)
{
	autobuf struct buf text = buf_make(NUMBER_TEXT_MAX);

	print_number(&text, key_rows[key].type, number);
	if (text.failed && !b->failed)
		b->failed = err_nomem(&b->error, "config");
	policy_builder_add(b, key, text.p);
}

void policy_builder_empty(struct policy_builder *b, enum key key)
{
	struct statement *s;

	if (b->failed)
		return;
	if (!key_type_is_list(key_rows[key].type)) {
		b->failed = err_set(&b->error, CORDON_E_CONFIG, 0, "config", "%s is not a list",
				    key_rows[key].name);
		return;
	}
	s = vec_push(&b->said.statements, b->arena);
	if (!s)
		b->failed = err_nomem(&b->error, "config");
	else
		*s = (struct statement){ .key = key, .empty = true, .origin = said_in_c };
}

static int first_mistake(const struct policy_builder *b, struct cordon_error *err)
{
	*err = b->error;
	return b->failed;
}

int policy_builder_build(struct policy_builder *b, const struct policy_input *input,
			 struct policy **ret, struct cordon_error *err)
{
	struct policy_input in = *input;

	if (b->failed)
		return first_mistake(b, err);
	in.profile = b->profile;
	in.flags = &b->said;
	return policy_build(b->arena, &in, ret, err);
}

/* --- TOML ---------------------------------------------------------------------------- */

static bool is_word(const struct statement *s)
{
	return s->key == KEY_NETWORK && (str_eq(s->text, STR("on")) || str_eq(s->text, STR("off")));
}

static void print_scalar(struct buf *out, const struct statement *s)
{
	enum key_type type = key_rows[s->key].type;
	autobuf struct buf text = buf_make(NUMBER_TEXT_MAX + s->text.n);

	if (type == TYPE_BOOL || type == TYPE_PORTS || (type == TYPE_COUNT && s->number)) {
		print_number(out, type, s->number);
		return;
	}
	if (type == TYPE_DURATION || type == TYPE_SIZE || type == TYPE_COUNT)
		print_number(&text, type, s->number);
	else
		buf_add(&text, s->text);
	toml_print_string(out, buf_str(&text));
}

/* env.set: a bare NAME hands on the caller's value, which a file calls env.pass. */
static void print_variables(struct buf *out, const struct layer *said)
{
	vec_each(s, &said->statements) {
		struct str name, value;

		if (s->key != KEY_ENV_SET || !str_cut(s->text, '=', &name, &value))
			continue;
		buf_adds(out, "env.set.");
		toml_print_key(out, name);
		buf_adds(out, " = ");
		toml_print_string(out, value);
		buf_addc(out, '\n');
	}
}

static bool stands_in(const struct statement *s, enum key key)
{
	if (s->key == KEY_ENV_SET)
		return key == KEY_ENV_PASS && str_find(s->text, '=') == s->text.n;
	return s->key == key;
}

struct holding {
	VEC(const struct statement *) items;
	bool said;
	bool word; /* network = "on" and not a list */
};

/* What holds of all that was said: the last scalar; of a list what comes after it was
 * emptied, or the network was said by a word. Rules are never undone. */
static int find_holding(struct arena *a, const struct layer *said, enum key key,
			struct holding *ret)
{
	enum key_type type = key_rows[key].type;

	*ret = (struct holding){ 0 };
	vec_each(s, &said->statements) {
		const struct statement **slot;

		if (!stands_in(s, key))
			continue;
		if (!key_type_is_list(type) || ret->word || is_word(s) ||
		    (s->empty && type != TYPE_PATHS))
			ret->items.n = 0;
		ret->said = true;
		ret->word = is_word(s);
		if (s->empty)
			continue;
		slot = vec_push(&ret->items, a);
		if (!slot)
			return -CORDON_E_NOMEM;
		*slot = s;
	}
	return 0;
}

static int print_key(struct arena *a, struct buf *out, const struct layer *said, enum key key)
{
	struct holding h;
	bool list;

	if (find_holding(a, said, key, &h) < 0)
		return -CORDON_E_NOMEM;
	if (!h.said)
		return 0;
	list = key_type_is_list(key_rows[key].type) && !h.word;
	buf_addf(out, "%s = %s", key_rows[key].name, list ? "[" : "");
	for (size_t i = 0; i < h.items.n; i++) {
		buf_adds(out, i ? ", " : "");
		print_scalar(out, h.items.at[i]);
	}
	buf_adds(out, list ? "]\n" : "\n");
	return 0;
}

static int print_scope(const struct policy_builder *b, enum key_scope scope, struct buf *out)
{
	int r = 0;

	for (unsigned k = 0; k < KEY_COUNT && r == 0; k++)
		if (key_rows[k].scope == scope && k != KEY_ENV_SET)
			r = print_key(b->arena, out, &b->said, k);
	return r;
}

/* What belongs to no profile. Without any there is no table either: two of them in one file
 * would be an error for whoever adds the profile to a file of his own. */
static int print_sandbox(const struct policy_builder *b, struct buf *out)
{
	autobuf struct buf keys = buf_make(out->max);
	int r = print_scope(b, SCOPE_SANDBOX, &keys);

	if (r < 0 || keys.failed)
		return -CORDON_E_NOMEM;
	if (keys.n)
		buf_addf(out, "[sandbox]\n%s\n", keys.p);
	return 0;
}

int policy_builder_print(const struct policy_builder *b, const char *name, struct buf *out,
			 struct cordon_error *err)
{
	if (b->failed)
		return first_mistake(b, err);
	if (print_sandbox(b, out) < 0)
		return err_nomem(err, "config");
	buf_adds(out, "[sandbox.profiles.");
	toml_print_key(out, str_of(name));
	buf_adds(out, "]\n");
	if (b->profile) {
		buf_adds(out, "extends = ");
		toml_print_string(out, str_of(b->profile));
		buf_addc(out, '\n');
	}
	if (print_scope(b, SCOPE_PROFILE, out) < 0)
		return err_nomem(err, "config");
	print_variables(out, &b->said);
	return out->failed ? err_nomem(err, "config") : 0;
}
