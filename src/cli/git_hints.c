/* SPDX-License-Identifier: Apache-2.0 */
/* Hints on what git could not finish. Looks at the host's files, and changes none. */
#include "cli/git_hints.h"

#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cli/out.h"
#include "cli/remedy.h"

/* What git says of everything that it gives up. */
#define GIT_GAVE_UP 128
#define TEXT_MAX 65536

struct hints {
	const struct explainer *e;
	const struct places *places;
	struct str common; /* the repository's own directory; empty: there is none */
};

static bool exists(const struct hints *h, struct str directory, const char *name)
{
	const char *path = arena_printf(h->e->opts->arena, "%.*s/%s", STR_ARG(directory), name);
	struct stat st;

	return path && lstat(path, &st) == 0;
}

/* Of a worktree that was there before the run the protected files stay, and with them what
 * holds them. */
static const char *worktree_remove(const struct hints *h, struct str object)
{
	struct str entry = path_parent(object);

	if (!str_eq(path_last(path_parent(entry)), STR("worktrees")) ||
	    !h->common.n || !path_below(entry, h->common) || !exists(h, entry, "commondir") ||
	    exists(h, entry, "gitdir"))
		return NULL;
	return "git could not remove a worktree whole: outside, remove what is left of its "
	       "directory, then 'git worktree prune' removes its entry in the repository";
}

static const char *configuration(const struct hints *h, struct str object)
{
	if (!str_eq(path_last(object), STR("config")) ||
	    !str_eq(path_parent(object), h->common))
		return NULL;
	return "git's configuration is as it was, and what else the command did stands: run it "
	       "again outside, or, where it deleted or renamed a branch, change that section "
	       "there with 'git config'";
}

static const char *new_repository(const struct hints *h, struct str object)
{
	struct str git = path_parent(object);

	if (!str_eq(path_last(object), STR("hooks")) || !str_eq(path_last(git), STR(".git")) ||
	    !str_eq(path_parent(git), h->places->workdir) || exists(h, git, "HEAD"))
		return NULL;
	if (exists(h, git, "."))
		return "the new repository in the workdir is half made, for its hooks would run "
		       "outside; 'git init', outside, completes it, or inside, with the flags "
		       "above";
	return "a repository is not made in the workdir itself, for its hooks would run outside; "
	       "do that outside, or in a directory below";
}

typedef const char *hint_fn(const struct hints *h, struct str object);

/* Others have reasons of their own to write there. */
static bool is_gits(const struct violation *v)
{
	return v->op == VIOLATION_write && path_is_normal(v->object) &&
	       (!*v->program || str_eq(str_of(v->program), STR("git")));
}

static void say_first(const struct hints *h, const struct violations *all, hint_fn *hint)
{
	for (size_t i = 0; i < violations_count(all); i++) {
		const struct violation *v = violations_at(all, i);
		const char *text = is_gits(v) ? hint(h, v->object) : NULL;

		if (!text)
			continue;
		out_note(h->e->opts, "hint: %s", text);
		return;
	}
}

static bool is_unseen(const struct hints *h, struct str path)
{
	struct cordon_error ignored;
	struct verdict v;

	return verdict_of_file(h->e, POLICY_READ, path, &v, &ignored) == 0 && !v.allowed;
}

/* Who commits is written there; NULL: it is seen, or there is none. */
static const char *unseen_identity(const struct hints *h)
{
	const char *path = arena_printf(h->e->opts->arena, "%.*s/.gitconfig",
					STR_ARG(h->places->home));

	return path && exists(h, h->places->home, ".gitconfig") && is_unseen(h, str_of(path))
		       ? path
		       : NULL;
}

/* Is the command, or what a shell is to do, about a commit? */
static bool commits(const struct hints *h)
{
	for (char *const *word = h->e->opts->rest; *word; word++)
		if (strstr(*word, "commit"))
			return true;
	return false;
}

/* Git looks whether it may be read and goes on, which nobody sees. */
static void say_identity(const struct hints *h, const struct violations *all,
			 const struct run_result *result)
{
	const char *path = unseen_identity(h);
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (result->exit_code != GIT_GAVE_UP || violations_count(all) || !path || !commits(h) ||
	    !h->places->git_dir.n || is_unseen(h, h->places->git_dir))
		return;
	out_shell_quote(&b, str_of(path));
	if (!b.failed)
		out_note(h->e->opts,
			 "hint: git does not see inside who you are; --allow-read %s shows it",
			 b.p);
}

/* A linked worktree, whose repository is elsewhere. */
static void say_linked(const struct hints *h, const struct run_result *result)
{
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (result->exit_code != GIT_GAVE_UP || !h->places->git_link.n || !h->common.n ||
	    !is_unseen(h, h->common))
		return;
	out_shell_quote(&b, h->common);
	if (!b.failed)
		out_note(h->e->opts,
			 "hint: the repository of this worktree is not shown inside; git reads it "
			 "with --allow-read %s; commits take --profile moderate, which keeps its "
			 "hooks closed",
			 b.p);
}

