/* SPDX-License-Identifier: Apache-2.0 */
/* The other names of a path, from the table of mounts. */
#include "run/aliases.h"

#include <stdlib.h>

#include "base/path.h"
#include "run/mountinfo.h"

/* An alias has aliases; a directory of an overlay that lies below the overlay itself, as
 * the host's seem to in a container, would have them without end. */
#define ROUNDS 4

/* --- the table ------------------------------------------------------------------- */

static const struct mount *covering(const struct aliases *t, struct str path)
{
	return map_nearest(&t->by_point, path);
}

/* The directory below `root`, when not all of the overlay is mounted. */
static bool add_dir(struct aliases *t, struct arena *a, const struct mount_row *row, struct str dir)
{
	const char *text = arena_join(a, dir, row->root.n == 1 ? STR("") : row->root);
	struct overlay_dir *slot = vec_push(&t->dirs, a);

	if (!text || !slot)
		return false;
	*slot = (struct overlay_dir){ .point = row->point, .dir = str_of(text) };
	t->any = true;
	return true;
}

/* Takes the first directory off a list with ':' between them and "\:" in them. */
static bool next_dir(char **list, struct str *ret)
{
	char *from = *list, *to = from;

	ret->p = to;
	for (; *from && *from != ':'; *to++ = *from++)
		if (*from == '\\' && from[1])
			from++;
	*list = *from ? from + 1 : from;
	ret->n = (size_t)(to - ret->p);
	return ret->n || **list;
}

static bool add_overlay(struct aliases *t, struct arena *a, const struct mount_row *row)
{
	struct str options = row->options, option, key, value, dir;

	while (options.n) {
		char *list;

		str_cut(options, ',', &option, &options);
		if (!str_cut(option, '=', &key, &value) ||
		    (!str_eq(key, STR("lowerdir")) && !str_eq(key, STR("lowerdir+")) &&
		     !str_eq(key, STR("upperdir"))))
			continue;
		list = mountinfo_unescape(a, value);
		while (list && next_dir(&list, &dir))
			if (path_is_normal(dir) && !add_dir(t, a, row, dir))
				return false;
		if (!list)
			return false;
	}
	return true;
}

/* Once all are there and stay where they are. */
static bool link_mounts(struct aliases *t, struct arena *a)
{
	struct map first = { 0 };

	vec_each(m, &t->mounts) {
		struct mount *other = (struct mount *)(uintptr_t)map_get(&first, m->dev);

		if (other)
			other->again = m->again = t->any = true;
		else if (!map_put(&first, a, m->dev, m))
			return false;
	}
	/* Of two at one place the later is on top. */
	vec_each(m, &t->mounts)
		if (t->any && !map_put(&t->by_point, a, m->point, m))
			return false;
	return true;
}

