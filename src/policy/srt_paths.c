/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of a settings file of srt: their spelling, and which of them count. */
#include "policy/srt_in.h"

#include <string.h>

#include "base/path.h"
#include "fmt/located.h"
#include "policy/resolve.h"

#define stage "config"

static bool has_magic(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (strchr("*?[", text.p[i]) && text.p[i])
			return true;
	return false;
}

/* Two stars at the end of "src" are all of src; alone they are all of the workdir. */
static struct str without_tail(struct str text)
{
	while (str_ends(text, STR("/**")))
		text.n -= 3;
	if (!text.n)
		return STR("/");
	return str_eq(text, STR("**")) ? STR(".") : text;
}

/* A glob cannot hold a '.', which stands for nothing at its start. */
static struct str without_dot(struct str text)
{
	while (str_starts(text, STR("./")))
		text = str_skip(text, 2);
	return text;
}

/* What is special to cordon and not to srt stands for itself. */
static const char *spelled(struct arena *a, struct str text)
{
	autobuf struct buf b = buf_make(2 * text.n + 1);

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\\' || text.p[i] == '{' ||
		    (i == 0 && (text.p[i] == '@' || text.p[i] == '=')))
			buf_addc(&b, '\\');
		buf_addc(&b, text.p[i]);
	}
	return b.failed ? NULL : arena_dup(a, buf_str(&b));
}

static int bad_path(struct srt_reader *r, struct str text, const struct origin *origin,
		    const char *why)
{
	return origin_error(r->err, CORDON_E_CONFIG, stage, origin, "path %s %s", quote(text).text,
			    why);
}

int srt_add_path(struct srt_reader *r, struct srt_path_list *list, struct str text, bool closes,
		 const struct origin *origin)
{
	struct srt_path *slot = vec_push(&list->items, r->arena);
	struct str path = without_tail(text);
	struct node node;
	const char *ours;

	if (!text.n || str_find(text, '\0') < text.n)
		return bad_path(r, text, origin, "is empty or holds a NUL");
	if (has_magic(path) && closes && str_ends(path, STR("/")))
		return bad_path(r, text, origin, "ends in '/', so that it matches nothing");
	ours = spelled(r->arena, has_magic(path) ? without_dot(path) : path);
	if (!slot || !ours)
		return err_nomem(r->err, stage);
	*slot = (struct srt_path){ str_of(ours), { 0 }, has_magic(path), *origin };
	if (slot->glob)
		return 0;
	if (resolve_path(r->arena, r->world, r->places, slot->text, &slot->real, &node, r->err) < 0)
		return origin_wrap(r->err, origin);
	return 0;
}

/* --- what counts ------------------------------------------------------------------ */

static int add_rule(struct srt_reader *r, enum key key, const struct srt_path *p)
{
	return layer_add_item(r->arena, &r->to->layer, key, p->text, &p->origin, r->err);
}

static bool is_listed(const struct srt_path_list *list, const struct srt_path *p)
{
	vec_each(other, &list->items)
		if (!other->glob && str_eq(other->real, p->real))
			return true;
	return false;
}

static bool is_allowed_again(const struct srt_reader *r, const struct srt_path *denied)
{
	return !denied->glob && is_listed(&r->allow_read, denied);
}

static int add_denied(struct srt_reader *r)
{
	int code = 0;

	vec_each(p, &r->deny_read.items)
		if (code == 0 && !is_allowed_again(r, p))
			code = add_rule(r, KEY_DENY, p);
	/* These are denied whatever is allowed again. */
	vec_each(p, &r->credentials.items)
		if (code == 0)
			code = add_rule(r, KEY_DENY, p);
	return code;
}

/* A cap: what is closed for reading does not open by being closed for writing. */
static int add_kept(struct srt_reader *r)
{
	struct layer *layer = &r->to->layer;
	int code = 0;

	vec_each(p, &r->deny_write.items)
		if (code == 0) {
			code = add_rule(r, KEY_READ, p);
			if (code == 0)
				layer->statements.at[layer->statements.n - 1].cap = true;
		}
	return code;
}

/* What is closed for writing, as caps: where a link leads does not matter. */
static int close_path(struct srt_reader *r, struct ruleset *closed, struct str text,
		      const struct origin *origin)
{
	struct statement s = { .key = KEY_READ, .text = text, .cap = true, .origin = *origin };

	return resolve_statement(r->arena, r->world, r->places, &s, closed, r->err);
}

