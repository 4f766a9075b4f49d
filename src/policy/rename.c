/* SPDX-License-Identifier: Apache-2.0 */
/* Rule 11: whether names may move, and what lies below them with them. */
#include "policy/rename.h"

#include <string.h>

#include "base/buf.h"

const char *rename_why_to_string(enum rename_why why)
{
	static const char *const words[] = { "fine",  "from",	"to",	  "directory",
					     "below", "unseen", "folding" };

	return words[why];
}

/* One direction of a move. */
struct move {
	const struct policy *policy;
	struct str from, to;
	const struct tree *tree;
	size_t seen;
	struct rename_decision *ret;
};

static bool refuse(struct rename_decision *ret, enum rename_why why, struct str object,
		   const struct decision *d)
{
	ret->why = why;
	ret->decision = *d;
	object = str_take(object, sizeof(ret->object) - 1);
	memcpy(ret->object, object.p, object.n);
	ret->object[object.n] = '\0';
	return false;
}

/* Both ends are written, and nothing but a directory is put where one is needed. */
static bool ends_allow(const struct policy *policy, struct str from, struct str to, bool directory,
		       struct rename_decision *ret)
{
	struct decision d;

	if (!policy_allows(policy, POLICY_WRITE, from, &d))
		return refuse(ret, RENAME_FROM, from, &d);
	if (!policy_allows(policy, POLICY_WRITE, to, &d))
		return refuse(ret, RENAME_TO, to, &d);
	if (!directory && d.keep_directory)
		return refuse(ret, RENAME_DIRECTORY, to, &d);
	return true;
}

static bool join(struct buf *b, struct str dir, struct str below)
{
	buf_add(b, dir.n == 1 ? STR("") : dir);
	buf_addc(b, '/');
	buf_add(b, below);
	return !b->failed;
}

/* Of one object below, under both names. */
static bool same_verdict(struct move *m, struct str from, struct str to, bool directory)
{
	struct decision before = policy_decide(m->policy, from);
	struct decision after = policy_decide(m->policy, to);

	if (!directory && after.keep_directory && !before.keep_directory)
		return refuse(m->ret, RENAME_DIRECTORY, to, &after);
	if (before.data == after.data && before.exec == after.exec)
		return true;
	if (before.data < after.data || (before.data == after.data && before.exec < after.exec))
		return refuse(m->ret, RENAME_BELOW, from, &before);
	return refuse(m->ret, RENAME_BELOW, to, &after);
}

static enum tree_next visit(void *data, struct str below, enum node_type type)
{
	struct move *m = data;
	autobuf struct buf from = buf_make(sizeof(m->ret->object) - 1);
	autobuf struct buf to = buf_make(sizeof(m->ret->object) - 1);
	bool directory = type == NODE_DIR;

	if (++m->seen > RENAME_WALK_MAX || !join(&from, m->from, below) || !join(&to, m->to, below))
		return TREE_STOP;
	if (!same_verdict(m, buf_str(&from), buf_str(&to), directory))
		return TREE_STOP;
	return !directory || policy_same_below(m->policy, buf_str(&from), buf_str(&to)) ? TREE_PAST
											: TREE_INTO;
}

static bool below_allows(struct move *m)
{
	struct decision d;

	if (policy_same_below(m->policy, m->from, m->to))
		return true;
	if (!policy_same_folding(m->policy, m->from, m->to)) {
		d = policy_decide(m->policy, m->to);
		return refuse(m->ret, RENAME_FOLDING, m->from, &d);
	}
	if (m->tree && m->tree->walk(m->tree, m->from, visit, m) && m->ret->why == RENAME_FINE)
		return true;
	if (m->ret->why != RENAME_FINE)
		return false;
	d = policy_decide(m->policy, m->to);
	return refuse(m->ret, RENAME_UNSEEN, m->from, &d);
}

/* What is not known to be a file or a directory must be allowed as either. */
static bool move_allows(const struct policy *policy, struct str from, struct str to,
			const struct tree *tree, struct rename_decision *ret)
{
	struct move m = { .policy = policy, .from = from, .to = to, .tree = tree, .ret = ret };
	enum node_type type = tree ? tree->type(tree, from) : NODE_ABSENT;

	return ends_allow(policy, from, to, type == NODE_DIR, ret) &&
	       ((type != NODE_DIR && type != NODE_ABSENT) || below_allows(&m));
}

bool policy_decide_rename(const struct policy *policy, struct str from, struct str to,
			  bool exchange, const struct tree *tree, struct rename_decision *ret)
{
	ret->why = RENAME_FINE;
	ret->object[0] = '\0';
	return move_allows(policy, from, to, tree, ret) &&
	       (!exchange || move_allows(policy, to, from, tree, ret));
}

bool policy_allows_link(const struct policy *policy, struct str from, struct str to,
			struct rename_decision *ret)
{
	ret->why = RENAME_FINE;
	ret->object[0] = '\0';
	return ends_allow(policy, from, to, false, ret);
}
