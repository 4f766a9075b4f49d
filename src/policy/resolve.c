/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of path texts into rules. Asks the world, changes nothing. */
#include "policy/resolve.h"

#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "fmt/glob.h"
#include "policy/sets.h"

struct expansion {
	struct arena *arena;
	const struct world *world;
	const struct places *places;
	const struct origin *origin;
	struct cordon_error *err;
};

static int bad_path(struct expansion *x, struct str text, const char *why)
{
	autobuf struct buf where = buf_make(8192);
	autobuf struct buf shown = buf_make(8192);

	if (x->origin) {
		origin_print(&where, x->origin);
		if (x->origin->line)
			buf_addf(&where, ":%u", x->origin->column);
		buf_adds(&where, ": ");
	}
	buf_add_escaped(&shown, text);
	return err_set(x->err, CORDON_E_PATH, 0, "policy", "%spath '%s': %s", where.p, shown.p,
		       why);
}

static const struct {
	const char *name;
	size_t offset;
} place_names[] = {
	{ "workdir", offsetof(struct places, workdir) },
	{ "home", offsetof(struct places, home) },
	{ "tmp", offsetof(struct places, tmp) },
	{ "data", offsetof(struct places, data) },
	{ "gitdir", offsetof(struct places, git_dir) },
	{ "gitcommon", offsetof(struct places, git_common) },
};
#define PLACE_COUNT (sizeof(place_names) / sizeof(place_names[0]))

static const struct str *place_by_name(const struct places *places, struct str name)
{
	for (size_t i = 0; i < PLACE_COUNT; i++)
		if (str_eq(name, str_of(place_names[i].name)))
			return (const struct str *)((const char *)places + place_names[i].offset);
	return NULL;
}

