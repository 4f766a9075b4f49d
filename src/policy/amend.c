/* SPDX-License-Identifier: Apache-2.0 */
/* Adding to a profile in place. */
#include "policy/amend.h"

#include <string.h>

#include "fmt/toml.h"
#include "policy/config.h"

#define stage "merge"

struct edit {
	struct arena *arena;
	struct str text;
	const char *file, *profile, *extends;
	const struct amendment *items;
	size_t n;
	const struct profile *before;	/* NULL: the text does not define it */
	const struct toml_table *table; /* the same, with places */
	struct place at;		/* of the name in its header */
	struct cordon_error *err;
};

/* Text to be put in at an offset; in the order of the offsets. */
struct insertion {
	size_t at;
	const char *text;
};

struct insertions {
	VEC(struct insertion) list;
};

/* --- a profile of its own ----------------------------------------------------------------- */

static bool has_key(const struct amendment *items, size_t n, enum key key)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].key == key)
			return true;
	return false;
}

static void print_line(struct buf *b, const struct amendment *item)
{
	buf_addc(b, '\t');
	toml_print_string(b, str_of(item->text));
	buf_addc(b, ',');
	if (item->remark)
		buf_addf(b, " # %s", item->remark);
}

static void print_list(struct buf *b, enum key key, const struct amendment *items, size_t n)
{
	buf_addf(b, "%s = [\n", key_rows[key].name);
	for (size_t i = 0; i < n; i++)
		if (items[i].key == key) {
			print_line(b, &items[i]);
			buf_addc(b, '\n');
		}
	buf_adds(b, "]\n");
}

static void print_lists(struct buf *b, const struct amendment *items, size_t n)
{
	for (unsigned key = 0; key < KEY_COUNT; key++)
		if (has_key(items, n, key))
			print_list(b, key, items, n);
}

void amend_print(struct buf *to, const char *profile, const char *extends,
		 const struct amendment *items, size_t n)
{
	buf_adds(to, "[sandbox.profiles.");
	toml_print_key(to, str_of(profile));
	buf_adds(to, "]\nextends = ");
	toml_print_string(to, str_of(extends));
	buf_addc(to, '\n');
	print_lists(to, items, n);
}

/* --- where -------------------------------------------------------------------------------- */

static int refuse(const struct edit *e, struct place at, const char *why)
{
	located_error(e->err, CORDON_E_CONFIG, stage, e->file, at, "%s", why);
	return err_hint(e->err, "print the profile without --merge and put it in by hand");
}

static size_t line_start(struct str text, uint32_t line)
{
	struct str rest = text, head;

	while (--line && str_cut(rest, '\n', &head, &rest))
		;
	return text.n - rest.n;
}

/* The offset of a place; columns are characters. */
static size_t offset_of(struct str text, struct place at)
{
	size_t i = line_start(text, at.line);
	struct place now = { at.line, 1 };

	while (i < text.n && now.column < at.column)
		now = place_step(now, text.p[i++]);
	/* The rest of the character before. */
	while (i < text.n && (text.p[i] & 0xc0) == 0x80)
		i++;
	return i;
}

/* The lists of a profile stand below its header. */
static int find_table(struct edit *e, const struct toml_table *root)
{
	const struct toml_value *v = toml_get(root, STR("sandbox"));

	v = v && v->type == TOML_TABLE ? toml_get(v->table, STR("profiles")) : NULL;
	v = v && v->type == TOML_TABLE ? toml_get(v->table, str_of(e->profile)) : NULL;
	if (!v || v->type != TOML_TABLE)
		return refuse(e, (struct place){ 1, 1 }, "the profile cannot be found in the text");
	if (v->table->origin != TOML_FROM_HEADER)
		return refuse(e, v->at, "the profile is not written as [sandbox.profiles.NAME]");
	e->table = v->table;
	e->at = v->at;
	return 0;
}

/* What was found to be missing on top of one profile may be there, or not be enough, on
 * top of another. */
static int check_base(const struct edit *e)
{
	if (strcmp(e->profile, e->extends) == 0)
		return 0;
	vec_each(s, &e->before->layer.statements)
		if (s->key == KEY_EXTENDS && str_eq(s->text, str_of(e->extends)))
			return 0;
	return refuse(e, e->at,
		      "the profile there starts from another one than this was learned "
		      "on");
}

static int find_profile(struct edit *e, struct config *config)
{
	struct toml_table *root;
	int r = config_parse(e->arena, e->text, e->file, SOURCE_USER, config, e->err);

	if (r < 0)
		return r;
	e->before = config_profile(config, str_of(e->profile));
	if (!e->before)
		return 0;
	r = toml_read(e->arena, e->text, e->file, &root, e->err);
	if (r == 0)
		r = find_table(e, root);
	return r < 0 ? r : check_base(e);
}

/* --- what --------------------------------------------------------------------------------- */

static bool says(const struct profile *p, enum key key, struct str text)
{
	if (p)
		vec_each(s, &p->layer.statements)
			if (s->key == key && !s->empty && str_eq(s->text, text))
				return true;
	return false;
}

static int insert(struct edit *e, struct insertions *to, size_t at, struct buf *text)
{
	struct insertion *slot = vec_push(&to->list, e->arena);
	const char *copy = text->failed ? NULL : arena_dup(e->arena, buf_str(text));
	size_t i;

	if (!slot || !copy)
		return err_nomem(e->err, stage);
	for (i = to->list.n - 1; i > 0 && to->list.at[i - 1].at > at; i--)
		to->list.at[i] = to->list.at[i - 1];
	to->list.at[i] = (struct insertion){ at, copy };
	return 0;
}

