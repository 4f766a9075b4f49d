/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing two snapshots, and telling the difference. */
#include "report/changes.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "fmt/glob.h"
#include "fmt/json.h"

static const struct {
	struct str pattern;
	const char *who;
} later[] = {
#define LATER(pattern, who) { STR(pattern), who },
#include "report/later.def"
#undef LATER
};

const char *change_kind_to_string(enum change_kind kind)
{
	static const char *const names[] = { "created", "changed", "deleted" };

	return names[kind];
}

/* --- names that run later ------------------------------------------------------------------ */

/* Do the components of the pattern match the last ones of the path? */
static bool ends_like(struct str path, struct str pattern)
{
	while (pattern.n) {
		size_t slash = pattern.n;

		while (slash && pattern.p[slash - 1] != '/')
			slash--;
		if (path.n <= 1 || !glob_component_match(str_skip(pattern, slash), path_last(path)))
			return false;
		pattern = str_take(pattern, slash ? slash - 1 : 0);
		path = path_parent(path);
	}
	return true;
}

static bool runs_later(struct str path, struct str pattern)
{
	if (!str_ends(pattern, STR("/")))
		return ends_like(path, pattern);
	pattern.n--;
	while (path.n > 1) {
		path = path_parent(path);
		if (ends_like(path, pattern))
			return true;
	}
	return false;
}

const char *later_run_by(struct str path)
{
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (runs_later(path, later[i].pattern))
			return later[i].who;
	return NULL;
}

/* --- comparing ----------------------------------------------------------------------------- */

static int file_order(const void *a, const void *b)
{
	return path_order(((const struct seen_file *)a)->path, ((const struct seen_file *)b)->path);
}

void snapshot_sort(struct snapshot *s)
{
	if (s->files.n)
		qsort(s->files.at, s->files.n, sizeof(s->files.at[0]), file_order);
}

/* A directory's times change with what is in it, and that is told already. */
static bool differ(const struct seen_file *a, const struct seen_file *b)
{
	if (S_ISDIR(a->mode) && S_ISDIR(b->mode))
		return a->mode != b->mode;
	return a->dev != b->dev || a->ino != b->ino || a->size != b->size || a->mode != b->mode ||
	       a->mtime_ns != b->mtime_ns || a->ctime_ns != b->ctime_ns;
}

/* Has the directory at i something in it, by the same snapshot? */
static bool has_content(const struct snapshot *s, size_t i)
{
	return S_ISDIR(s->files.at[i].mode) && i + 1 < s->files.n &&
	       path_below(s->files.at[i + 1].path, s->files.at[i].path);
}

static bool is_unseen(const struct changes *changes, struct str path)
{
	vec_each(dir, &changes->unseen)
		if (path_below(path, *dir))
			return true;
	return false;
}

struct comparison {
	struct arena *arena;
	struct changes *ret;
	bool marked; /* this pass takes those that run later, the other the rest */
	bool failed;
};

static void add(struct comparison *c, enum change_kind kind, struct str path)
{
	const char *who = kind == CHANGE_DELETED ? NULL : later_run_by(path);
	struct change *slot;

	if ((who != NULL) != c->marked || is_unseen(c->ret, path_parent(path)))
		return;
	c->ret->count[kind]++;
	if (c->ret->lists[kind].n >= CHANGES_MAX)
		return;
	slot = vec_push(&c->ret->lists[kind], c->arena);
	if (slot)
		*slot = (struct change){ path, who };
	c->failed |= !slot;
}

static void compare(struct comparison *c, const struct snapshot *before,
		    const struct snapshot *after)
{
	size_t i = 0, j = 0;

	while (i < before->files.n || j < after->files.n) {
		const struct seen_file *old = i < before->files.n ? &before->files.at[i] : NULL;
		const struct seen_file *new = j < after->files.n ? &after->files.at[j] : NULL;
		int order = !old ? 1 : !new ? -1 : path_order(old->path, new->path);

		if (order < 0 && !has_content(before, i))
			add(c, CHANGE_DELETED, old->path);
		else if (order > 0 && !has_content(after, j))
			add(c, CHANGE_CREATED, new->path);
		else if (order == 0 && differ(old, new))
			add(c, CHANGE_CHANGED, new->path);
		i += order <= 0;
		j += order >= 0;
	}
}

/* What could be seen only once looks like a change and may be none. */
static int take_unseen(struct comparison *c, const struct snapshot *s)
{
	vec_each(dir, &s->unseen) {
		struct str *slot;

		if (is_unseen(c->ret, *dir))
			continue;
		slot = vec_push(&c->ret->unseen, c->arena);
		if (!slot)
			return -1;
		*slot = *dir;
	}
	return 0;
}