/* A workdir below the top of a repository, of which nothing else is shown. */
static void say_unseen(const struct hints *h, const struct run_result *result)
{
	struct str git = h->places->git_dir, top = h->places->git_top;
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (result->exit_code != GIT_GAVE_UP || !git.n || !top.n ||
	    str_eq(top, h->places->workdir) || !is_unseen(h, git))
		return;
	out_shell_quote(&b, top);
	if (!b.failed)
		out_note(h->e->opts,
			 "hint: the repository of this directory is not shown inside; git finds "
			 "it with --workdir %s",
			 b.p);
}

static struct hints hints_of(const struct explainer *e)
{
	const struct places *places = &e->setup.situation.policy->places;

	return (struct hints){
		.e = e,
		.places = places,
		.common = places->git_common.n ? places->git_common : places->git_dir,
	};
}

void git_hints_say(const struct explainer *e, const struct violations *violations,
		   const struct run_result *result)
{
	static hint_fn *const hints[] = { worktree_remove, configuration, new_repository };
	struct hints h = hints_of(e);

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		say_first(&h, violations, hints[i]);
	say_unseen(&h, result);
	say_linked(&h, result);
	say_identity(&h, violations, result);
}

/* --- fixes ---------------------------------------------------------------------------------- */

typedef bool fix_fn(const struct hints *h, struct str object, struct fix *ret);

static const char *below(const struct hints *h, struct str dir, const char *name)
{
	return arena_printf(h->e->opts->arena, "%.*s/%s", STR_ARG(dir), name);
}

/* git writes its hooks, then other places that are closed. */
static bool fix_new(const struct hints *h, struct str object, struct fix *ret)
{
	struct str git = path_parent(object);
	const struct amendment changes[] = { { KEY_WRITE, below(h, git, "hooks") },
					     { KEY_WRITE, below(h, git, "branches") },
					     { KEY_WRITE, below(h, git, "config") } };

	return new_repository(h, object) && changes[0].text && changes[1].text &&
	       changes[2].text &&
	       remedy_of_several(h->e, object, changes, 3, "what a new repository needs", ret);
}

/* git makes a lock beside it, which it then renames. */
static bool fix_global(const struct hints *h, struct str object, struct fix *ret)
{
	const struct amendment changes[] = {
		{ KEY_WRITE, arena_dup(h->e->opts->arena, h->places->home) },
		{ KEY_WRITE, below(h, h->places->home, ".gitconfig") },
	};

	return str_eq(path_parent(object), h->places->home) &&
	       (str_eq(path_last(object), STR(".gitconfig.lock")) ||
		str_eq(path_last(object), STR(".gitconfig"))) &&
	       exists(h, h->places->home, ".gitconfig") && changes[0].text && changes[1].text &&
	       remedy_of_several(h->e, object, changes, 2,
				 "git makes a lock beside the file; rather do it outside", ret);
}

/* A push to a repository on this machine writes all over it. */
static bool fix_other(const struct hints *h, struct str object, struct fix *ret)
{
	struct str dir = path_parent(object);
	struct amendment change = { .key = KEY_WRITE };

	while (dir.n > 1 && !(exists(h, dir, "HEAD") && exists(h, dir, "objects") &&
			      exists(h, dir, "refs")))
		dir = path_parent(dir);
	if (dir.n <= 1 || str_eq(dir, h->common) || str_eq(dir, h->places->git_dir))
		return false;
	change.text = arena_dup(h->e->opts->arena, dir);
	if (!change.text || !remedy_of_several(h->e, object, &change, 1,
					       "git writes to several places of that repository",
					       ret))
		return false;
	ret->opens_control = true; /* its hooks run there */
	return true;
}

/* Where nothing of the home is shown, who commits is not, either. */
static bool fix_commit(const struct hints *h, struct str object, struct fix *ret)
{
	const struct amendment changes[] = { { KEY_HIDDEN_WRITES, "git" },
					     { KEY_READ, unseen_identity(h) } };

	return h->places->git_dir.n && path_below(object, h->places->git_dir) && ret->flags &&
	       str_eq(str_of(ret->flags), STR("--hidden-writes git")) && changes[1].text &&
	       remedy_of_several(h->e, object, changes, 2, "git reads there who commits", ret);
}

void git_hints_fix(const struct explainer *e, struct str object, struct fix *ret)
{
	static fix_fn *const fixes[] = { fix_new, fix_global, fix_other, fix_commit };
	struct hints h = hints_of(e);

	for (size_t i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++)
		if (fixes[i](&h, object, ret))
			return;
}
