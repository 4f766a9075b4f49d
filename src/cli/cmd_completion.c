/* SPDX-License-Identifier: Apache-2.0 */
/* cordon completion: scripts for shells, made from the tables. */
#include <string.h>

#include "backend/backend.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "policy/profiles.h"

#define SCRIPT_MAX ((size_t)1 << 20)
#define VALUES_MAX 1000
/* What is in quarantine now; nothing but ids gets through to the shell. */
#define PRINT_IDS "cordon quarantine list 2>/dev/null | grep -oE \"^[0-9T.-]+/[0-9]+\""

static void each_flag(const struct command_row *command, struct buf *b,
		      void (*print)(struct buf *, const struct command_row *, const char *flag,
				    char letter, const char *argument, const char *help))
{
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (option_applies(&option_rows[i], command))
			print(b, command, option_rows[i].flag, option_rows[i].letter,
			      option_rows[i].argument, option_rows[i].help);
	for (unsigned k = 0; k < KEY_COUNT && command->flags & TAKES_POLICY; k++)
		if (key_rows[k].flag)
			print(b, command, key_rows[k].flag, 0, key_rows[k].argument,
			      key_rows[k].help);
}

static void bash_flag(struct buf *b, const struct command_row *command, const char *flag,
		      char letter, const char *argument, const char *help)
{
	(void)command;
	(void)letter;
	(void)argument;
	(void)help;
	buf_addf(b, " %s", flag);
}

static void print_profiles(struct buf *b)
{
	for (const struct builtin_file *f = builtin_files; f->name; f++)
		if (strcmp(f->name, "defaults") != 0)
			buf_addf(b, " %s", f->name);
}

static void print_backends(struct buf *b)
{
	buf_adds(b, " auto");
	for (const struct backend *const *backend = backends; *backend; backend++)
		buf_addf(b, " %s", (*backend)->name);
}

/* The words an argument can be, a blank before each: the choices it is written as, the
 * profiles or the backends. Nothing where it is anything else. */
static void print_values(struct buf *b, const char *flag, const char *argument)
{
	struct str rest = str_of(argument), word;
	bool more = true;

	if (strcmp(flag, "--profile") == 0 || strcmp(flag, "--sandbox-profile") == 0)
		print_profiles(b);
	if (strcmp(flag, "--backend") == 0)
		print_backends(b);
	if (!strchr(argument, '|') || strspn(argument, "abcdefghijklmnopqrstuvwxyz|") != rest.n)
		return;
	while (more) {
		more = str_cut(rest, '|', &word, &rest);
		buf_addf(b, " %.*s", STR_ARG(word));
	}
}

static void print_commands(struct buf *b)
{
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		buf_addf(b, " %s", command_rows[i].name);
}

/* The words a command can start with: the bare ones of its synopsis, whose alternatives
 * have blanks around the bar. `help` takes the commands. */
static void print_subcommands(struct buf *b, const struct command_row *command)
{
	struct str rest = str_of(command->synopsis), part, word, tail;
	bool more = true, begins = true;

	if (command == &command_rows[COMMAND_help]) {
		print_commands(b);
		return;
	}
	while (more) {
		more = str_cut(rest, '|', &part, &rest);
		str_cut(str_trim(part), ' ', &word, &tail);
		if (begins && word.n && word.p[0] >= 'a' && word.p[0] <= 'z')
			buf_addf(b, " %.*s", STR_ARG(word));
		begins = part.n && part.p[part.n - 1] == ' ';
	}
}

/* A branch for a flag with an argument: its values, or none, for which readline offers
 * files. */
static void bash_value(struct buf *b, const char *flag, char letter, const char *argument)
{
	if (!*argument || *argument == '[')
		return;
	buf_adds(b, "\t");
	if (letter)
		buf_addf(b, "-%c | ", letter);
	buf_addf(b, "%s) words=\"", flag);
	print_values(b, flag, argument);
	buf_adds(b, "\" ;;\n");
}

/* What follows each flag, in one function: 1 when the flag takes nothing. */
static void bash_values(struct buf *b)
{
	buf_adds(b, "_cordon_value() {\n\tcase $1 in\n");
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		bash_value(b, option_rows[i].flag, option_rows[i].letter, option_rows[i].argument);
	for (unsigned k = 0; k < KEY_COUNT; k++)
		if (key_rows[k].flag && key_rows[k].type != TYPE_NETWORK)
			bash_value(b, key_rows[k].flag, 0, key_rows[k].argument);
	buf_adds(b, "\t*) return 1 ;;\n\tesac\n}\n");
}

