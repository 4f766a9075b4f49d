/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of path texts into rules. Asks the world, changes nothing. */
#include "policy/resolve.h"

#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "fmt/glob.h"
#include "fmt/located.h"
#include "fmt/utf8.h"
#include "policy/sets.h"

struct expansion {
	struct arena *arena;
	const struct world *world;
	const struct places *places;
	const struct origin *origin;
	struct cordon_error *err;
};

/* Says where the path was written, once the error is filled. */
static int located(struct expansion *x)
{
	return x->origin ? origin_wrap(x->err, x->origin) : -x->err->code;
}

static int bad_path(struct expansion *x, struct str text, const char *why)
{
	err_set(x->err, CORDON_E_PATH, 0, "policy", "path %s: %s", quote(text).text, why);
	return located(x);
}

static const struct place_name {
	const char *name;
	size_t offset;
	bool optional; /* rules on it vanish where it does not exist */
} place_names[] = {
	{ "workdir", offsetof(struct places, workdir), false },
	{ "home", offsetof(struct places, home), false },
	{ "tmp", offsetof(struct places, tmp), false },
	{ "data", offsetof(struct places, data), false },
	{ "gitdir", offsetof(struct places, git_dir), true },
	{ "gitcommon", offsetof(struct places, git_common), true },
};
#define PLACE_COUNT (sizeof(place_names) / sizeof(place_names[0]))

static const struct place_name *place_by_name(struct str name)
{
	for (size_t i = 0; i < PLACE_COUNT; i++)
		if (str_eq(name, str_of(place_names[i].name)))
			return &place_names[i];
	return NULL;
}

/* Appends the place, quoted so that its own characters are no glob. */
static int add_place(struct expansion *x, struct str text, const struct place_name *name,
		     struct buf *out, bool *ret_gone)
{
	const char *base = (const char *)x->places;
	const struct str *place = (const struct str *)(base + name->offset);

	if (!place->n && !name->optional)
		return bad_path(x, text, "it refers to a place that is not known here");
	*ret_gone |= place->n == 0;
	glob_quote(out, *place);
	return 0;
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

/* \xNN gives a byte that stands for itself, \ and any other character that
 * character; the result is still quoted. *ret_n is the length of the escape. */
static int backslash(struct expansion *x, struct str text, struct str s, struct buf *out,
		     size_t *ret_n)
{
	int high, low;
	char byte;

	if (s.n < 2)
		return bad_path(x, text, "a backslash with nothing after it");
	*ret_n = 2;
	if (s.p[1] != 'x') {
		buf_add(out, str_take(s, 2));
		return 0;
	}
	high = s.n < 4 ? -1 : hex_digit(s.p[2]);
	low = s.n < 4 ? -1 : hex_digit(s.p[3]);
	if (high < 0 || low < 0 || !(high | low))
		return bad_path(x, text, "\\x takes two hexadecimal digits, not both 0");
	byte = (char)(high << 4 | low);
	glob_quote(out, (struct str){ &byte, 1 });
	*ret_n = 4;
	return 0;
}

/* {name} becomes the place. *ret_gone is set when it does not exist here (no git
 * directory). */
static int place_escape(struct expansion *x, struct str text, struct str s, struct buf *out,
			size_t *ret_n, bool *ret_gone)
{
	const struct place_name *place;
	struct str name, rest;

	if (!str_cut(str_skip(s, 1), '}', &name, &rest))
		return bad_path(x, text, "a '{' without its '}'");
	place = place_by_name(name);
	if (!place)
		return unknown_place(x, text, name);
	*ret_n = name.n + 2;
	return add_place(x, text, place, out, ret_gone);
}

/* A buffer or a copy that failed: too much text, or too little memory for it. */
static int lost(struct expansion *x, struct str text, size_t size)
{
	if (size <= PATH_BYTES_MAX)
		return err_nomem(x->err, "policy");
	return bad_path(x, text, "longer than a path can be");
}

/* Placeholders, ~ and \xNN; the result is still quoted for globs. */
static int expand(struct expansion *x, struct str text, struct buf *out, bool *ret_gone)
{
	struct str s = text;
	int r = 0;

	*ret_gone = false;
	if (str_eq(s, STR("~")) || str_starts(s, STR("~/"))) {
		r = add_place(x, text, place_by_name(STR("home")), out, ret_gone);
		s = str_skip(s, 1);
	}
	while (r == 0 && s.n) {
		size_t n = 0;

		while (n < s.n && s.p[n] != '{' && s.p[n] != '\\')
			n++;
		buf_add(out, str_take(s, n));
		s = str_skip(s, n);
		if (!s.n)
			break;
		if (s.p[0] == '{')
			r = place_escape(x, text, s, out, &n, ret_gone);
		else
			r = backslash(x, text, s, out, &n);
		s = str_skip(s, n);
	}
	if (r == 0 && out->failed)
		return lost(x, text, text.n);
	return r;
}

/* What a relative path is relative to: the workdir, or where a project file lies, which
 * may be above it. */
static struct str base_of(const struct expansion *x)
{
	const struct origin *o = x->origin;

