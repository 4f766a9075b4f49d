/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths and hosts in complaints. What could be the path is tried in turn; the first that
 * exists and is refused by the policy counts, so that a wrong guess costs nothing.
 */
#include "report/infer.h"

#include <string.h>

#include "base/path.h"
#include "report/shown.h"

#define LINE_BYTES_MAX 8192
/* How far above the error cargo and others name the path: blank lines and "Caused by:"
 * stand between. */
#define LINES_ABOVE 3

enum reason { REASON_DENIED, REASON_FROZEN, REASON_MISSING };

static const struct {
	struct str words;
	enum reason kind;
} reasons[] = {
#define INFER_REASON(words, kind) { STR(words), REASON_##kind },
#include "report/infer.def"
#undef INFER_REASON
};

static const struct {
	struct str word;
	enum violation_op op;
} verbs[] = {
#define INFER_VERB(word, op) { STR(word), VIOLATION_##op },
#include "report/infer.def"
#undef INFER_VERB
};

struct complaint {
	struct infer *in;
	struct str line;
	struct str before, after; /* the words of the error */
	enum reason reason;
	bool has_verb;
	enum violation_op verb;
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Where `words`, in lower case, begin in s; s.n when they do not occur. */
static size_t find_words(struct str s, struct str words)
{
	for (size_t at = 0; words.n <= s.n && at <= s.n - words.n; at++) {
		size_t i = 0;

		while (i < words.n && lower(s.p[at + i]) == words.p[i])
			i++;
		if (i == words.n)
			return at;
	}
	return s.n;
}

static bool find_reason(struct str line, struct complaint *ret)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		size_t at = find_words(line, reasons[i].words);

		if (at == line.n)
			continue;
		ret->line = line;
		ret->before = str_take(line, at);
		ret->after = str_skip(line, at + reasons[i].words.n);
		ret->reason = reasons[i].kind;
		return shown_as_error(ret->before, ret->after);
	}
	return false;
}

static void find_verb(struct complaint *c)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && !c->has_verb; i++) {
		c->has_verb = find_words(c->line, verbs[i].word) < c->line.n;
		c->verb = verbs[i].op;
	}
}

/* --- judging a path ---------------------------------------------------------------------- */

static bool refuses(const struct infer *in, enum violation_op op, struct str real,
		    const struct rule **ret_rule)
{
	enum policy_op what = op == VIOLATION_read  ? POLICY_READ :
			      op == VIOLATION_write ? POLICY_WRITE :
						      POLICY_EXEC;
	struct decision d;

	if (policy_allows(in->policy, what, real, &d))
		return false;
	*ret_rule = op == VIOLATION_exec ? d.exec_rule : d.data_rule;
	return true;
}

/* The operation that the complaint is about, if the policy refuses one. Without a verb
 * the weakest that is refused: who may not even read was stopped there. That it was about
 * writing is guessed only where a write that is refused is seen by nobody and says no more:
 * the same words come from whoever may not read or execute a file of others. */
static bool refused_op(const struct complaint *c, struct str real, enum violation_op *ret,
		       const struct rule **ret_rule)
{
	static const enum violation_op order[] = { VIOLATION_read, VIOLATION_write,
						   VIOLATION_exec };

	if (c->reason == REASON_MISSING && !refuses(c->in, VIOLATION_read, real, ret_rule))
		return false;
	if (c->reason == REASON_FROZEN || (c->has_verb && c->verb == VIOLATION_write)) {
		*ret = VIOLATION_write;
		return refuses(c->in, VIOLATION_write, real, ret_rule);
	}
	if (c->has_verb) {
		*ret = c->verb;
		return refuses(c->in, c->verb, real, ret_rule);
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if ((order[i] != VIOLATION_write || c->in->guesses_writes) &&
		    refuses(c->in, order[i], real, ret_rule)) {
			*ret = order[i];
			return true;
		}
	return false;
}

/* Is it there, or for writing at least where it would be? */
static bool is_there(const struct infer *in, enum violation_op op, struct str real,
		     const struct node *node)
{
	const char *parent = arena_dup(in->arena, path_parent(real));
	struct cordon_error ignored;
	struct node above;
	struct str dir;

	if (node->type != NODE_ABSENT)
		return true;
	if (op != VIOLATION_write || !parent)
		return false;
	return in->world.resolve(&in->world, in->arena, str_of(parent), &dir, &above,
				 &ignored) == 0 &&
	       above.type == NODE_DIR;
}

static char *full_path(const struct infer *in, struct str text)
{
	const struct places *places = &in->policy->places;

	if (str_starts(text, STR("~/")))
		return path_normalise(in->arena, places->home, str_skip(text, 2));
	return path_normalise(in->arena, text.p[0] == '/' ? STR("/") : places->workdir, text);
}

/* What somebody saw is not told again as a guess. */
static void note(struct infer *in, const struct violation *v)
{
	if (!violations_has_object(in->violations, v->object))
		violations_add(in->violations, v);
}

static bool try_path(const struct complaint *c, struct str text)
{
	struct violation v = { .source = VIOLATION_BY_inferred };
	struct infer *in = c->in;
	struct cordon_error ignored;
	struct node node;
	char *path;

	text = str_trim(text);
	if (!text.n || text.n > PATH_BYTES_MAX || in->tries++ >= INFER_TRIES_MAX)
		return false;
	/* 'Permission denied' in quotes. */
	if (text.p <= c->before.p + c->before.n && text.p + text.n >= c->after.p &&
	    text.p >= c->line.p)
		return false;
	path = full_path(in, text);
	if (!path || in->world.resolve(&in->world, in->arena, str_of(path), &v.object, &node,
				       &ignored) < 0)
		return false;
	if (!refused_op(c, v.object, &v.op, &v.rule) || !is_there(in, v.op, v.object, &node))
		return false;
	note(in, &v);
	return true;
}

/* --- what could be the path ---------------------------------------------------------------- */

/* 'x', "x", `x` and the curly quotes of coreutils in a UTF-8 locale. */
static const struct {
	struct str open, close;
} quotes[] = {
	{ STR("\xe2\x80\x98"), STR("\xe2\x80\x99") },
	{ STR("'"), STR("'") },
	{ STR("\""), STR("\"") },
	{ STR("`"), STR("`") },
};

static bool find_text(struct str s, struct str what, size_t *ret)
{
	const char *at = s.n ? memmem(s.p, s.n, what.p, what.n) : NULL;

	if (at)
		*ret = (size_t)(at - s.p);
	return at != NULL;
}

static bool try_quoted(const struct complaint *c, struct str s)
{
	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++) {
		struct str rest = s;
		size_t from, length;

		while (find_text(rest, quotes[i].open, &from)) {
			rest = str_skip(rest, from + quotes[i].open.n);
			if (!find_text(rest, quotes[i].close, &length))
				break;
			if (try_path(c, str_take(rest, length)))
				return true;
			rest = str_skip(rest, length + quotes[i].close.n);
		}
	}
	return false;
}

