/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the real git directory of the workdir. Reads three small files at most. */
#include "run/places.h"

#include <string.h>

#include "base/fd.h"
#include "base/path.h"

#define SMALL_FILE 8192

/* A file of one line, without the line end; empty when it cannot be read. */
static struct str read_line(struct arena *a, const char *path)
{
	struct cordon_error ignored;
	struct str text, line, rest;

	if (fd_read_file(a, path, SMALL_FILE, &text, &ignored) < 0)
		return (struct str){ 0 };
	str_cut(text, '\n', &line, &rest);
	return line;
}

static int join(struct arena *a, const struct world *world, struct str base, struct str text,
		struct str *ret, enum node_type *ret_type, struct cordon_error *err)
{
	char *path = path_normalise(a, base, text);
	struct node node = { .type = NODE_ABSENT };
	int r = path ? world->resolve(world, a, str_of(path), ret, &node, err) : 0;

	/* A path that cannot be followed is not a repository; nothing is opened for it. */
	*ret_type = path && r == 0 ? node.type : NODE_ABSENT;
	return r == -CORDON_E_NOMEM ? r : 0;
}

/* Nearest ".git" at or above the workdir, and the directory it is in. */
static int find_dot_git(struct arena *a, const struct world *world, struct str workdir,
			struct str *ret_top, struct str *ret, enum node_type *ret_type,
			struct cordon_error *err)
{
	for (*ret_top = workdir;; *ret_top = path_parent(*ret_top)) {
		int r = join(a, world, *ret_top, STR(".git"), ret, ret_type, err);

		if (r < 0 || *ret_type != NODE_ABSENT || ret_top->n == 1)
			return r;
	}
}

/* A worktree's own directory names the ".git" file that points to it. */
static bool points_back(struct arena *a, struct str git_dir, struct str dot_git)
{
	const char *path = arena_printf(a, "%.*s/gitdir", STR_ARG(git_dir));
	struct str back = path ? read_line(a, path) : (struct str){ 0 };

	return back.n && str_eq(back, dot_git);
}

/* git keeps a worktree's directory in <common>/worktrees/<name>. */
static bool is_worktree_of(struct str dir, struct str common)
{
	struct str above = path_parent(dir);

	return str_eq(path_last(above), STR("worktrees")) && str_eq(path_parent(above), common);
}

/* The file says where the git directory is, and whoever wrote it decides what becomes
 * writable: only the layout that git itself makes is believed. */
static int follow_file(struct arena *a, const struct world *world, struct str dot_git,
		       struct places *p, struct cordon_error *err)
{
	struct str line = read_line(a, dot_git.p), dir, common, objects;
	const char *path;
	enum node_type type;
	int r;

	if (!str_starts(line, STR("gitdir: ")))
		return 0;
	r = join(a, world, path_parent(dot_git), str_skip(line, 8), &dir, &type, err);
	if (r == 0 && type == NODE_DIR)
		p->git_named = dir;
	/* What lies in the worktree itself may have been made by a command that ran there. */
	if (r < 0 || type != NODE_DIR || path_below(dir, path_parent(dot_git)) ||
	    !points_back(a, dir, dot_git))
		return r;
	path = arena_printf(a, "%.*s/commondir", STR_ARG(dir));
	if (!path)
		return err_nomem(err, "git");
	line = read_line(a, path);
	if (!line.n)
		return 0;
	r = join(a, world, dir, line, &common, &type, err);
	if (r < 0 || type != NODE_DIR || !is_worktree_of(dir, common))
		return r;
	r = join(a, world, common, STR("objects"), &objects, &type, err);
	if (r < 0 || type != NODE_DIR)
		return r;
	p->git_dir = dir;
	p->git_common = common;
	return 0;
}

int git_places(struct arena *a, const struct world *world, struct places *p,
	       struct cordon_error *err)
{
	struct str dot_git, top;
	enum node_type type;
	int r = find_dot_git(a, world, p->workdir, &top, &dot_git, &type, err);

	if (r < 0 || type == NODE_ABSENT)
		return r;
	p->git_top = top;
	/* A link named .git is whatever it points to: not a place to open. */
	if (!path_below(p->workdir, path_parent(dot_git)) ||
	    !str_eq(path_last(dot_git), STR(".git"))) {
		if (type == NODE_DIR)
			p->git_named = dot_git;
		return 0;
	}
	if (type == NODE_DIR) {
		p->git_dir = dot_git;
	} else if (type == NODE_FILE) {
		p->git_link = dot_git;
		r = follow_file(a, world, dot_git, p, err);
	}
	return r;
}