/* Behind the bracket, in the manner of the list: a line each, or all on one. */
static int extend_list(struct edit *e, struct insertions *to, enum key key,
		       const struct toml_value *value)
{
	autobuf struct buf b = buf_make(CONFIG_BYTES_MAX);
	size_t at = offset_of(e->text, value->at);
	struct str rest;
	bool lines;

	if (value->type != TOML_ARRAY || at >= e->text.n || e->text.p[at] != '[')
		return refuse(e, value->at, "what is to be added to is not a list");
	rest = str_trim(str_skip(e->text, ++at));
	lines = rest.n && strchr("\r\n#", rest.p[0]);
	for (size_t i = 0; i < e->n; i++) {
		if (e->items[i].key != key || says(e->before, key, str_of(e->items[i].text)))
			continue;
		if (lines) {
			buf_addc(&b, '\n');
			print_line(&b, &e->items[i]);
			continue;
		}
		buf_adds(&b, b.n ? ", " : "");
		toml_print_string(&b, str_of(e->items[i].text));
	}
	if (b.n && !lines && rest.n && rest.p[0] != ']')
		buf_adds(&b, ", ");
	return b.n ? insert(e, to, at, &b) : 0;
}

/* Right below the header. */
static int new_list(struct edit *e, struct insertions *to, enum key key)
{
	autobuf struct buf b = buf_make(CONFIG_BYTES_MAX);
	size_t at = line_start(e->text, e->at.line + 1);

	if (at == e->text.n && at && e->text.p[at - 1] != '\n')
		buf_addc(&b, '\n');
	print_list(&b, key, e->items, e->n);
	return insert(e, to, at, &b);
}

static int amend_profile(struct edit *e, struct insertions *to)
{
	int r = 0;

	for (unsigned key = 0; key < KEY_COUNT && r == 0; key++) {
		const struct toml_value *value;

		if (!has_key(e->items, e->n, key))
			continue;
		value = toml_get(e->table, str_of(key_rows[key].name));
		if (!value && key_rows[key].alias)
			value = toml_get(e->table, str_of(key_rows[key].alias));
		r = value ? extend_list(e, to, key, value) : new_list(e, to, key);
	}
	return r;
}

static int append_profile(struct edit *e, struct insertions *to)
{
	autobuf struct buf b = buf_make(CONFIG_BYTES_MAX);

	if (e->text.n && e->text.p[e->text.n - 1] != '\n')
		buf_addc(&b, '\n');
	buf_adds(&b, e->text.n ? "\n" : "");
	amend_print(&b, e->profile, e->extends, e->items, e->n);
	return insert(e, to, e->text.n, &b);
}

static void apply(const struct edit *e, const struct insertions *from, struct buf *to)
{
	size_t at = 0;

	vec_each(i, &from->list) {
		buf_add(to, str_take(str_skip(e->text, at), i->at - at));
		buf_adds(to, i->text);
		at = i->at;
	}
	buf_add(to, str_skip(e->text, at));
}

/* --- and nothing else --------------------------------------------------------------------- */

static size_t statements(const struct config *config)
{
	size_t n = config->sandbox.statements.n + config->locked.statements.n;

	vec_each(p, &config->profiles)
		n += p->layer.statements.n;
	return n;
}

static bool keeps(const struct config *before, const struct config *after)
{
	vec_each(p, &before->profiles) {
		const struct profile *now = config_profile(after, p->name);

		vec_each(s, &p->layer.statements)
			if (!now || (!s->empty && !says(now, s->key, s->text)))
				return false;
	}
	return after->sandbox.statements.n == before->sandbox.statements.n;
}

/* Are all the additions in it, and is everything that was there? An empty list that was
 * added to is a statement less. */
static int check(struct edit *e, const struct config *before, struct str text)
{
	struct config after;
	size_t most = statements(before) + e->n + 1;
	const struct profile *p;
	int r = config_parse(e->arena, text, e->file, SOURCE_USER, &after, e->err);

	if (r < 0)
		return r;
	p = config_profile(&after, str_of(e->profile));
	for (size_t i = 0; i < e->n; i++)
		if (!p || !says(p, e->items[i].key, str_of(e->items[i].text)))
			return refuse(e, (struct place){ 1, 1 }, "an addition did not arrive");
	if (!keeps(before, &after) || statements(&after) > most)
		return refuse(e, (struct place){ 1, 1 }, "something else would have changed");
	return 0;
}

int config_amend(struct arena *a, struct str text, const char *file, const char *profile,
		 const char *extends, const struct amendment *items, size_t n, struct buf *to,
		 struct cordon_error *err)
{
	struct edit e = { .arena = a,
			  .text = text,
			  .file = file,
			  .profile = profile,
			  .extends = extends,
			  .items = items,
			  .n = n,
			  .err = err };
	autobuf struct buf b = buf_make(2 * CONFIG_BYTES_MAX);
	struct insertions list = { 0 };
	struct config before;
	int r = find_profile(&e, &before);

	if (r == 0)
		r = e.before ? amend_profile(&e, &list) : append_profile(&e, &list);
	if (r < 0)
		return r;
	apply(&e, &list, &b);
	if (b.failed)
		return err_nomem(err, stage);
	r = check(&e, &before, buf_str(&b));
	if (r == 0)
		buf_add(to, buf_str(&b));
	return r;
}
