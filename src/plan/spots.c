/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which paths the file part of a plan has to look at: those that rules name, hidden names that
 * exist, the host's sockets. Patterns name none; they become operations here.
 */
#include "plan/plan_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "fmt/glob.h"

static void add_spot(struct compiler *c, struct spots *spots, struct spot spot)
{
	struct spot *p = vec_push(&spots->items, c->arena);

	if (p)
		*p = spot;
	else
		c->out_of_memory = true;
}

static int refuse_rule(struct compiler *c, const struct rule *rule, const char *why)
{
	autobuf struct buf where = buf_make(8192);

	origin_print(&where, &rule->origin);
	return err_set(c->err, CORDON_E_CONFIG, 0, "compile", "%s: '%s': %s", where.p,
		       rule->spelled.p, why);
}

/* The directory in which the pattern of a glob begins. */
static struct str literal_part(struct str glob)
{
	struct str rest = glob, part;
	size_t n = 0;

	while (path_next(&rest, &part) && !glob_has_magic(part))
		n = (size_t)(part.p - glob.p) + part.n;
	return n ? str_take(glob, n) : STR("/");
}

/* Does a read rule by pattern give something, rather than take writing away? */
static bool glob_opens(const struct compiler *c, const struct rule *rule)
{
	struct decision d = policy_decide(c->in->policy, literal_part(rule->path));

	return rule->right == RIGHT_READ && d.data == ACCESS_NONE;
}

/* Where a program may be executed only by a rule that names where it is, nothing that a pattern
 * denies is one unless there is such a rule. */
static bool executes_below(const struct compiler *c, struct str dir)
{
	const struct ruleset *rules = c->in->policy->trusted.rules;
	struct decision d = policy_decide(c->in->policy, dir);
	bool named = false;

	for (size_t i = 0; i < ruleset_count(rules); i++)
		named |= ruleset_at(rules, i)->right == RIGHT_EXEC &&
			 path_below(ruleset_at(rules, i)->path, dir);
	return named || d.exec || d.data == ACCESS_NONE;
}

static struct op *emit_glob(struct compiler *c, enum op_kind kind, const struct rule *rule)
{
	struct op *op = plan_emit(c, kind, rule->path);

	if (op)
		op->rule = rule;
	return op;
}

/* A glob protects names; it cannot show or hide a tree that exists (rule 9). */
static int place_glob(struct compiler *c, const struct rule *rule)
{
	if (rule->flags & RULE_ALIAS)
		return 0;
	if (rule->right == RIGHT_WRITE || rule->right == RIGHT_EXEC || glob_opens(c, rule)) {
		refuse_rule(c, rule, "a grant must name its directories");
		return err_hint(c->err, "grant the directory above it and deny what must stay out");
	}
	if (rule->right == RIGHT_DENY &&
	    policy_number(c->in->policy, KEY_PROTECT) != PROTECT_EXACT) {
		refuse_rule(c, rule, "hiding what exists by a pattern needs protect = \"exact\"");
		if (c->in->claims->enforces[OP_HIDE_GLOB])
			return err_hint(c->err, "add --protect exact, or name the paths");
		return err_hint(c->err, "name the paths, or the directory they are in: this "
					"backend cannot hide what matches a pattern");
	}
	if (rule->right != RIGHT_DENY)
		emit_glob(c, OP_GUARD_GLOB, rule);
	else if (emit_glob(c, OP_HIDE_GLOB, rule) && executes_below(c, literal_part(rule->path)))
		emit_glob(c, OP_NOEXEC_GLOB, rule);
	return 0;
}

static int collect_rules(struct compiler *c, const struct ruleset *rules, struct spots *spots)
{
	for (size_t i = 0; rules && i < ruleset_count(rules); i++) {
		const struct rule *rule = ruleset_at(rules, i);
		int r = 0;

		if (rule->kind == RULE_GLOB)
			r = place_glob(c, rule);
		else if (rule->kind == RULE_EXACT && rule->node.type == NODE_DIR)
			r = refuse_rule(c, rule,
					"'=' singles out a file, and this is a directory");
		else
			add_spot(c, spots,
				 (struct spot){ rule->path, rule->node, rule,
						.link = rule->flags & RULE_VIA_LINK });
		if (r < 0)
			return r;
	}
	return 0;
}

/* By bytes, with the slash before all others, so that a directory comes right before
 * what is below it. */
static int compare_paths(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	/* Most have a long beginning in common. */
	while (i + 8 <= n && memcmp(a.p + i, b.p + i, 8) == 0)
		i += 8;
	while (i < n && a.p[i] == b.p[i])
		i++;
	if (i == n)
		return a.n < b.n ? -1 : a.n > b.n;
	if (a.p[i] == '/' || b.p[i] == '/')
		return a.p[i] == '/' ? -1 : 1;
	return (unsigned char)a.p[i] < (unsigned char)b.p[i] ? -1 : 1;
}

static int by_path(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	int c = compare_paths(x->path, y->path);

	/* The same path twice: what exists first, then what a rule names. */
	if (!c)
		c = (y->node.type != NODE_ABSENT) - (x->node.type != NODE_ABSENT);
	return c ? c : !!y->rule - !!x->rule;
}

static void collect_hidden(struct compiler *c, struct spots *spots)
{
	const struct plan_input *in = c->in;
	unsigned hidden = (unsigned)policy_number(in->policy, KEY_HIDDEN_WRITES);
	struct op *op;

	if (hidden == HIDDEN_ALLOW)
		return;
	for (size_t i = 0; i < in->hidden_count; i++)
		add_spot(c, spots, (struct spot){ in->hidden[i].path, in->hidden[i].node });
	op = plan_emit(c, OP_GUARD_HIDDEN, in->policy->places.workdir);
	if (op)
		op->source = str_of(choice_to_string(CHOICES_HIDDEN, hidden));
}

/* Connecting to a socket needs no mount that is writable, so each one that shows is
 * covered. */
static void collect_sockets(struct compiler *c, struct spots *spots)
{
	const struct plan_input *in = c->in;

	for (size_t i = 0; i < in->socket_count; i++)
		add_spot(c, spots,
			 (struct spot){ in->sockets[i].path, in->sockets[i].node,
					.socket = true });
	plan_emit(c, in->sockets_known ? OP_COVER_SOCKETS : OP_KNOW_SOCKETS, STR(""));
}

int plan_spots(struct compiler *c, struct spots *ret)
{
	const struct policy *policy = c->in->policy;
	int r = collect_rules(c, policy->trusted.rules, ret);

	vec_each(o, &policy->narrowing)
		if (r == 0)
			r = collect_rules(c, (*o)->settings.rules, ret);
	if (r == 0)
		r = collect_rules(c, policy->own, ret);
	if (r < 0)
		return r;
	collect_hidden(c, ret);
	collect_sockets(c, ret);
	if (!c->out_of_memory)
		qsort(ret->items.at, ret->items.n, sizeof(ret->items.at[0]), by_path);
	return 0;
}
