/* SPDX-License-Identifier: Apache-2.0 */
/* Hints on what git could not finish. Looks at the host's files, and changes none. */
#include "cli/git_hints.h"

#include <sys/stat.h>

#include "base/path.h"
#include "cli/out.h"

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
		       "outside; 'git init', outside, completes it, or inside, with all of "
		       "--allow-write .git/hooks --allow-write .git/branches "
		       "--allow-write .git/config";
	return "a repository is not made in the workdir itself, for its hooks would run outside; "
	       "do that outside, or in a directory below";
}

/* What is printed with each refusal leads only to the next one. */
static const char *global_configuration(const struct hints *h, struct str object)
{
	bool is_lock = str_eq(path_last(object), STR(".gitconfig.lock"));

	if (!str_eq(path_parent(object), h->places->home) ||
	    (!is_lock && !str_eq(path_last(object), STR(".gitconfig"))))
		return NULL;
	return "'git config --global' needs two: --allow-write ~, where git makes a lock, and "
	       "--allow-write ~/.gitconfig; that opens your whole home, so do it outside";
}

/* A push to a repository on this machine writes all over it. */
static const char *other_repository(const struct hints *h, struct str object)
{
	struct str dir = path_parent(object);
	autobuf struct buf b = buf_make(TEXT_MAX);

	while (dir.n > 1 && !(exists(h, dir, "HEAD") && exists(h, dir, "objects") &&
			      exists(h, dir, "refs")))
		dir = path_parent(dir);
	if (dir.n <= 1 || str_eq(dir, h->common) || str_eq(dir, h->places->git_dir))
		return NULL;
	out_shell_quote(&b, dir);
	return b.failed ? NULL :
			  arena_printf(h->e->opts->arena,
				       "git writes to several places of another repository; "
				       "--allow-write %s lets it (its hooks, which run there, can "
				       "be changed then, too)",
				       b.p);
}

typedef const char *hint_fn(const struct hints *h, struct str object);

static void say_first(const struct hints *h, const struct violations *all, hint_fn *hint)
{
	for (size_t i = 0; i < violations_count(all); i++) {
		const struct violation *v = violations_at(all, i);
		const char *text = v->op == VIOLATION_write && path_is_normal(v->object)
					   ? hint(h, v->object)
					   : NULL;

		if (!text)
			continue;
		out_note(h->e->opts, "hint: %s", text);
		return;
	}
}

/* A workdir below the top of a repository, of which nothing else is shown. */
static void say_unseen(const struct hints *h, const struct run_result *result)
{
	struct str git = h->places->git_dir, top = h->places->git_top;
	autobuf struct buf b = buf_make(TEXT_MAX);
	struct cordon_error ignored;
	struct verdict v;

	if (result->exit_code != GIT_GAVE_UP || !git.n || !top.n ||
	    str_eq(top, h->places->workdir) ||
	    verdict_of_file(h->e, POLICY_READ, git, &v, &ignored) < 0 || v.allowed)
		return;
	out_shell_quote(&b, top);
	if (!b.failed)
		out_note(h->e->opts,
			 "hint: the repository of this directory is not shown inside; git finds "
			 "it with --workdir %s",
			 b.p);
}

void git_hints_say(const struct explainer *e, const struct violations *violations,
		   const struct run_result *result)
{
	static hint_fn *const hints[] = { worktree_remove, configuration, new_repository,
					  global_configuration, other_repository };
	const struct places *places = &e->setup.situation.policy->places;
	struct hints h = {
		.e = e,
		.places = places,
		.common = places->git_common.n ? places->git_common : places->git_dir,
	};

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		say_first(&h, violations, hints[i]);
	say_unseen(&h, result);
}
