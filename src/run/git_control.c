/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for what git runs. Reads a few small files, never runs git. */
#include "run/git_control.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "run/git_config.h"

#define stage "git"
#define CONFIG_BYTES_MAX ((size_t)256 << 10)
/* Names looked at below modules/ and worktrees/, directories among them, and how deep a
 * submodule's name may go. */
#define ENTRIES_MAX 4096
#define DIRECTORIES_MAX 512
#define DEPTH_MAX 8
/* Files of configuration, with what they include; git's own depth. */
#define CONFIGS_MAX 32
#define INCLUDES_MAX 10

struct finder {
	struct arena *arena;
	const struct places *places;
	struct str top;	   /* where hooks and programs of the configuration start */
	struct str config; /* the file being read */
	VEC(struct str) found;
	unsigned entries, directories;
	unsigned configs, includes; /* that were read, and those around the one at hand */
	bool out_of_memory;
};

static void add(struct finder *f, struct str path)
{
	struct str *slot = vec_push(&f->found, f->arena);

	if (slot)
		*slot = path;
	else
		f->out_of_memory = true;
}

/* dir/name in the arena; empty when memory is out. */
static struct str below(struct finder *f, struct str dir, const char *name)
{
	const char *path = arena_printf(f->arena, "%.*s/%s", STR_ARG(dir), name);

	f->out_of_memory |= !path;
	return str_of(path);
}

static void add_below(struct finder *f, struct str dir, const char *name)
{
	struct str path = below(f, dir, name);

	if (path.n)
		add(f, path);
}

