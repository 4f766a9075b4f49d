/* SPDX-License-Identifier: Apache-2.0 */
#include "sbpl_read.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/vec.h"

#define DEPTH_MAX 16

struct node {
	enum { LIST, WORD, STRING } kind;
	struct str text;
	VEC(struct node *) items;
};

struct sbpl {
	struct arena *arena;
	struct sbpl_params params;
	struct str rest;
	const char *fault;
	VEC(struct node *) rules; /* allow and deny, in order */
	size_t forms;
};

static struct node *fail(struct sbpl *s, const char *fault)
{
	if (!s->fault)
		s->fault = fault;
	return NULL;
}

/* --- s-expressions -------------------------------------------------------------------- */

static void skip_blanks(struct sbpl *s)
{
	while (s->rest.n) {
		if (s->rest.p[0] == ';')
			s->rest = str_skip(s->rest, str_find(s->rest, '\n'));
		else if (s->rest.p[0] == ' ' || s->rest.p[0] == '\n')
			s->rest = str_skip(s->rest, 1);
		else
			return;
	}
}

static int take(struct sbpl *s)
{
	int c = s->rest.n ? (unsigned char)s->rest.p[0] : -1;

	s->rest = str_skip(s->rest, 1);
	return c;
}

static int hex(int c)
{
	const char *digits = "0123456789abcdef", *at = c > 0 ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The byte behind a backslash, -1 for one that is not known. */
static int escape(struct sbpl *s)
{
	int c = take(s), high, low;

	switch (c) {
	case '"':
	case '\\':
		return c;
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case 'x':
		high = hex(take(s));
		low = hex(take(s));
		return high < 0 || low < 0 ? -1 : high * 16 + low;
	}
	return -1;
}

static struct node *new_node(struct sbpl *s, int kind)
{
	struct node *n = arena_new(s->arena, struct node);

	if (!n)
		abort();
	n->kind = kind;
	return n;
}

static struct node *read_string(struct sbpl *s)
{
	struct node *n = new_node(s, STRING);
	char *text = arena_alloc(s->arena, s->rest.n + 1);
	size_t length = 0;
	int c;

	while ((c = take(s)) != '"') {
		if (c == '\\')
			c = escape(s);
		if (c < 0)
			return fail(s, "a string that does not end, or an escape that is none");
		if (c == '\n' && s->rest.p[-1] == '\n')
			return fail(s, "a line ends in a string");
		text[length++] = (char)c;
	}
	n->text = (struct str){ text, length };
	return n;
}

static bool is_word(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '*';
}

static struct node *read_word(struct sbpl *s)
{
	struct node *n = new_node(s, WORD);
	size_t length = 0;

	while (length < s->rest.n && is_word((unsigned char)s->rest.p[length]))
		length++;
	if (!length)
		return fail(s, "a character that begins nothing");
	n->text = str_take(s->rest, length);
	s->rest = str_skip(s->rest, length);
	return n;
}

static struct node *read_node(struct sbpl *s, unsigned depth)
{
	struct node *n;

	skip_blanks(s);
	if (!s->rest.n || depth > DEPTH_MAX)
		return fail(s, "a list that does not end");
	if (s->rest.p[0] == '"') {
		take(s);
		return read_string(s);
	}
	if (s->rest.p[0] != '(')
		return read_word(s);
	take(s);
	n = new_node(s, LIST);
	for (skip_blanks(s); s->rest.n && s->rest.p[0] != ')'; skip_blanks(s)) {
		struct node **slot = vec_push(&n->items, s->arena);
		struct node *item = read_node(s, depth + 1);

		if (!item || !slot)
			return NULL;
		*slot = item;
	}
	return take(s) == ')' ? n : fail(s, "a list that does not end");
}

/* --- meaning -------------------------------------------------------------------------- */

static bool is(const struct node *n, const char *word)
{
	return n->kind == WORD && str_eq(n->text, str_of(word));
}

static bool is_form(const struct node *n, const char *word)
{
	return n->kind == LIST && n->items.n && is(n->items.at[0], word);
}

/* The value of an expression for a string; no pointer when there is none. */
static struct str value(struct sbpl *s, const struct node *n)
{
	struct str first, whole = { "", 0 };

	if (n->kind == STRING)
		return n->text;
	if (is_form(n, "param") && n->items.n == 2) {
		first = n->items.at[1]->text;
		if (str_eq(first, STR("WORKDIR")))
			return s->params.workdir;
		if (str_eq(first, STR("HOME")))
			return s->params.home;
		if (str_eq(first, STR("TMPDIR")))
			return s->params.tmpdir;
	}
	if (is_form(n, "regex-quote") && n->items.n == 2) {
		char *text;
		size_t length = 0;

		first = value(s, n->items.at[1]);
		text = arena_alloc(s->arena, 2 * first.n + 1);
		for (size_t i = 0; i < first.n; i++) {
			if (strchr(".[]{}()\\*+?|^$", first.p[i]))
				text[length++] = '\\';
			text[length++] = first.p[i];
		}
		return (struct str){ text, length };
	}
	if (!is_form(n, "string-append")) {
		fail(s, "not an expression for a string");
		return (struct str){ 0 };
	}
	for (size_t i = 1; i < n->items.n; i++) {
		char *text;

		first = value(s, n->items.at[i]);
		text = arena_alloc(s->arena, whole.n + first.n + 1);
		memcpy(text, whole.p, whole.n);
		if (first.n)
			memcpy(text + whole.n, first.p, first.n);
		whole = (struct str){ text, whole.n + first.n };
	}
	return whole;
}

static bool matches_regex(struct sbpl *s, struct str pattern, struct str path)
{
	char *text = arena_dup(s->arena, path);
	regex_t regex;
	bool hit;

	if (strlen(pattern.p) != pattern.n || pattern.p[0] != '^' ||
	    regcomp(&regex, pattern.p, REG_EXTENDED | REG_NOSUB) != 0) {
		fail(s, "a pattern that is none");
		return false;
	}
	hit = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return hit;
}

static bool matches(struct sbpl *s, const struct node *filter, struct str path)
{
	static const char *const others[] = { "target", "global-name",	  "local",
					      "remote", "ipc-posix-name", NULL };
	struct str text;

	if (is_form(filter, "require-all")) {
		bool all = true;

		for (size_t i = 1; i < filter->items.n; i++)
			all &= matches(s, filter->items.at[i], path);
		return all;
	}
	for (const char *const *name = others; *name; name++)
		if (is_form(filter, *name))
			return false;
	if (filter->kind != LIST || filter->items.n != 2) {
		fail(s, "not a filter");
		return false;
	}
	text = value(s, filter->items.at[1]);
	if (!text.n) {
		fail(s, "a filter without a value");
		return false;
	}
	if (is_form(filter, "regex"))
		return matches_regex(s, text, path);
	if (!path_is_normal(text)) {
		fail(s, "a path that is not normal");
		return false;
	}
	if (is_form(filter, "literal"))
		return str_eq(text, path);
	if (is_form(filter, "subpath"))
		return path_below(path, text);
	if (is_form(filter, "path-ancestors"))
		return path_below(text, path) && text.n > path.n;
	fail(s, "an unknown filter");
	return false;
}

static bool is_known_op(const struct node *n)
{
	static const char *const known[] = {
		"default",
		"file-read*",
		"file-read-data",
		"file-read-metadata",
		"file-write*",
		"file-write-data",
		"file-write-create",
		"file-write-unlink",
		"file-ioctl",
		"file-link",
		"file-clone",
		"file-map-executable",
		"process-exec*",
		"process-fork",
		"process-info*",
		"signal",
		"sysctl-read",
		"mach-lookup",
		"mach-priv-task-port",
		"ipc-posix-sem",
		"ipc-posix-shm-read-data",
		"lsopen",
		"appleevent-send",
		"job-creation",
		"network*",
		"network-outbound",
		"network-bind",
		"network-inbound",
		"system-socket",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is(n, known[i]))
			return true;
	return false;
}

static void add_rule(struct sbpl *s, struct node *rule)
{
	struct node **slot = vec_push(&s->rules, s->arena);
	size_t i = 1;

	while (i < rule->items.n && is_known_op(rule->items.at[i]))
		i++;
	if (i == 1)
		fail(s, "a rule without an operation");
	/* Finds what is wrong with a filter, whether it matches or not. */
	for (; i < rule->items.n; i++)
		matches(s, rule->items.at[i], STR("/"));
	*slot = rule;
}

static void add_form(struct sbpl *s, struct node *form)
{
	if (is_form(form, "allow") || is_form(form, "deny"))
		add_rule(s, form);
	else if (is_form(form, "if") && form->items.n == 3 && form->items.at[2]->kind == LIST) {
		if (value(s, form->items.at[1]).n)
			add_form(s, form->items.at[2]);
	} else if (!is_form(form, "version") || s->forms != 0 || form->items.n != 2)
		fail(s, "an unknown form");
	s->forms++;
}

struct sbpl *sbpl_read(struct arena *a, struct str text, const struct sbpl_params *params,
		       const char **ret_fault)
{
	struct sbpl *s = arena_new(a, struct sbpl);

	*s = (struct sbpl){ .arena = a, .params = *params, .rest = text };
	for (skip_blanks(s); s->rest.n && !s->fault; skip_blanks(s)) {
		struct node *form = read_node(s, 0);

		if (form)
			add_form(s, form);
	}
	if (!s->forms)
		fail(s, "nothing at all");
	*ret_fault = s->fault;
	return s->fault ? NULL : s;
}

/* The last rule that names the operation and matches: 1 allows, 0 denies, -1 none. */
static int last_word(const struct sbpl *s, const char *op, const struct str *path)
{
	autoarena struct arena scratch;
	struct sbpl copy = *s;

	arena_init(&scratch, (size_t)64 << 20);
	copy.arena = &scratch;
	for (size_t i = s->rules.n; i-- > 0;) {
		const struct node *rule = s->rules.at[i];
		bool named = false, hit = false, filtered = false;

		for (size_t j = 1; j < rule->items.n; j++) {
			const struct node *item = rule->items.at[j];

			named |= is(item, op);
			if (item->kind != LIST)
				continue;
			filtered = true;
			hit |= path && named && matches(&copy, item, *path);
		}
		if (named && (hit || !filtered))
			return is_form(rule, "allow");
	}
	return -1;
}

static bool allows(const struct sbpl *s, const char *op, const struct str *path)
{
	const char *dash = strrchr(op, '-');
	char family[64];
	int word = last_word(s, op, path);

	if (word < 0 && dash) {
		snprintf(family, sizeof(family), "%.*s*", (int)(dash - op), op);
		word = last_word(s, family, path);
	}
	if (word < 0)
		word = last_word(s, "default", path);
	return word == 1;
}

bool sbpl_allows(const struct sbpl *profile, const char *op, struct str path)
{
	return allows(profile, op, &path);
}

bool sbpl_allows_all(const struct sbpl *profile, const char *op)
{
	return allows(profile, op, NULL);
}

size_t sbpl_count(const struct sbpl *profile)
{
	return profile->forms;
}