static int unknown_place(struct expansion *x, struct str text, struct str name)
{
	const char *words[PLACE_COUNT + 1] = { 0 };
	const char *near;
	int r = bad_path(x, text, "unknown placeholder");

	for (size_t i = 0; i < PLACE_COUNT; i++)
		words[i] = place_names[i].name;
	near = str_nearest(name, words);
	if (near)
		err_hint(x->err, "did you mean {%s}?", near);
	else
		err_hint(x->err, "known are {workdir} {home} {tmp} {data}; quote a brace as \\{");
	return r;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* \xNN gives a byte that stands for itself; 0 when the text is not such an escape. */
static size_t byte_escape(struct str s, struct buf *out)
{
	int high, low;
	char byte;

	if (s.n < 4 || s.p[0] != '\\' || s.p[1] != 'x')
		return 0;
	high = hex_digit(s.p[2]);
	low = hex_digit(s.p[3]);
	if (high < 0 || low < 0 || !(high | low))
		return 0;
	byte = (char)(high << 4 | low);
	glob_quote(out, (struct str){ &byte, 1 });
	return 4;
}

/* {name} becomes the place, quoted so that its own characters are no glob. *ret_gone
 * is set when the place does not exist here (no git directory). */
static int place_escape(struct expansion *x, struct str text, struct str s, struct buf *out,
			size_t *ret_n, bool *ret_gone)
{
	struct str name, rest;
	const struct str *place;

	if (!str_cut(str_skip(s, 1), '}', &name, &rest))
		return bad_path(x, text, "a '{' without its '}'");
	place = place_by_name(x->places, name);
	if (!place)
		return unknown_place(x, text, name);
	*ret_gone |= place->n == 0;
	glob_quote(out, *place);
	*ret_n = name.n + 2;
	return 0;
}

/* Placeholders, ~ and \xNN; the result is still quoted for globs. */
static int expand(struct expansion *x, struct str text, struct buf *out, bool *ret_gone)
{
	struct str s = text;

	*ret_gone = false;
	if (str_eq(s, STR("~")) || str_starts(s, STR("~/"))) {
		glob_quote(out, x->places->home);
		s = str_skip(s, 1);
	}
	while (s.n) {
		size_t n = byte_escape(s, out);
		int r = 0;

		if (!n && s.p[0] == '{') {
			r = place_escape(x, text, s, out, &n, ret_gone);
		} else if (!n) {
			n = s.p[0] == '\\' && s.n > 1 ? 2 : 1;
			buf_add(out, str_take(s, n));
		}
		if (r < 0)
			return r;
		s = str_skip(s, n);
	}
	if (out->failed)
		return bad_path(x, text, "too long");
	return 0;
}

static int unquote_and_normalise(struct expansion *x, struct str quoted, struct str text,
				 struct str *ret)
{
	autobuf struct buf plain = buf_make(2 * PATH_BYTES_MAX);
	char *path;

	glob_unquote(&plain, quoted);
	path = plain.failed ? NULL : path_normalise(x->arena, x->places->workdir, buf_str(&plain));
	if (!path)
		return bad_path(x, text, "longer than a path can be");
	*ret = str_of(path);
	return 0;
}

/* A glob is normal when absolute and free of "." and ".."; each part well-formed. */
static int check_glob(struct expansion *x, struct str glob, struct str text)
{
	struct str rest = glob, part;

	while (path_next(&rest, &part)) {
		const char *fault = glob_component_fault(part);

		if (fault)
			return bad_path(x, text, fault);
		if (str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return bad_path(x, text, "a glob cannot hold '.' or '..'");
		if (!str_eq(part, STR("**")) && part.n > 1 && memmem(part.p, part.n, "**", 2))
			return bad_path(x, text, "'**' must be a whole component");
	}
	return 0;
}

/* Splits before the first component with magic: the part in front is a plain path. */
static size_t literal_prefix(struct str glob)
{
	struct str rest = glob, part;
	size_t end = 0;

	while (path_next(&rest, &part) && !glob_has_magic(part))
		end = (size_t)(part.p + part.n - glob.p);
	return end;
}

static int add_rule(struct expansion *x, struct ruleset *set, const struct rule *rule)
{
	return ruleset_add(set, rule, x->err);
}

/* Both spellings: as written, and with the symlinks of its literal part resolved. */
static int add_glob(struct expansion *x, struct ruleset *set, struct rule *rule, struct str glob)
{
	autobuf struct buf b = buf_make(4 * PATH_BYTES_MAX);
	struct str prefix, real;
	struct node node;
	size_t cut;
	int r;

	if (glob.p[0] != '/') {
		glob_quote(&b, x->places->workdir);
		buf_addc(&b, '/');
	}
	buf_add(&b, glob);
	rule->kind = RULE_GLOB;
	rule->path = str_of(arena_dup(x->arena, buf_str(&b)));
	if (!rule->path.n)
		return err_nomem(x->err, "policy");
	r = check_glob(x, rule->path, rule->spelled);
	if (r == 0)
		r = add_rule(x, set, rule);
	cut = literal_prefix(rule->path);
	if (r < 0 || !cut)
		return r;
	r = unquote_and_normalise(x, str_take(rule->path, cut), rule->spelled, &prefix);
	if (r == 0)
		r = x->world->resolve(x->world, x->arena, prefix, &real, &node, x->err);
	if (r < 0 || str_eq(real, prefix))
		return r;
	buf_clear(&b);
	glob_quote(&b, real);
	buf_add(&b, str_skip(rule->path, cut));
	rule->path = str_of(arena_dup(x->arena, buf_str(&b)));
	if (!rule->path.n)
		return err_nomem(x->err, "policy");
	rule->flags |= RULE_ALIAS;
	return add_rule(x, set, rule);
}

static int add_plain(struct expansion *x, struct ruleset *set, struct rule *rule, struct str quoted)
{
	struct str real;
	int r = unquote_and_normalise(x, quoted, rule->spelled, &rule->path);

	if (r < 0)
		return r;
	r = x->world->resolve(x->world, x->arena, rule->path, &real, &rule->node, x->err);
	if (r < 0) {
		autobuf struct buf where = buf_make(8192);

		origin_print(&where, x->origin);
		return err_wrap(x->err, "%s", where.p);
	}
	if (str_eq(real, rule->path))
		return add_rule(x, set, rule);
	rule->flags |= RULE_VIA_LINK;
	r = add_rule(x, set, rule);
	if (r < 0)
		return r;
	rule->path = real;
	rule->flags ^= RULE_VIA_LINK | RULE_ALIAS;
	return add_rule(x, set, rule);
}

static int add_text(struct expansion *x, struct ruleset *set, struct rule rule, struct str text)
{
	autobuf struct buf quoted = buf_make(2 * PATH_BYTES_MAX);
	bool gone;
	int r;

	rule.spelled = text;
	if (str_starts(text, STR("="))) {
		rule.kind = RULE_EXACT;
		text = str_skip(text, 1);
	}
	r = expand(x, text, &quoted, &gone);
	if (r < 0 || gone)
		return r;
	if (!quoted.n)
		return bad_path(x, rule.spelled, "empty");
	if (!glob_has_magic(buf_str(&quoted)))
		return add_plain(x, set, &rule, buf_str(&quoted));
	if (rule.kind == RULE_EXACT)
		return bad_path(x, rule.spelled, "'=' and a glob do not go together");
	return add_glob(x, set, &rule, buf_str(&quoted));
}

static int add_set(struct expansion *x, struct ruleset *set, struct rule rule, struct str text)
{
	const struct path_set *named = path_set_by_name(str_skip(text, 1));
	const char *words[PATH_SET_COUNT + 1] = { 0 };
	const char *near;
	int r = 0;

	if (named) {
		rule.set = named->name;
		rule.flags |= RULE_OPTIONAL;
		/* A secret is a matter of denying, a harmless exception one of reading. */
		if (rule.right == RIGHT_DENY)
			rule.flags |= named->flags & (RULE_SECRET | RULE_CONTROL);
		else
			rule.flags |= named->flags & (RULE_HARMLESS | RULE_CONTROL);
		for (const char *const *p = named->paths; *p && r == 0; p++)
			r = add_text(x, set, rule, str_of(*p));
		return r;
	}
	for (size_t i = 0; i < PATH_SET_COUNT; i++)
		words[i] = path_sets[i].name;
	near = str_nearest(str_skip(text, 1), words);
	r = bad_path(x, text, "there is no such set");
	if (near)
		err_hint(x->err, "did you mean @%s? A file of that name is ./%s", near, text.p);
	return r;
}

static enum right right_of(enum key key)
{
	if (key == KEY_READ)
		return RIGHT_READ;
	if (key == KEY_WRITE)
		return RIGHT_WRITE;
	if (key == KEY_EXEC)
		return RIGHT_EXEC;
	return RIGHT_DENY;
}

int resolve_statement(struct arena *a, const struct world *world, const struct places *places,
		      const struct statement *statement, struct ruleset *set,
		      struct cordon_error *err)
{
	struct expansion x = { a, world, places, &statement->origin, err };
	struct rule rule = {
		.right = right_of(statement->key),
		.kind = RULE_SUBTREE,
		.origin = statement->origin,
		.flags = statement->origin.source == SOURCE_PROFILE ? RULE_OPTIONAL : 0,
	};

	if (str_starts(statement->text, STR("@")))
		return add_set(&x, set, rule, statement->text);
	return add_text(&x, set, rule, statement->text);
}

int resolve_path(struct arena *a, const struct world *world, const struct places *places,
		 struct str text, struct str *ret_real, struct node *ret_node,
		 struct cordon_error *err)
{
	struct expansion x = { a, world, places, NULL, err };
	autobuf struct buf quoted = buf_make(2 * PATH_BYTES_MAX);
	struct str path;
	bool gone;
	int r;

	r = expand(&x, text, &quoted, &gone);
	if (r < 0)
		return r;
	if (gone || !quoted.n)
		return bad_path(&x, text, "names nothing here");
	r = unquote_and_normalise(&x, buf_str(&quoted), text, &path);
	return r < 0 ? r : world->resolve(world, a, path, ret_real, ret_node, err);
}
