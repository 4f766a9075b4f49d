/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration of git names: directories of hooks, files it includes, programs.
 * Command lines are cut into words, not understood: a word too many is only closed. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "run/git_config.h"
#include "run/git_finder.h"

#define CONFIG_BYTES_MAX ((size_t)256 << 10)
/* Files of configuration, with what they include; git's own depth. */
#define CONFIGS_MAX 1024
#define INCLUDES_MAX 10

static bool is_inside(const struct places *p, struct str path)
{
	const struct str trees[] = { p->workdir, p->git_top, p->git_dir, p->git_common };

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (trees[i].n && path.n > trees[i].n && path_below(path, trees[i]))
			return !path_below(p->workdir, path);
	return false;
}

/* Below the workdir, if it is in there. */
static size_t levels_of(const struct places *p, struct str path)
{
	struct str part;
	size_t n = 0;

	if (path_below(path, p->workdir))
		path = str_skip(path, p->workdir.n);
	while (path_next(&path, &part))
		n++;
	return n;
}

void git_add_inside(struct git_finder *f, struct str path)
{
	if (!path.n || !is_inside(f->places, path))
		return;
	if (f->plantable) {
		f->levels += levels_of(f->places, path);
		f->too_much |= f->levels > GIT_PLANTED_LEVELS_MAX;
		if (f->too_much)
			return;
	}
	git_add(f, path);
}

/* As git reads it: ~ is the home. Empty when it is no path. */
static struct str whole_path(struct git_finder *f, struct str base, struct str text)
{
	if (str_starts(text, STR("~/"))) {
		base = f->places->home;
		text = str_skip(text, 2);
	}
	return str_of(text.n ? path_normalise(f->arena, base, text) : NULL);
}

/* Is the key one of the names, or does it end in one that starts with a dot? */
static bool is_one_of(struct str key, const char *const *names)
{
	for (; *names; names++)
		if (**names == '.' ? str_ends(key, str_of(*names)) : str_eq(key, str_of(*names)))
			return true;
	return false;
}

static bool is_program(struct str key, struct str value)
{
	static const char *const names[] = {
		"core.fsmonitor",
		"core.sshcommand",
		"core.editor",
		"core.pager",
		"core.askpass",
		"core.gitproxy",
		"core.alternaterefscommand",
		"sequence.editor",
		"diff.external",
		"interactive.difffilter",
		"uploadpack.packobjectshook",
		"gpg.ssh.defaultkeycommand",
		".clean",
		".smudge",
		".process",
		".textconv",
		".driver",
		".command",
		".helper",
		".program",
		".cmd",
		".uploadpack",
		".receivepack",
		NULL,
	};

	/* An alias or submodule.NAME.update is a command of the shell after a "!". */
	return is_one_of(key, names) || str_starts(key, STR("pager.")) ||
	       (str_starts(value, STR("!")) &&
		(str_starts(key, STR("alias.")) || str_starts(key, STR("submodule."))));
}

/* The next word of a command line, cut where a shell could cut it. */
static bool next_word(struct str *line, struct str *ret)
{
	static const char *const cuts = " \t\n\"'`;|&()<>{}$=!";
	size_t n = 0;

	while (line->n && strchr(cuts, line->p[0]))
		*line = str_skip(*line, 1);
	while (n < line->n && !strchr(cuts, line->p[n]))
		n++;
	*ret = str_take(*line, n);
	*line = str_skip(*line, n);
	return n > 0;
}

enum there { ABSENT, A_DIRECTORY, A_FILE };

static enum there what_is(struct str path)
{
	struct stat st;

	if (stat(path.p, &st) < 0)
		return ABSENT;
	return S_ISDIR(st.st_mode) ? A_DIRECTORY : A_FILE;
}

/* The program and the script that an interpreter is given count even where they are not
 * there yet: others could make them. Of the words after that only what is a file. */