/* The words of each command that are none of a flag. */
static void bash_words(struct buf *b)
{
	buf_adds(b, "_cordon_words() {\n\tcase $1 in\n");
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		buf_addf(b, "\t%s) words=\"", command_rows[i].name);
		print_subcommands(b, &command_rows[i]);
		each_flag(&command_rows[i], b, bash_flag);
		buf_adds(b, "\" ;;\n");
	}
	buf_adds(b, "\tesac\n\tcase $1,$2 in\n\tprofile,show) words=\"");
	print_profiles(b);
	buf_adds(b, "\" ;;\n\tquarantine,show | quarantine,restore | quarantine,clear)\n"
		    "\t\twords=$(" PRINT_IDS ") ;;\n\tesac\n}\n");
}

static void print_bash(struct buf *b)
{
	/* Does the word under the cursor belong to the command that is to be run? bash takes
	 * "--flag=value" for three words. */
	static const char rest[] =
		"_cordon_rest() {\n\tlocal i=2 words word ends=\n"
		"\t[ \"${COMP_WORDS[1]}\" = run ] && ends=1\n"
		"\twhile [ $i -lt \"$COMP_CWORD\" ]; do\n"
		"\t\tword=${COMP_WORDS[i]}\n"
		"\t\tcase $word in\n"
		"\t\t--) first=$((i + 1)) && return ;;\n"
		"\t\t-*)\n"
		"\t\t\tif [ \"${COMP_WORDS[i+1]}\" = = ]; then i=$((i + 2))\n"
		"\t\t\telif _cordon_value \"$word\"; then i=$((i + 1)); fi ;;\n"
		"\t\t*) [ -z \"$ends\" ] || { first=$i && return; } ;;\n"
		"\t\tesac\n"
		"\t\ti=$((i + 1))\n"
		"\tdone\n"
		"\t[ -n \"$ends\" ] && [ $i -eq \"$COMP_CWORD\" ] && case $cur in\n"
		"\t-*) false ;;\n\t*) first=$i ;;\n\tesac\n}\n";
	static const char main_part[] =
		"_cordon() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} words= first=\n"
		"\tlocal prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		"\tCOMPREPLY=()\n"
		"\tif [ \"$cur\" = = ]; then cur=\n"
		"\telif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		"\tif [ \"$COMP_CWORD\" -eq 1 ]; then words=$_cordon_commands\n"
		"\telif _cordon_rest; then\n"
		"\t\t[ \"$first\" -ne \"$COMP_CWORD\" ] ||\n"
		"\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
		"\t\treturn\n"
		"\telif ! _cordon_value \"$prev\"; then\n"
		"\t\t_cordon_words \"${COMP_WORDS[1]}\" \"$prev\"\n\tfi\n"
		"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n"
		"complete -o default -F _cordon cordon\n";

	buf_adds(b, "_cordon_commands=\"");
	print_commands(b);
	buf_adds(b, "\"\n");
	bash_values(b);
	bash_words(b);
	buf_adds(b, rest);
	buf_adds(b, main_part);
}

static void fish_text(struct buf *b, const char *text)
{
	buf_addc(b, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addc(b, '\\');
		buf_addc(b, *text);
	}
	buf_addc(b, '\'');
}

static void fish_flag(struct buf *b, const struct command_row *command, const char *flag,
		      char letter, const char *argument, const char *help)
{
	autobuf struct buf values = buf_make(VALUES_MAX);

	buf_addf(b, "complete -c cordon -n '__fish_seen_subcommand_from %s' -l %s", command->name,
		 flag + 2);
	if (letter)
		buf_addf(b, " -s %c", letter);
	if (*argument && *argument != '[')
		buf_adds(b, " -r");
	print_values(&values, flag, argument);
	if (values.n)
		buf_addf(b, " -f -a '%s'", values.p);
	buf_adds(b, " -d ");
	fish_text(b, help);
	buf_addc(b, '\n');
}

static void fish_subcommands(struct buf *b, const struct command_row *command)
{
	autobuf struct buf words = buf_make(VALUES_MAX);

	print_subcommands(&words, command);
	if (words.n)
		buf_addf(b,
			 "complete -c cordon -f -n '__fish_seen_subcommand_from %s; and not "
			 "__fish_seen_subcommand_from%s' -a '%s'\n",
			 command->name, words.p, words.p);
}

static void print_fish(struct buf *b)
{
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		buf_addf(b, "complete -c cordon -n __fish_use_subcommand -a %s -d ",
			 command_rows[i].name);
		fish_text(b, command_rows[i].help);
		buf_addc(b, '\n');
		fish_subcommands(b, &command_rows[i]);
		each_flag(&command_rows[i], b, fish_flag);
	}
	buf_adds(b, "complete -c cordon -f -n '__fish_seen_subcommand_from profile; and "
		    "__fish_seen_subcommand_from show' -a '");
	print_profiles(b);
	buf_adds(b, "'\ncomplete -c cordon -f -n '__fish_seen_subcommand_from quarantine; and "
		    "__fish_seen_subcommand_from show restore clear' -a '(" PRINT_IDS ")'\n");
}

