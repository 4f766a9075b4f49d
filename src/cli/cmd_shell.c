/* SPDX-License-Identifier: Apache-2.0 */
/* cordon shell: cordon run of the user's shell, with a prompt that tells where one is. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/installed.h"
#include "base/path.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "fmt/located.h"

#define MARK "(cordon) "

static const char *user_shell(const struct opts *o)
{
	const char *shell = getenv("SHELL");

	if (shell && shell[0] == '/' && access(shell, X_OK) == 0)
		return shell;
	if (shell && *shell)
		out_note(o,
			 "SHELL is %s, which is no program that can be executed; this is /bin/sh",
			 quote(str_of(shell)).text);
	return "/bin/sh";
}

static bool is_called(const char *shell, const char *name)
{
	return strcmp(strrchr(shell, '/') + 1, name) == 0;
}

/* Where zsh finds the start file that marks its prompt (zsh/zshenv), or NULL. */
static const char *zsh_directory(struct arena *a)
{
	const char *file = installed_find(a, "zsh/.zshenv", R_OK, NULL);

	return file ? arena_dup(a, path_parent(str_of(file))) : NULL;
}

/* Whether a mark in the prompt would be true, as far as it is known before the plan. */
static bool is_confined(const struct opts *o)
{
	struct cordon_error ignored;
	struct situation s;

	return setup_policy(o, &s, &ignored) < 0 ||
	       (s.policy->confined &&
		!str_eq(s.policy->effective[KEY_BACKEND].text, STR("passthrough")));
}

/* A directory that zsh does not find would keep it from the user's own start files, too. */
static bool is_shown(const struct opts *o, const char *path)
{
	struct cordon_error ignored;
	struct situation s;
	struct decision d;

	if (setup_policy(o, &s, &ignored) < 0 || !s.policy->confined)
		return true;
	d = policy_decide(s.policy, str_of(path));
	return d.data != ACCESS_NONE && !(d.trusted_rule && d.trusted_rule->flags & RULE_PRIVATE);
}

static int mark_zsh(const struct opts *o)
{
	const char *before = getenv("ZDOTDIR"), *place = zsh_directory(o->arena);

	if (!place || !is_shown(o, place))
		return 0;
	if (before && setenv("ZDOTDIR_BEFORE_CORDON", before, 1) < 0)
		return -1;
	return setenv("ZDOTDIR", place, 1);
}

/* bash has its prompt from its start files and asks PROMPT_COMMAND before each; fish has a
 * function for it (shell_argv); zsh a start file of ours; others take PS1 from the
 * environment. */
static int mark_prompt(const struct opts *o, const char *shell)
{
	const char *before = getenv("PROMPT_COMMAND");
	const char *command = arena_printf(o->arena,
					   "%s%scase $PS1 in '" MARK "'*) ;; "
					   "*) PS1='" MARK "'$PS1 ;; esac",
					   before ? before : "", before && *before ? "\n" : "");

	if (is_called(shell, "bash"))
		return command ? setenv("PROMPT_COMMAND", command, 1) : -1;
	if (is_called(shell, "zsh") && mark_zsh(o) < 0)
		return -1;
	return setenv("PS1", geteuid() ? MARK "$ " : MARK "# ", 1);
}

/* bash and fish would write their histories into files that are closed inside, and be refused:
 * the one at the end of each session, the other all the time. An empty name is no file. */
static int keep_no_history(const char *shell)
{
	if (is_called(shell, "bash"))
		return setenv("HISTFILE", "", 0);
	return is_called(shell, "fish") ? setenv("fish_history", "", 0) : 0;
}

static void person_argv(const char *shell, char **argv)
{
	size_t n = 0;

	argv[n++] = (char *)"-i";
	if (is_called(shell, "fish")) {
		argv[n++] = (char *)"-C";
		argv[n++] = (char *)"functions -c fish_prompt __cordon_prompt; "
				    "function fish_prompt; printf '" MARK
				    "'; __cordon_prompt; end";
	}
}

/* The shell with its own arguments, or for a person, or for what a pipe says. */
static char **shell_argv(struct arena *a, const char *shell, char **rest)
{
	size_t n = 0;
	char **argv;

	while (rest && rest[n])
		n++;
	argv = arena_array(a, n + 5, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = (char *)shell;
	if (n)
		memcpy(argv + 1, rest, n * sizeof(*argv));
	else if (isatty(STDIN_FILENO))
		person_argv(shell, argv + 1);
	return argv;
}

int cmd_shell(struct opts *o)
{
	struct cordon_error err;
	const char *shell;

	if (o->words.n || opts_given(o, OPTION_JSON)) {
		err_set(&err, CORDON_E_USAGE, 0, "usage", "%s",
			o->words.n ? "arguments of the shell follow '--'"
				   : "a shell answers on the terminal, not in JSON");
		err_hint(&err, "'cordon run' is for single commands");
		return out_error(o, &err);
	}
	shell = user_shell(o);
	o->prompts = !o->rest || !o->rest[0];
	o->rest = shell_argv(o->arena, shell, o->rest);
	o->is_shell = true;
	if (!o->rest || (is_confined(o) && mark_prompt(o, shell) < 0) ||
	    keep_no_history(shell) < 0) {
		err_nomem(&err, "shell");
		return out_error(o, &err);
	}
	return cmd_run(o);
}