/* The part after the last ": ", or all of it. */
static struct str last_field(struct str s)
{
	for (size_t i = s.n; i >= 2; i--)
		if (s.p[i - 2] == ':' && s.p[i - 1] == ' ')
			return str_skip(s, i);
	return s;
}

/* "cat: PATH", "sh: 1: cannot create PATH", "open PATH": the field as a whole, then
 * shorter by a word at a time; the last word of a sentence is no path without a slash. */
static bool try_field(const struct complaint *c, struct str field)
{
	bool found = try_path(c, field);

	while (!found) {
		size_t space = str_find(field, ' ');

		if (space == field.n)
			return false;
		field = str_skip(field, space + 1);
		found = str_find(field, '/') < field.n && try_path(c, field);
	}
	return found;
}

/* "PATH: Permission denied", "PATH (Permission denied)". */
static bool try_before(const struct complaint *c)
{
	struct str s = c->before;

	/* node: "EACCES: permission denied"; Python: "[Errno 13] Permission denied". */
	if (str_ends(s, STR(" (")))
		return try_field(c, last_field(str_take(s, s.n - 2)));
	if (str_ends(s, STR(": ")))
		return try_field(c, last_field(str_take(s, s.n - 2)));
	return false;
}

/* "AccessDeniedException: PATH", "PATH" up to the next field. */
static bool try_after(const struct complaint *c)
{
	struct str field, rest;

	if (!str_starts(c->after, STR(": ")))
		return false;
	str_cut(str_skip(c->after, 2), ':', &field, &rest);
	return try_field(c, field);
}

/* --- hosts --------------------------------------------------------------------------------- */

static const struct str host_words[] = {
#define INFER_HOST(words) STR(words),
#include "report/infer.def"
#undef INFER_HOST
};

/* The word that s begins with, without quotes around it. */
static struct str first_word(struct str s)
{
	static const char inside[] = "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._+";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++)
		if (str_starts(s, quotes[i].open))
			s = str_skip(s, quotes[i].open.n);
	while (n < s.n && memchr(inside, s.p[n], sizeof(inside) - 1))
		n++;
	return str_take(s, n);
}

static void try_host(struct infer *in, struct str name)
{
	struct violation v = { .op = VIOLATION_resolve, .source = VIOLATION_BY_inferred };
	struct cordon_error ignored;
	struct host host;

	if (in->tries++ >= INFER_TRIES_MAX || host_parse_target(name, &host, &ignored) < 0 ||
	    policy_decide_host(in->policy, &host).allowed)
		return;
	v.object = name;
	note(in, &v);
}

static bool look_for_host(struct infer *in, struct str line)
{
	for (size_t i = 0; i < sizeof(host_words) / sizeof(host_words[0]); i++) {
		size_t at = find_words(line, host_words[i]);

		if (at == line.n)
			continue;
		in->complaints++;
		try_host(in, first_word(str_skip(line, at + host_words[i].n)));
		return true;
	}
	return false;
}

/* --- programs ------------------------------------------------------------------------------ */

static const struct {
	struct str words;
	bool after;
} unfound[] = {
#define BEFORE false
#define AFTER true
#define INFER_PROGRAM(words, side) { STR(words), side },
#include "report/infer.def"
#undef INFER_PROGRAM
#undef AFTER
#undef BEFORE
};