int changes_between(struct arena *a, const struct snapshot *before, const struct snapshot *after,
		    struct changes *ret, struct cordon_error *err)
{
	struct comparison c = { .arena = a, .ret = ret, .marked = true };

	*ret = (struct changes){ .asked = true };
	ret->incomplete = before->incomplete || after->incomplete;
	if (ret->incomplete)
		return 0;
	if (take_unseen(&c, before) < 0 || take_unseen(&c, after) < 0)
		return err_nomem(err, "changes");
	compare(&c, before, after);
	c.marked = false;
	compare(&c, before, after);
	return c.failed ? err_nomem(err, "changes") : 0;
}

/* --- telling ------------------------------------------------------------------------------- */

static json_t *change_to_json(const struct change *change)
{
	json_t *row = json_object();

	if (row && json_set_text(row, "path", change->path) &&
	    (!change->later || json_object_set_new(row, "later", json_string(change->later)) == 0))
		return row;
	json_decref(row);
	return NULL;
}

static int add_list(json_t *root, const struct changes *changes, enum change_kind kind)
{
	json_t *list = json_array();
	int bad = json_object_set_new(root, change_kind_to_string(kind), list);

	vec_each(change, &changes->lists[kind])
		if (!bad)
			bad = json_array_append_new(list, change_to_json(change));
	return bad;
}

static int add_unseen(json_t *root, const struct changes *changes)
{
	json_t *list = json_array();
	int bad = json_object_set_new(root, "unseen", list);

	vec_each(dir, &changes->unseen) {
		const struct change one = { .path = *dir };

		if (!bad)
			bad = json_array_append_new(list, change_to_json(&one));
	}
	return bad;
}

json_t *changes_to_json(const struct changes *changes)
{
	json_t *root = json_object();
	size_t more = 0;
	int bad = !root;

	for (unsigned kind = 0; changes && changes->asked && !bad && kind < CHANGE_KINDS; kind++) {
		bad = add_list(root, changes, (enum change_kind)kind);
		more += changes->count[kind] - changes->lists[kind].n;
	}
	if (!bad && more)
		bad = json_object_set_new(root, "more", json_integer((json_int_t)more));
	if (!bad && changes && changes->unseen.n)
		bad = add_unseen(root, changes);
	if (!bad && changes && changes->incomplete)
		bad = json_object_set_new(root, "incomplete", json_true());
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}

static void print_one(struct buf *b, enum change_kind kind, const struct change *change)
{
	buf_addf(b, "  %s ", change_kind_to_string(kind));
	buf_add_escaped(b, change->path);
	if (change->later)
		buf_addf(b, " (runs later, outside: %s)", change->later);
	buf_addc(b, '\n');
}

/* One pass over all lists for the marked, one for the rest. */
static size_t print_names(struct buf *b, const struct changes *changes, bool marked, size_t room)
{
	size_t said = 0;

	for (unsigned kind = 0; kind < CHANGE_KINDS; kind++)
		vec_each(change, &changes->lists[kind])
			if ((change->later != NULL) == marked && said < room) {
				print_one(b, (enum change_kind)kind, change);
				said++;
			}
	return said;
}

void changes_print(struct buf *b, const struct changes *changes)
{
	size_t all = 0, said;

	for (unsigned kind = 0; kind < CHANGE_KINDS; kind++)
		all += changes->count[kind];
	if (changes->incomplete)
		buf_adds(b, "changes: too many files, or too deep, in the writable places to "
			    "compare them\n");
	if (changes->unseen.n) {
		buf_adds(b, "changes: not seen, for it cannot be entered or lies too deep: ");
		buf_add_escaped(b, changes->unseen.at[0]);
		if (changes->unseen.n > 1)
			buf_addf(b, " and %zu more", changes->unseen.n - 1);
		buf_addc(b, '\n');
	}
	if (!all) {
		if (changes->asked && !changes->incomplete && !changes->unseen.n)
			buf_adds(b, "changes: nothing was changed where the policy lets it "
				    "write\n");
		return;
	}
	buf_addf(b, "changes: %zu created, %zu changed, %zu deleted\n",
		 changes->count[CHANGE_CREATED], changes->count[CHANGE_CHANGED],
		 changes->count[CHANGE_DELETED]);
	said = print_names(b, changes, true, CHANGES_LINES_MAX);
	said += print_names(b, changes, false, CHANGES_LINES_MAX - said);
	if (said < all)
		buf_addf(b, "  and %zu more\n", all - said);
}