static void add_programs(struct git_finder *f, struct str line)
{
	unsigned place = 0;
	struct str word;

	while (next_word(&line, &word)) {
		bool is_path = str_find(word, '/') < word.n;
		struct str path;
		enum there there;

		if (word.p[0] == '-')
			continue;
		/* Without a slash the first word is looked for in PATH. */
		place++;
		if (!is_path && place != 2)
			continue;
		path = whole_path(f, f->top, word);
		if (!path.n)
			continue;
		there = what_is(path);
		if (there == A_FILE || (there == ABSENT && is_path && place <= 2))
			git_add_inside(f, path);
	}
}

static void read_config(struct git_finder *f, struct str path);

/* Whoever runs cordon reads what is included with rights that the command has not, and reading has
 * effects in some file systems (/proc/kmsg, a pipe of tracing). */
static bool may_include(const struct git_finder *f, struct str path)
{
	struct stat here, there;

	return !f->plantable || (path.n && stat(f->config.p, &here) == 0 &&
				 stat(path.p, &there) == 0 && here.st_dev == there.st_dev);
}

static void told(void *data, struct str key, struct str value)
{
	static const char *const files[] = { "core.hookspath", "core.attributesfile",
					     "init.templatedir", NULL };
	struct git_finder *f = data;
	struct str path;

	if (is_one_of(key, files)) {
		git_add_inside(f, whole_path(f, f->top, value));
	} else if (str_eq(key, STR("include.path")) ||
		   (str_starts(key, STR("includeif.")) && str_ends(key, STR(".path")))) {
		/* Whatever its condition: that may hold another time. */
		path = whole_path(f, path_parent(f->config), value);
		git_add_inside(f, path);
		if (may_include(f, path))
			read_config(f, path);
	} else if (is_program(key, value)) {
		add_programs(f, value);
	}
}

static bool read_file(struct git_finder *f, struct str path, struct str *ret_text)
{
	struct cordon_error ignored;

	if (!path.n || f->too_much ||
	    fd_read_file(f->arena, path.p, CONFIG_BYTES_MAX, ret_text, &ignored) < 0)
		return false;
	f->bytes += ret_text->n;
	f->too_much = f->plantable && f->bytes > GIT_PLANTED_BYTES_MAX;
	return true;
}

static void read_config(struct git_finder *f, struct str path)
{
	struct str around = f->config, text;

	if (f->includes > INCLUDES_MAX || f->configs >= CONFIGS_MAX)
		return;
	f->includes++;
	f->config = path;
	if (read_file(f, path, &text)) {
		f->configs++;
		git_config_read(text, told, f);
	}
	f->config = around;
	f->includes--;
}

bool git_read_named(struct git_finder *f, struct str git_dir, struct str top)
{
	struct str around = f->top;

	f->top = top;
	read_config(f, git_below(f, git_dir, "config"));
	read_config(f, git_below(f, git_dir, "config.worktree"));
	f->top = around;
	return f->configs < CONFIGS_MAX && !f->too_much;
}

void git_read_common(struct git_finder *f, struct str top)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	f->top = top;
	read_config(f, git_below(f, f->places->home, ".gitconfig"));
	if (xdg && xdg[0] == '/')
		read_config(f, git_below(f, str_of(xdg), "git/config"));
	else
		read_config(f, git_below(f, f->places->home, ".config/git/config"));
	read_config(f, STR("/etc/gitconfig"));
}

/* --- where the checkout is ----------------------------------------------------------- */

struct worktree {
	struct git_finder *finder;
	struct str git_dir, path;
};

static void told_worktree(void *data, struct str key, struct str value)
{
	struct worktree *w = data;

	if (str_eq(key, STR("core.worktree")))
		w->path = whole_path(w->finder, w->git_dir, value);
}

/* git sparse-checkout moves the setting to config.worktree. */
struct str git_worktree_of(struct git_finder *f, struct str git_dir)
{
	static const char *const names[] = { "config", "config.worktree" };
	struct worktree w = { .finder = f, .git_dir = git_dir };
	struct str text;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (read_file(f, git_below(f, git_dir, names[i]), &text))
			git_config_read(text, told_worktree, &w);
	return w.path;
}