/* In an _arguments specification brackets and colons have a meaning. */
static void zsh_help(struct buf *b, const char *help)
{
	for (; *help; help++) {
		if (strchr("[]:\\", *help))
			buf_addc(b, '\\');
		if (*help == '\'')
			buf_adds(b, "'\\'");
		buf_addc(b, *help);
	}
}

static void zsh_flag(struct buf *b, const struct command_row *command, const char *flag,
		     char letter, const char *argument, const char *help)
{
	autobuf struct buf values = buf_make(VALUES_MAX);
	bool takes = *argument && *argument != '[';

	(void)command;
	print_values(&values, flag, argument);
	for (int i = letter ? 0 : 1; i < 2; i++) {
		if (i == 0)
			buf_addf(b, "\t\t\t'-%c[", letter);
		else
			buf_addf(b, "\t\t\t'%s%s[", flag, takes ? "=" : "");
		zsh_help(b, help);
		buf_addc(b, ']');
		if (values.n)
			buf_addf(b, ":value:(%s)", values.p);
		else if (takes)
			buf_adds(b, ":value:_files");
		buf_adds(b, "' \\\n");
	}
}

/* The second word: the first is the command. */
static void zsh_subcommands(struct buf *b, const struct command_row *command)
{
	autobuf struct buf words = buf_make(VALUES_MAX);

	print_subcommands(&words, command);
	if (words.n)
		buf_addf(b, "\t\t\t'2:word:(%s)' \\\n", words.p);
}

static void print_zsh(struct buf *b)
{
	buf_adds(b, "#compdef cordon\n_cordon() {\n\tif (( CURRENT == 2 )); then\n\t\tlocal -a "
		    "commands=(\n");
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		buf_addf(b, "\t\t\t'%s:%s'\n", command_rows[i].name, command_rows[i].help);
	buf_adds(b, "\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
		    "\tif [[ $words[2] == profile && $words[3] == show ]] && (( CURRENT == 4 )); "
		    "then\n\t\tcompadd");
	print_profiles(b);
	buf_adds(b, "\n\t\treturn\n\tfi\n"
		    "\tif [[ $words[2] == quarantine && $words[3] == (show|restore|clear) ]] && "
		    "(( CURRENT == 4 )); then\n\t\tcompadd -- ${(f)\"$(" PRINT_IDS ")\"}\n"
		    "\t\treturn\n\tfi\n\tcase $words[2] in\n");
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		buf_addf(b, "\t%s)\n\t\t_arguments \\\n", command_rows[i].name);
		each_flag(&command_rows[i], b, zsh_flag);
		zsh_subcommands(b, &command_rows[i]);
		buf_adds(b, "\t\t\t'*:argument:_files' ;;\n");
	}
	buf_adds(b, "\tesac\n}\n_cordon \"$@\"\n");
}

int cmd_completion(struct opts *o)
{
	static const char *const shells[] = { "bash", "zsh", "fish", NULL };
	static void (*const printers[])(struct buf *) = { print_bash, print_zsh, print_fish };
	struct cordon_error err;
	autobuf struct buf b = buf_make(SCRIPT_MAX);
	int which = opts_subcommand(o, shells, &err);
	int r = which < 0 ? which : opts_words(o, 1, 1, &err);

	if (r < 0)
		return out_error(o, &err);
	printers[which](&b);
	if (opts_given(o, OPTION_JSON))
		return out_json(o, json_pack("{s:s, s:s%}", "shell", shells[which], "script", b.p,
					     b.n));
	return out_text(o, &b);
}
