/* SPDX-License-Identifier: Apache-2.0 */
/* Flattening of a policy's rules, for `config show`. */
#include "cli/effective.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "fmt/utf8.h"

#define stage "config"

struct flattening {
	struct arena *arena;
	const struct policy *policy;
	struct effective *to;
	VEC(const struct rule *) plain;
	bool out_of_memory;
};

static void print_byte_or_char(struct buf *b, struct str *s)
{
	size_t n = utf8_length(*s);

	if (n)
		buf_add(b, str_take(*s, n));
	else
		buf_addf(b, "\\x%02x", (unsigned char)s->p[0]);
	*s = str_skip(*s, n ? n : 1);
}

void effective_print_path(struct buf *b, struct str path)
{
	while (path.n) {
		if (strchr("*?[\\{", path.p[0]))
			buf_addc(b, '\\');
		print_byte_or_char(b, &path);
	}
}

/* In a pattern only what is quoted is quoted again; a bare brace came from a place's
 * own name. */
static void print_glob(struct buf *b, struct str glob)
{
	while (glob.n) {
		if (glob.p[0] == '\\' && glob.n > 1) {
			glob = str_skip(glob, 1);
			if (strchr("*?[]\\{", glob.p[0]))
				buf_addc(b, '\\');
		} else if (glob.p[0] == '{') {
			buf_addc(b, '\\');
		}
		print_byte_or_char(b, &glob);
	}
}

void effective_print_rule_path(struct buf *b, const struct rule *rule)
{
	if (rule->kind == RULE_EXACT)
		buf_addc(b, '=');
	if (rule->kind == RULE_GLOB)
		print_glob(b, rule->path);
	else
		effective_print_path(b, rule->path);
}

static struct effective_rule *add(struct flattening *f, enum right right, const struct rule *rule)
{
	struct effective_rule *e = vec_push(&f->to->rules, f->arena);

	if (e)
		*e = (struct effective_rule){ .right = right, .rule = rule };
	else
		f->out_of_memory = true;
	return e;
}

static void gather(struct flattening *f, const struct ruleset *rules)
{
	for (size_t i = 0; rules && i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);
		const struct rule **slot;

		if (rule->flags & RULE_PRIVATE || rule->kind == RULE_GLOB)
			continue;
		slot = vec_push(&f->plain, f->arena);
		if (slot)
			*slot = rule;
		else
			f->out_of_memory = true;
	}
}

static int by_path(const void *a, const void *b)
{
	const struct rule *const *x = a, *const *y = b;
	int c = str_cmp((*x)->path, (*y)->path);

	return c ? c : (int)(*x)->kind - (int)(*y)->kind;
}

static enum right right_of(const struct decision *d)
{
	if (d->data == ACCESS_WRITE || d->data_layer == LAYER_HIDDEN)
		return RIGHT_WRITE;
	return d->data == ACCESS_READ ? RIGHT_READ : RIGHT_DENY;
}

/* Would the grant be an error elsewhere, because there is nothing to show? */
static bool is_absent(const struct flattening *f, const struct rule *rule, const struct decision *d)
{
	struct decision above = policy_decide(f->policy, path_parent(rule->path));

	return rule->flags & RULE_OPTIONAL && rule->node.type == NODE_ABSENT &&
	       d->data > above.data;
}

static void flatten_data(struct flattening *f, const struct rule *rule, const struct match *m)
{
	struct decision d = policy_decide(f->policy, rule->path);
	struct effective_rule *e;

	if (!d.data_rule)
		return;
	e = add(f, right_of(&d), d.data_rule);
	if (!e)
		return;
	/* The deciding rule may be another one's, higher up: the place is this one. */
	if (!str_eq(d.data_rule->path, rule->path) || d.data_rule->kind != rule->kind) {
		struct rule *copy = arena_new(f->arena, struct rule);

		f->out_of_memory |= !copy;
		if (!copy)
			return;
		*copy = *d.data_rule;
		copy->path = rule->path;
		copy->kind = rule->kind;
		e->rule = copy;
	}
	e->absent = is_absent(f, rule, &d);
	if (d.data != ACCESS_NONE && m->exec.rule && m->exec.rule->right == RIGHT_DENY)
		e->remark = "not executable, which one file cannot say";
}

/* `first` to `last`: all rules on one path and of one kind. */
static void flatten_path(struct flattening *f, const struct rule **first, const struct rule **last)
{
	bool data = false, exec = false;
	struct match m;

	for (const struct rule **r = first; r < last; r++) {
		data |= (*r)->right != RIGHT_EXEC;
		exec |= (*r)->right == RIGHT_EXEC;
	}
	ruleset_match(f->policy->trusted.rules, (*first)->path, &m);
	if (data)
		flatten_data(f, *first, &m);
	if (exec && m.exec.rule && m.exec.rule->right == RIGHT_EXEC &&
	    str_eq(m.exec.rule->path, (*first)->path)) {
		struct effective_rule *e = add(f, RIGHT_EXEC, m.exec.rule);

		if (e)
			e->absent = m.exec.rule->flags & RULE_OPTIONAL &&
				    m.exec.rule->node.type == NODE_ABSENT;
	}
}

/* Patterns stay as they are. One of a project file or a locked one is kept only where
 * it denies: anything else would give something. */
static void flatten_globs(struct flattening *f, const struct ruleset *rules, bool narrows)
{
	for (size_t i = 0; rules && i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);

		if (rule->kind == RULE_GLOB && !(rule->flags & RULE_ALIAS) &&
		    (!narrows || rule->right == RIGHT_DENY))
			add(f, rule->right, rule);
	}
}

int effective_rules(struct arena *a, const struct policy *policy, struct effective *ret,
		    struct cordon_error *err)
{
	struct flattening f = { .arena = a, .policy = policy, .to = ret };
	size_t from = 0;

	*ret = (struct effective){ 0 };
	gather(&f, policy->trusted.rules);
	vec_each(o, &policy->narrowing)
		gather(&f, (*o)->settings.rules);
	if (f.plain.n)
		qsort(f.plain.at, f.plain.n, sizeof(*f.plain.at), by_path);
	for (size_t i = 1; i <= f.plain.n; i++) {
		if (i < f.plain.n && by_path(&f.plain.at[from], &f.plain.at[i]) == 0)
			continue;
		flatten_path(&f, f.plain.at + from, f.plain.at + i);
		from = i;
	}
	flatten_globs(&f, policy->trusted.rules, false);
	vec_each(o, &policy->narrowing)
		flatten_globs(&f, (*o)->settings.rules, true);
	return f.out_of_memory ? err_nomem(err, stage) : 0;
}