/* What these hold is the kernel's, and no file of anybody. */
static bool is_kernels_own(struct str type)
{
	static const struct str types[] = {
		STR("proc"),	STR("sysfs"),	STR("cgroup"),	 STR("cgroup2"),    STR("devpts"),
		STR("debugfs"), STR("tracefs"), STR("bpf"),	 STR("securityfs"), STR("mqueue"),
		STR("pstore"),	STR("nsfs"),	STR("configfs"), STR("binfmt_misc"),
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (str_eq(type, types[i]))
			return true;
	return false;
}

static bool add_row(struct aliases *t, struct arena *a, const struct mount_row *row)
{
	struct mount *slot = vec_push(&t->mounts, a);

	if (!slot)
		return false;
	*slot = (struct mount){ is_kernels_own(row->type) ? row->point : row->dev, row->root,
				row->point, false };
	return !str_eq(row->type, STR("overlay")) || add_overlay(t, a, row);
}

bool aliases_parse(struct aliases *t, struct arena *a, struct str mountinfo)
{
	struct mount_row row;
	bool failed = false;

	while (mountinfo_next(&mountinfo, a, &row, &failed)) {
		/* A directory that was removed has "//deleted" in its place. */
		if (path_is_normal(row.point) && path_is_normal(row.root) && !add_row(t, a, &row))
			return false;
	}
	return !failed && link_mounts(t, a);
}

/* --- looking up ------------------------------------------------------------------ */

struct search {
	struct aliases *table;
	struct arena *arena;
	struct str path; /* what is being looked for */
	struct world_paths *found;
	bool failed;
};

static bool is_known(const struct search *s, struct str path)
{
	/* What is below it goes with it. */
	if (path_below(path, s->path))
		return true;
	vec_each(p, &s->found->at)
		if (str_eq(*p, path))
			return true;
	return false;
}

/* tree with what is left of `path` below `base`. */
static struct str moved(struct search *s, struct str path, struct str base, struct str tree)
{
	struct str rest = path.n == 1 ? STR("") : str_skip(path, base.n == 1 ? 0 : base.n);
	const char *text;

	if (tree.n == 1 && rest.n)
		tree = STR("");
	text = arena_join(s->arena, tree, rest);
	s->failed |= !text;
	return str_of(text);
}

static void add(struct search *s, struct str path, const struct mount *by)
{
	struct str *slot;

	/* Nobody means the whole tree, and something else may lie on top. */
	if (s->failed || path.n <= 1 || path.n > PATH_BYTES_MAX || is_known(s, path) ||
	    (by && covering(s->table, path) != by))
		return;
	slot = vec_push(&s->found->at, s->arena);
	if (slot)
		*slot = path;
	else
		s->failed = true;
}

/* The mounts that show a directory or file of a file system, or something in it. */
static void add_showing(struct search *s, struct str dev, struct str inner)
{
	vec_each(m, &s->table->mounts) {
		if (!m->again || !str_eq(m->dev, dev))
			continue;
		if (path_below(inner, m->root))
			add(s, moved(s, inner, m->root, m->point), m);
		else if (path_below(m->root, inner))
			add(s, m->point, m);
	}
}

static void add_mounted(struct search *s, struct str path)
{
	const struct mount *m = covering(s->table, path);

	if (m && m->again)
		add_showing(s, m->dev, moved(s, path, m->point, m->root));
	vec_each(inner, &s->table->mounts)
		if (inner->again && inner->point.n > path.n && path_below(inner->point, path))
			add_showing(s, inner->dev, inner->root);
}

/* Where the directory of an overlay is; empty when it is not here, as in a container. */
static struct str real_dir(struct search *s, struct overlay_dir *d)
{
	char *real;

	if (d->resolved)
		return d->real;
	d->resolved = true;
	real = realpath(d->dir.p, NULL);
	if (real) {
		const char *copy = arena_dup(s->arena, str_of(real));

		s->failed |= !copy;
		d->real = str_of(copy);
	}
	free(real);
	return d->real;
}

/* From what the overlay shows to what it is made of. */
static void add_below_overlay(struct search *s, struct str path, struct overlay_dir *d)
{
	bool shows = path_below(path, d->point) &&
		     covering(s->table, path) == covering(s->table, d->point);

	if ((!shows && !path_below(d->point, path)) || !real_dir(s, d).n)
		return;
	add(s, shows ? moved(s, path, d->point, d->real) : d->real, NULL);
}

/* And back. */
static void add_above_overlay(struct search *s, struct str path, struct overlay_dir *d)
{
	struct str dir = d->resolved ? d->real : d->dir;
	const struct mount *on_top = covering(s->table, d->point);

	if (!dir.n)
		return;
	if (path_below(path, dir))
		add(s, moved(s, path, dir, d->point), on_top);
	else if (path_below(dir, path) && real_dir(s, d).n)
		add(s, d->point, on_top);
}

static void add_layered(struct search *s, struct str path)
{
	vec_each(d, &s->table->dirs) {
		add_below_overlay(s, path, d);
		add_above_overlay(s, path, d);
	}
}

static void add_all(struct search *s, struct str path)
{
	add_mounted(s, path);
	add_layered(s, path);
}

bool aliases_of(struct aliases *t, struct arena *a, struct str path, struct world_paths *ret)
{
	struct search s = { t, a, path, ret, false };
	size_t done = ret->at.n;

	if (!t->any)
		return true;
	add_all(&s, path);
	for (unsigned round = 1; round < ROUNDS; round++)
		for (size_t end = ret->at.n; done < end && !s.failed; done++)
			add_all(&s, ret->at.at[done]);
	return !s.failed;
}