	if (o && o->source == SOURCE_PROJECT && o->file[0] == '/')
		return path_parent(str_of(o->file));
	return x->places->workdir;
}

static int unquote_and_normalise(struct expansion *x, struct str quoted, struct str text,
				 struct str *ret)
{
	autobuf struct buf plain = buf_make(2 * PATH_BYTES_MAX);
	char *path;

	glob_unquote(&plain, quoted);
	path = plain.failed ? NULL : path_normalise(x->arena, base_of(x), buf_str(&plain));
	if (!path)
		return lost(x, text, quoted.n + base_of(x).n + 1);
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
	return ruleset_add(set, rule, x->err) < 0 ? located(x) : 0;
}

/* The glob in the buffer, kept and checked. */
static int keep_glob(struct expansion *x, struct rule *rule, const struct buf *b)
{
	char *copy = b->failed ? NULL : arena_dup(x->arena, buf_str(b));

	if (!copy)
		return lost(x, rule->spelled, b->n);
	rule->path = str_of(copy);
	return check_glob(x, rule->path, rule->spelled);
}

static int resolve(struct expansion *x, struct str path, struct str *ret_real,
		   struct node *ret_node)
{
	int r = x->world->resolve(x->world, x->arena, path, ret_real, ret_node, x->err);

	return r < 0 ? located(x) : 0;
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
		glob_quote(&b, base_of(x));
		buf_addc(&b, '/');
	}
	buf_add(&b, glob);
	rule->kind = RULE_GLOB;
	r = keep_glob(x, rule, &b);
	if (r == 0)
		r = add_rule(x, set, rule);
	cut = r < 0 ? 0 : literal_prefix(rule->path);
	if (!cut)
		return r;
	r = unquote_and_normalise(x, str_take(rule->path, cut), rule->spelled, &prefix);
	if (r == 0)
		r = resolve(x, prefix, &real, &node);
	if (r < 0 || str_eq(real, prefix))
		return r;
	buf_clear(&b);
	glob_quote(&b, real);
	buf_add(&b, str_skip(rule->path, cut));
	rule->flags |= RULE_ALIAS;
	r = keep_glob(x, rule, &b);
	return r < 0 ? r : add_rule(x, set, rule);
}

/* The name itself, where it is a symlink below other symlinks: what rename and unlink
 * act on (rule 1). */
static int add_link_name(struct expansion *x, struct ruleset *set, const struct rule *rule,
			 struct str real)
{
	struct rule third = *rule;
	struct node node;
	struct str parent;
	const char *path;
	int r = resolve(x, path_parent(rule->path), &parent, &node);

	if (r < 0)
		return r;
	path = arena_printf(x->arena, "%.*s/%.*s", parent.n == 1 ? 0 : (int)parent.n, parent.p,
			    STR_ARG(path_last(rule->path)));
	if (!path)
		return err_nomem(x->err, "policy");
	third.path = str_of(path);
	if (str_eq(third.path, rule->path) || str_eq(third.path, real))
		return 0;
	return add_rule(x, set, &third);
}

/* These places were real paths a moment ago. One that now leads elsewhere was swapped, by
 * something that may write there, and is not what was looked at. */
static bool is_swapped_place(const struct expansion *x, const struct rule *rule, struct str real)
{
	const struct places *p = x->places;
	const struct str *real_ones[] = { &p->workdir, &p->git_dir, &p->git_common };

	for (size_t i = 0; i < sizeof(real_ones) / sizeof(real_ones[0]); i++)
		if (str_eq(rule->path, *real_ones[i]) && !str_eq(rule->path, real))
			return true;
	return false;
}