static bool is_type(struct str path, mode_t type)
{
	struct stat st;

	return path.n && lstat(path.p, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

static bool is_git_dir(struct finder *f, struct str dir)
{
	return is_type(below(f, dir, "HEAD"), S_IFREG) &&
	       is_type(below(f, dir, "objects"), S_IFDIR) &&
	       is_type(below(f, dir, "refs"), S_IFDIR);
}

static void add_git_dir(struct finder *f, struct str dir)
{
	static const char *const names[] = { "hooks", "config", "config.worktree",
					     "info/attributes" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_below(f, dir, names[i]);
}

/* Told without a look at it by most file systems. */
static bool may_be_directory(const struct dirent *entry)
{
	return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
	       strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* The directories in a directory; false when there is more in it than is looked at. */
static bool each_directory(struct finder *f, struct str dir, unsigned depth,
			   bool (*visit)(struct finder *f, struct str dir, unsigned depth))
{
	DIR *d = opendir(dir.p);
	const struct dirent *entry;
	bool all = true;

	while (d && all && (entry = readdir(d))) {
		struct str path;

		all = ++f->entries <= ENTRIES_MAX;
		if (!all || !may_be_directory(entry))
			continue;
		path = below(f, dir, entry->d_name);
		if (is_type(path, S_IFDIR))
			all = ++f->directories <= DIRECTORIES_MAX && visit(f, path, depth);
	}
	if (d)
		closedir(d);
	return all;
}

/* The name of a submodule may hold slashes, and it may have submodules of its own. */
static bool visit_module(struct finder *f, struct str dir, unsigned depth)
{
	if (depth == 0)
		return false;
	if (!is_git_dir(f, dir))
		return each_directory(f, dir, depth - 1, visit_module);
	add_git_dir(f, dir);
	return each_directory(f, below(f, dir, "modules"), depth - 1, visit_module);
}

static bool visit_worktree(struct finder *f, struct str dir, unsigned depth)
{
	(void)depth;
	add_below(f, dir, "config.worktree");
	add_below(f, dir, "commondir");
	return true;
}

static void add_parts(struct finder *f, struct str git_dir)
{
	struct str modules = below(f, git_dir, "modules");
	struct str worktrees = below(f, git_dir, "worktrees");

	f->entries = f->directories = 0;
	if (modules.n && !each_directory(f, modules, DEPTH_MAX, visit_module))
		add(f, modules);
	f->entries = f->directories = 0;
	if (worktrees.n && !each_directory(f, worktrees, 1, visit_worktree))
		add(f, worktrees);
}

/* --- what the configuration names --------------------------------------------------- */

/* Only what lies in the workdir or a git directory is a command's to change; all of
 * either is no control file. */
static bool is_inside(const struct places *p, struct str path)
{
	const struct str trees[] = { p->workdir, p->git_dir, p->git_common };

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (trees[i].n && path.n > trees[i].n && path_below(path, trees[i]))
			return !path_below(p->workdir, path);
	return false;
}

/* As git reads it: ~ is the home. Empty when it is no path. */
static struct str whole_path(struct finder *f, struct str base, struct str text)
{
	if (str_starts(text, STR("~/"))) {
		base = f->places->home;
		text = str_skip(text, 2);
	}
	return str_of(text.n ? path_normalise(f->arena, base, text) : NULL);
}

static void add_inside(struct finder *f, struct str path)
{
	if (path.n && is_inside(f->places, path))
		add(f, path);
}

static bool is_program(struct str key)
{
	static const char *const names[] = { "core.fsmonitor",	"core.sshcommand", "core.editor",
					     "core.pager",	"core.askpass",	   "core.gitproxy",
					     "sequence.editor", "diff.external",   "gpg.program" };
	static const char *const ends[] = { ".clean",	 ".smudge",  ".process",
					    ".textconv", ".driver",  ".command",
					    ".helper",	 ".program", ".cmd" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(key, str_of(names[i])))
			return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (str_ends(key, str_of(ends[i])))
			return true;
	return false;
}

/* A command line, read without a shell: the program, and files in the workdir that it is
 * given, such as a script. A program that is not there yet is one that others could make. */
static void add_programs(struct finder *f, struct str line)
{
	struct str word, path;
	bool first = true;

	if (line.n && line.p[0] == '!')
		line = str_skip(line, 1);
	for (; line.n; first = false) {
		str_cut(line, ' ', &word, &line);
		while (word.n && (word.p[0] == '"' || word.p[0] == '\''))
			word = str_skip(word, 1);
		while (word.n && (word.p[word.n - 1] == '"' || word.p[word.n - 1] == '\''))
			word.n--;
		if (str_find(word, '/') == word.n)
			continue;
		path = whole_path(f, f->top, word);
		if (is_type(path, S_IFREG) || (first && !is_type(path, S_IFDIR)))
			add_inside(f, path);
	}
}

static void read_config(struct finder *f, struct str path);

static void told(void *data, struct str key, struct str value)
{
	struct finder *f = data;
	struct str path;

	if (str_eq(key, STR("core.hookspath"))) {
		add_inside(f, whole_path(f, f->top, value));
	} else if (str_eq(key, STR("include.path")) ||
		   (str_starts(key, STR("includeif.")) && str_ends(key, STR(".path")))) {
		/* Whatever its condition: that may hold another time. */
		path = whole_path(f, path_parent(f->config), value);
		add_inside(f, path);
		read_config(f, path);
	} else if (is_program(key) ||
		   (str_starts(key, STR("alias.")) && str_starts(value, STR("!")))) {
		add_programs(f, value);
	}
}

static void read_config(struct finder *f, struct str path)
{
	struct str around = f->config, text;
	struct cordon_error ignored;

	if (!path.n || f->includes > INCLUDES_MAX || f->configs >= CONFIGS_MAX)
		return;
	f->includes++;
	f->config = path;
	if (fd_read_file(f->arena, path.p, CONFIG_BYTES_MAX, &text, &ignored) == 0) {
		f->configs++;
		git_config_read(text, told, f);
	}
	f->config = around;
	f->includes--;
}

/* The user's and the machine's. */
static void read_common(struct finder *f)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	read_config(f, below(f, f->places->home, ".gitconfig"));
	if (xdg && xdg[0] == '/')
		read_config(f, below(f, str_of(xdg), "git/config"));
	else
		read_config(f, below(f, f->places->home, ".config/git/config"));
	read_config(f, STR("/etc/gitconfig"));
}

/* A workdir that is a git directory itself. */
static bool is_bare(struct finder *f, struct str dir)
{
	return is_git_dir(f, dir) && is_type(below(f, dir, "config"), S_IFREG);
}

int git_control_places(struct arena *a, struct places *p, struct cordon_error *err)
{
	struct finder f = { .arena = a, .places = p, .top = p->workdir };
	const struct str dirs[] = { p->git_dir, p->git_common };
	bool any = false;

	if (p->git_dir.n && !p->git_common.n)
		f.top = path_parent(p->git_dir);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i].n) {
			any = true;
			add_parts(&f, dirs[i]);
			read_config(&f, below(&f, dirs[i], "config"));
			read_config(&f, below(&f, dirs[i], "config.worktree"));
		}
	if (!any && is_bare(&f, p->workdir)) {
		any = true;
		add_git_dir(&f, p->workdir);
		add_parts(&f, p->workdir);
		read_config(&f, below(&f, p->workdir, "config"));
	}
	if (any)
		read_common(&f);
	if (f.out_of_memory)
		return err_nomem(err, stage);
	p->git_control = f.found.at;
	p->git_control_count = f.found.n;
	return 0;
}