/* 1: it is there and may not be executed, 0: nothing is there, -1: it is for others to say. */
static int ask_program(struct infer *in, const char *path)
{
	const struct rule *ignored_rule;
	struct cordon_error ignored;
	struct node node;
	struct str real;

	if (!path || in->tries++ >= INFER_TRIES_MAX ||
	    in->world.resolve(&in->world, in->arena, str_of(path), &real, &node, &ignored) < 0)
		return -1;
	if (node.type != NODE_FILE)
		return 0;
	return refuses(in, VIOLATION_exec, real, &ignored_rule) ? 1 : -1;
}

/* The first that is there is the one that is meant. */
const char *infer_program(struct infer *in, struct str name)
{
	struct str rest = in->search ? str_of(in->search) : (struct str){ 0 }, dir;
	bool more = rest.n;
	int found = 0;

	if (!name.n || name.n > PATH_BYTES_MAX || str_find(name, '/') < name.n)
		return NULL;
	while (more && found == 0) {
		const char *path;

		more = str_cut(rest, ':', &dir, &rest);
		if (!dir.n || dir.p[0] != '/')
			continue;
		path = arena_printf(in->arena, "%.*s/%.*s", STR_ARG(dir), STR_ARG(name));
		if (path)
			path = path_normalise(in->arena, STR("/"), str_of(path));
		found = ask_program(in, path);
		if (found > 0)
			return path;
	}
	return NULL;
}

static bool look_for_program(struct infer *in, struct str line)
{
	struct violation v = { .op = VIOLATION_exec, .source = VIOLATION_BY_inferred };

	for (size_t i = 0; i < sizeof(unfound) / sizeof(unfound[0]); i++) {
		size_t at = find_words(line, unfound[i].words);
		struct str after = str_skip(line, at + unfound[i].words.n), name;
		const char *path;

		if (at == line.n)
			continue;
		name = unfound[i].after ? after : last_field(str_take(line, at));
		path = infer_program(in, first_word(name));
		if (!path)
			continue;
		in->complaints++;
		v.object = str_of(path);
		note(in, &v);
		return true;
	}
	return false;
}

/* --- texts --------------------------------------------------------------------------------- */

/* cargo: "error: ... `PATH`", a blank line, "Caused by:", the error. No other line above
 * counts: the frames of a traceback name files as well. */
static bool try_above(const struct complaint *c, const struct str *above)
{
	if (!str_eq(str_trim(above[0]), STR("Caused by:")))
		return false;
	for (unsigned i = 1; i < LINES_ABOVE; i++)
		if (try_quoted(c, str_take(above[i], LINE_BYTES_MAX)))
			return true;
	return false;
}

static void look_at(struct infer *in, struct str line, const struct str *above)
{
	struct complaint c = { .in = in };

	line = str_take(line, LINE_BYTES_MAX);
	if (shown_line(line) || look_for_host(in, line) || look_for_program(in, line) ||
	    !find_reason(line, &c))
		return;
	in->complaints++;
	find_verb(&c);
	if (!try_quoted(&c, line) && !try_before(&c) && !try_after(&c))
		try_above(&c, above);
}

void infer_text(struct infer *in, struct str text)
{
	struct str above[LINES_ABOVE] = { { 0 } }, line;

	if (text.n > INFER_BYTES_MAX)
		text = str_skip(text, text.n - INFER_BYTES_MAX);
	while (text.n && in->complaints < INFER_COMPLAINTS_MAX) {
		str_cut(text, '\n', &line, &text);
		if (str_ends(line, STR("\r")))
			line.n--;
		look_at(in, line, above);
		memmove(above + 1, above, sizeof(above) - sizeof(above[0]));
		above[0] = line;
	}
}

/* --- rights -------------------------------------------------------------------------------- */

static const struct str powerless_words[] = {
#define INFER_POWERLESS(words) STR(words),
#include "report/infer.def"
#undef INFER_POWERLESS
};

static const struct {
	struct str words;
	enum key key;
} limits[] = {
#define INFER_LIMIT(words, key) { STR(words), KEY_##key },
#include "report/infer.def"
#undef INFER_LIMIT
};

bool infer_is_limited(struct str text, enum key key)
{
	if (text.n > INFER_BYTES_MAX)
		text = str_skip(text, text.n - INFER_BYTES_MAX);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].key == key && find_words(text, limits[i].words) < text.n)
			return true;
	return false;
}

bool infer_is_full(struct str text)
{
	static const char words[] = "No space left on device";

	return text.n && memmem(text.p, text.n, words, sizeof(words) - 1);
}

bool infer_is_powerless(struct str text)
{
	if (text.n > INFER_BYTES_MAX)
		text = str_skip(text, text.n - INFER_BYTES_MAX);
	for (size_t i = 0; i < sizeof(powerless_words) / sizeof(powerless_words[0]); i++)
		if (text.n && memmem(text.p, text.n, powerless_words[i].p, powerless_words[i].n))
			return true;
	return false;
}