/* A name in the workdir may have been made a link by a command that ran there before; a
 * grant must not follow it out. */
static bool led_astray(const struct expansion *x, const struct rule *rule, struct str real)
{
	struct str workdir = x->places->workdir;

	return rule->right != RIGHT_DENY && !(rule->flags & RULE_CAP) &&
	       rule->origin.source != SOURCE_PROFILE &&
	       rule->origin.source != SOURCE_PROJECT && path_below(rule->path, workdir) &&
	       !path_below(real, workdir);
}

/* For rule->path, as it is spelled and as what it leads to. */
static int add_normal(struct expansion *x, struct ruleset *set, struct rule *rule)
{
	struct str real;
	int r = resolve(x, rule->path, &real, &rule->node);

	if (r < 0)
		return r;
	if (is_swapped_place(x, rule, real))
		return bad_path(x, rule->spelled, "changed while cordon was looking at it");
	if (led_astray(x, rule, real)) {
		bad_path(x, rule->spelled, "a link in the workdir that leads out of it");
		return err_hint(x->err, "name what it leads to, if that is meant");
	}
	if (str_eq(real, rule->path))
		return add_rule(x, set, rule);
	rule->flags |= RULE_VIA_LINK;
	r = add_rule(x, set, rule);
	if (r == 0)
		r = add_link_name(x, set, rule, real);
	rule->path = real;
	rule->flags ^= RULE_VIA_LINK | RULE_ALIAS;
	return r < 0 ? r : add_rule(x, set, rule);
}

static int add_plain(struct expansion *x, struct ruleset *set, struct rule *rule, struct str quoted)
{
	int r = unquote_and_normalise(x, quoted, rule->spelled, &rule->path);

	return r < 0 ? r : add_normal(x, set, rule);
}