/* What srt never lets be written, whatever allowWrite says. */
static int close_always(struct srt_reader *r, struct ruleset *closed)
{
	static const char *const always[] = {
		"@control", "@git-control",  "@home-control", "@shell-files",
		".bashrc",  ".bash_profile", ".zshrc",	      ".zprofile",
		".profile", ".gitconfig",    ".gitmodules",   "~/.srt-settings.json",
	};
	static const struct origin own = { SOURCE_PROFILE, "a file that decides what runs later",
					   0, 0 };
	int code = 0;

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]) && code == 0; i++)
		code = close_path(r, closed, str_of(always[i]), &own);
	return code;
}

static int close_written(struct srt_reader *r, struct ruleset *closed)
{
	struct rule file = { .right = RIGHT_READ,
			     .kind = RULE_SUBTREE,
			     .flags = RULE_CAP,
			     .origin = { SOURCE_PROFILE, "the settings file itself", 0, 0 } };
	int code = close_always(r, closed);

	vec_each(p, &r->deny_write.items)
		if (code == 0)
			code = close_path(r, closed, p->text, &p->origin);
	file.path = file.spelled = str_of(r->to->file);
	if (code == 0 && path_is_normal(file.path))
		code = ruleset_add(closed, &file, r->err);
	return code;
}

/* The rule that keeps a path from being written; NULL: none. */
static const struct rule *closed_by(const struct ruleset *closed, const struct srt_path *p)
{
	struct match m;

	ruleset_match(closed, p->real, &m);
	return m.control.rule;
}

static int refuse_glob(struct srt_reader *r, const struct srt_path *p, const char *key)
{
	origin_error(r->err, CORDON_E_CONFIG, stage, &p->origin,
		     "%s: %s is a glob, and this list takes none", key, quote(p->text).text);
	return err_hint(r->err, "name the directory that holds what is meant");
}

static int add_written(struct srt_reader *r, const struct ruleset *closed, const struct srt_path *p)
{
	autobuf struct buf by = buf_make(PATH_BYTES_MAX + 200);
	const struct rule *rule;

	if (p->glob)
		return refuse_glob(r, p, srt_rows[SRT_KEY_ALLOW_WRITE].name);
	rule = closed_by(closed, p);
	if (!rule)
		return add_rule(r, KEY_WRITE, p);
	origin_print(&by, &rule->origin);
	return srt_warn(r, &p->origin, "%s: %s stays closed for writing (%s)",
			srt_rows[SRT_KEY_ALLOW_WRITE].name, quote(p->text).text, by.p);
}

static bool is_written(const struct srt_reader *r, const struct ruleset *closed,
		       const struct srt_path *p)
{
	vec_each(w, &r->allow_write.items)
		if (path_below(p->real, w->real) && !closed_by(closed, w))
			return !closed_by(closed, p);
	return false;
}

/* Being read takes nothing away: what may be written stays so, although the rule is as deep
 * or deeper. */
static int add_read(struct srt_reader *r, const struct ruleset *closed, const struct srt_path *p)
{
	if (p->glob)
		return refuse_glob(r, p, srt_rows[SRT_KEY_ALLOW_READ].name);
	if (!is_written(r, closed, p))
		return add_rule(r, KEY_READ, p);
	return is_listed(&r->allow_write, p) ? 0 : add_rule(r, KEY_WRITE, p);
}

/* No mount can say a pattern. */
static int add_strength(struct srt_reader *r)
{
	const struct srt_path_list *lists[] = { &r->deny_read, &r->deny_write, &r->credentials };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		vec_each(p, &lists[i]->items)
			if (p->glob)
				return layer_add_text(r->arena, &r->to->layer, KEY_PROTECT,
						      STR("exact"), &p->origin, r->err);
	return 0;
}

int srt_add_rules(struct srt_reader *r)
{
	struct ruleset *closed = ruleset_new(r->arena);
	int code = closed ? close_written(r, closed) : err_nomem(r->err, stage);

	vec_each(p, &r->allow_write.items)
		if (code == 0)
			code = add_written(r, closed, p);
	vec_each(p, &r->allow_read.items)
		if (code == 0)
			code = add_read(r, closed, p);
	if (code == 0)
		code = add_denied(r);
	if (code == 0)
		code = add_kept(r);
	return code < 0 ? code : add_strength(r);
}
