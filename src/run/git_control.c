/* SPDX-License-Identifier: Apache-2.0 */
/* Where git keeps what decides what it runs. Reads a few small files, never runs git. What
 * cannot be looked at is closed as a whole: a command may have made it so. */
#include "run/git_control.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "run/git_finder.h"

#define stage "git"
/* Names looked at below modules/ and worktrees/, directories among them, and how deep a
 * submodule's name may go. */
#define ENTRIES_MAX 4096
#define DIRECTORIES_MAX 512
#define DEPTH_MAX 8
#define LINE_BYTES_MAX 8192

void git_add(struct git_finder *f, struct str path)
{
	struct str *slot = vec_push(&f->found, f->arena);

	if (slot)
		*slot = path;
	else
		f->out_of_memory = true;
}

struct str git_below(struct git_finder *f, struct str dir, const char *name)
{
	const char *path = arena_printf(f->arena, "%.*s/%s", STR_ARG(dir), name);

	f->out_of_memory |= !path;
	return str_of(path);
}

static void add_below(struct git_finder *f, struct str dir, const char *name)
{
	struct str path = git_below(f, dir, name);

	if (path.n)
		git_add(f, path);
}

/* Of whatever type, a link to nowhere too; what cannot be looked at may be there. */
static bool is_there(struct git_finder *f, struct str dir, const char *name)
{
	struct str path = git_below(f, dir, name);
	struct stat st;

	return path.n && (lstat(path.p, &st) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

static bool is_directory(struct str path)
{
	struct stat st;

	return path.n && stat(path.p, &st) == 0 && S_ISDIR(st.st_mode);
}

/* One name of it is enough: the others may have been moved away to be put back later. */
static bool is_git_dir(struct git_finder *f, struct str dir)
{
	return is_there(f, dir, "HEAD") || is_there(f, dir, "config") || is_there(f, dir, "hooks");
}

/* commondir makes git look for all the others elsewhere. */
static void add_git_dir(struct git_finder *f, struct str dir)
{
	static const char *const names[] = { "hooks", "config", "config.worktree", "commondir",
					     "info/attributes" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_below(f, dir, names[i]);
}

/* --- submodules and worktrees -------------------------------------------------------- */

typedef bool visit_fn(struct git_finder *f, struct str dir, unsigned depth);

/* Told without a look at it by most file systems. */
static bool may_be_directory(const struct dirent *entry)
{
	return (entry->d_type == DT_DIR || entry->d_type == DT_LNK ||
		entry->d_type == DT_UNKNOWN) &&
	       strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool visit_entry(struct git_finder *f, struct str path, unsigned depth, visit_fn *visit)
{
	return !is_directory(path) ||
	       (++f->directories <= DIRECTORIES_MAX && visit(f, path, depth));
}

/* The directories in a directory, and those that links lead to; false when there is more
 * in it than is looked at, or it cannot be read. */
static bool each_directory(struct git_finder *f, struct str dir, unsigned depth, visit_fn *visit)
{
	DIR *d = dir.n ? opendir(dir.p) : NULL;
	const struct dirent *entry;
	bool all = true;

	if (!d)
		return errno == ENOENT || errno == ENOTDIR;
	while (all && (errno = 0, entry = readdir(d))) {
		all = ++f->entries <= ENTRIES_MAX;
		if (all && may_be_directory(entry))
			all = visit_entry(f, git_below(f, dir, entry->d_name), depth, visit);
	}
	if (all && errno)
		all = false;
	closedir(d);
	return all;
}

/* The checkout's .git leads git to its directory: as a file it is closed. As a directory
 * it is a repository of its own. */
static void add_checkout(struct git_finder *f, struct str top)
{
	struct str dot_git = git_below(f, top, ".git");

	if (is_directory(dot_git))
		return;
	git_add_inside(f, dot_git);
}

static visit_fn visit_module, visit_worktree;

/* All that a git directory holds of other ones. */
static bool each_part(struct git_finder *f, struct str git_dir, unsigned depth)
{
	return each_directory(f, git_below(f, git_dir, "modules"), depth, visit_module) &&
	       each_directory(f, git_below(f, git_dir, "worktrees"), depth, visit_worktree);
}

/* The name of a submodule may hold slashes, and it may have submodules of its own. */
static bool visit_module(struct git_finder *f, struct str dir, unsigned depth)
{
	struct str top;

	if (depth == 0 || access(dir.p, R_OK | X_OK) < 0)
		return false;
	if (!is_git_dir(f, dir))
		return each_directory(f, dir, depth - 1, visit_module);
	add_git_dir(f, dir);
	top = git_worktree_of(f, dir);
	if (top.n)
		add_checkout(f, top);
	return git_read_named(f, dir, top.n ? top : dir) && each_part(f, dir, depth - 1);
}

static bool visit_worktree(struct git_finder *f, struct str dir, unsigned depth)
{
	if (depth == 0 || access(dir.p, R_OK | X_OK) < 0)
		return false;
	add_below(f, dir, "config.worktree");
	add_below(f, dir, "commondir");
	return each_directory(f, git_below(f, dir, "modules"), depth - 1, visit_module);
}

/* What is read from here on is the user's, or can be a command's, which may have so much. */
static void read_from(struct git_finder *f, bool plantable)
{
	f->plantable = plantable;
	f->levels = f->bytes = 0;
	f->too_much = false;
}

/* Closed as a whole where there is too much in it. */
static void add_all_of(struct git_finder *f, struct str dir, visit_fn *visit)
{
	f->entries = f->directories = 0;
	read_from(f, true);
	if (dir.n && !each_directory(f, dir, DEPTH_MAX, visit))
		git_add(f, dir);
}

static void add_parts(struct git_finder *f, struct str git_dir)
{
	add_all_of(f, git_below(f, git_dir, "modules"), visit_module);
	add_all_of(f, git_below(f, git_dir, "worktrees"), visit_worktree);
}

/* --- the workdir's own repository ---------------------------------------------------- */

/* Where the file commondir of a git directory leads; empty without one. */
static struct str common_of(struct git_finder *f, struct str git_dir)
{
	struct str path = git_below(f, git_dir, "commondir"), text, line, rest;
	struct cordon_error ignored;

	if (!path.n || fd_read_file(f->arena, path.p, LINE_BYTES_MAX, &text, &ignored) < 0)
		return (struct str){ 0 };
	str_cut(text, '\n', &line, &rest);
	return str_of(path_normalise(f->arena, git_dir, line));
}

/* The directory that a .git file or link leads to, where that is not one of those whose
 * fixed names the policy knows. */
static void add_named_dir(struct git_finder *f, struct str git_dir)
{
	const struct places *p = f->places;

	if (!git_dir.n || str_eq(git_dir, p->git_dir) || str_eq(git_dir, p->git_common))
		return;
	read_from(f, false);
	git_read_named(f, git_dir, f->top);
	add_git_dir(f, git_dir);
	add_parts(f, git_dir);
}

static bool in_repository(const struct places *p)
{
	return p->git_top.n || p->git_dir.n;
}

/* git takes a directory with HEAD, objects and refs for a repository, whether or not there
 * is a .git that it cannot use. Of these names HEAD is the one that nothing else has: it is
 * not made where there is no repository. In one, git replaces it. */
static void add_bare(struct git_finder *f, struct str dir)
{
	bool head = is_there(f, dir, "HEAD");
	bool rest = is_there(f, dir, "objects") && is_there(f, dir, "refs");

	if (head || rest) {
		read_from(f, false);
		if (!in_repository(f->places))
			git_read_common(f, dir);
		/* Without a HEAD nobody kept a command from writing the configuration. What is
		 * beyond the bound is then not closed: git does not read it, nor is HEAD made. */
		read_from(f, !head || !rest);
		git_read_named(f, dir, dir);
		add_git_dir(f, dir);
		add_parts(f, dir);
	}
	if (!head || !rest)
		add_below(f, dir, "HEAD");
}

static struct str top_of(const struct places *p)
{
	if (p->git_top.n)
		return p->git_top;
	return p->git_dir.n && !p->git_common.n ? path_parent(p->git_dir) : p->workdir;
}

int git_control_places(struct arena *a, struct places *p, struct cordon_error *err)
{
	struct git_finder f = { .arena = a, .places = p, .top = top_of(p) };
	const struct str dirs[] = { p->git_dir, p->git_common };

	/* First what the user wrote, so that no number of submodules keeps it from being read. */
	if (in_repository(p))
		git_read_common(&f, f.top);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i].n)
			git_read_named(&f, dirs[i], f.top);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i].n)
			add_parts(&f, dirs[i]);
	if (p->git_link.n)
		git_add(&f, p->git_link);
	if (p->git_named.n) {
		add_named_dir(&f, p->git_named);
		add_named_dir(&f, common_of(&f, p->git_named));
	}
	add_bare(&f, p->workdir);
	if (!str_eq(f.top, p->workdir))
		add_bare(&f, f.top);
	if (f.out_of_memory)
		return err_nomem(err, stage);
	p->git_control = f.found.at;
	p->git_control_count = f.found.n;
	return 0;
}