/* Is it "~/name" with nothing else to expand, unquote or normalise? */
static bool is_plainly_in_home(const struct expansion *x, struct str text)
{
	struct str rest = str_skip(text, 1), part;
	size_t length = 1;

	if (!str_starts(text, STR("~/")) || x->places->home.n <= 1 ||
	    x->places->home.n + text.n > PATH_BYTES_MAX)
		return false;
	while (path_next(&rest, &part)) {
		if (str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
		for (size_t i = 0; i < part.n; i++)
			if (strchr("{\\*?[", part.p[i]))
				return false;
		length += 1 + part.n;
	}
	return length == text.n; /* no slash was doubled or trailing */
}

/* Nearly all paths of the sets are such ones, so they get there in one step. */
static int add_in_home(struct expansion *x, struct ruleset *set, struct rule *rule, struct str text)
{
	struct str home = x->places->home;
	size_t n = home.n + text.n - 1;
	char *path = arena_room(x->arena, n + 1);

	if (!path)
		return err_nomem(x->err, "policy");
	memcpy(path, home.p, home.n);
	memcpy(path + home.n, text.p + 1, text.n - 1);
	path[n] = '\0';
	rule->path = (struct str){ path, n };
	return add_normal(x, set, rule);
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
	if (is_plainly_in_home(x, text))
		return add_in_home(x, set, &rule, text);
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

/* The paths of a set, or only those in the home. */
static int add_paths(struct expansion *x, struct ruleset *set, struct rule rule,
		     const struct path_set *named, bool only_home)
{
	int r = 0;

	for (const char *const *p = named->paths; *p && r == 0; p++)
		if (!only_home || str_starts(str_of(*p), STR("~/")))
			r = add_text(x, set, rule, str_of(*p));
	return r;
}

/* A secret in somebody else's home: what is there, as it is. They must not be able to
 * close what is elsewhere, nor to make every run fail, by what they link it to. */
static int add_foreign(struct expansion *x, struct ruleset *set, struct rule rule, struct str home,
		       struct str text)
{
	struct str below = str_skip(text, 2), rest = below, first, real;
	struct cordon_error ignored;
	const char *path;
	int r;

	if (!path_next(&rest, &first) ||
	    (x->world->may_hold && !x->world->may_hold(x->world, x->arena, home, first)))
		return 0;
	path = arena_printf(x->arena, "%.*s/%.*s", STR_ARG(home), STR_ARG(below));
	if (!path)
		return err_nomem(x->err, "policy");
	rule.spelled = text;
	rule.path = str_of(path);
	r = x->world->resolve(x->world, x->arena, rule.path, &real, &rule.node, &ignored);
	if (r == -CORDON_E_NOMEM)
		return err_nomem(x->err, "policy");
	if (r < 0 || rule.node.type == NODE_ABSENT || !path_below(real, home))
		return 0;
	r = add_rule(x, set, &rule);
	if (r < 0 || str_eq(real, rule.path))
		return r;
	rule.path = real;
	rule.flags |= RULE_ALIAS;
	return add_rule(x, set, &rule);
}

/* What the repository itself names: paths, not patterns. What is not in the workdir belongs
 * to the real git directories, which not every profile shows. */
static int add_repository(struct expansion *x, struct ruleset *set, struct rule rule,
			  bool in_workdir)
{
	const struct places *places = x->places;
	int r = 0;

	for (size_t i = 0; i < places->git_control_count && r == 0; i++) {
		struct rule one = rule;

		one.path = one.spelled = places->git_control[i];
		if (path_below(one.path, places->workdir) == in_workdir)
			r = add_normal(x, set, &one);
	}
	return r;
}

/* At the top of the repository that the workdir is a part of, for closing only: programs that
 * are started there read these files, and the workdir may not be all that can be written. */
static int add_top(struct expansion *x, struct ruleset *set, struct rule rule,
		   const struct path_set *named)
{
	struct str top = x->places->git_top, workdir = x->places->workdir;
	int r = 0;

	if (!top.n || str_eq(top, workdir) ||
	    (rule.right != RIGHT_READ && rule.right != RIGHT_DENY))
		return 0;
	if (rule.right == RIGHT_READ)
		rule.flags |= RULE_CAP;
	for (const char *const *p = named->paths; *p && r == 0; p++) {
		struct rule one = rule;

		one.path = one.spelled = str_of(
			arena_printf(x->arena, "%.*s/%s", top.n == 1 ? 0 : (int)top.n, top.p, *p));
		if (!one.path.p)
			return err_nomem(x->err, "policy");
		/* A workdir in one of them is what the caller chose. */
		if (!path_below(workdir, one.path))
			r = add_normal(x, set, &one);
	}
	return r;
}

static int add_homes(struct expansion *x, struct ruleset *set, struct rule rule,
		     const struct path_set *named)
{
	const struct places *places = x->places;
	struct places there = *places;
	struct expansion other = *x;
	int r = 0;

	there.home = places->own_home;
	other.places = &there;
	if (there.home.n)
		r = add_paths(&other, set, rule, named, true);
	for (size_t i = 0; i < places->other_home_count; i++)
		for (const char *const *p = named->paths; *p && r == 0; p++)
			if (str_starts(str_of(*p), STR("~/")))
				r = add_foreign(x, set, rule, places->other_homes[i], str_of(*p));
	return r;
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
			rule.flags |= named->flags & RULE_CONTROL;
		if (rule.right == RIGHT_READ || rule.right == RIGHT_EXEC)
			rule.flags |= named->flags & RULE_HARMLESS;
		r = add_paths(x, set, rule, named, false);
		if (r == 0 && named == &path_sets[PATH_SET_CONTROL])
			r = add_top(x, set, rule, named);
		if (r == 0 && (named == &path_sets[PATH_SET_CONTROL] ||
			       named == &path_sets[PATH_SET_GIT_CONTROL]))
			r = add_repository(x, set, rule, named == &path_sets[PATH_SET_CONTROL]);
		/* A secret is one in every home. */
		return r < 0 || !(rule.flags & RULE_SECRET) ? r : add_homes(x, set, rule, named);
	}
	for (size_t i = 0; i < PATH_SET_COUNT; i++)
		words[i] = path_sets[i].name;
	near = str_nearest(str_skip(text, 1), words);
	r = bad_path(x, text, "there is no such set");
	if (near)
		err_hint(x->err, "did you mean @%s? A file whose name starts with @ is ./@...",
			 near);
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

	if (statement->cap)
		rule.flags |= RULE_CAP;
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
	return r < 0 ? r : resolve(&x, path, ret_real, ret_node);
}
