/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of the command line. Knows no option by name: all of them are rows. */
#include "cli/opts.h"

#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "fmt/located.h"

/* Not every system declares it. */
extern char **environ;

#define stage "usage"

const struct command_row command_rows[COMMAND_COUNT] = {
#define COMMAND(id, text, words, about, takes) \
	[COMMAND_##id] = { \
		.name = text, .synopsis = words, .help = about, .flags = takes, .main = cmd_##id \
	},
#include "cli/commands.def"
#undef COMMAND
};

const struct option_row option_rows[OPTION_COUNT] = {
#define ALL 0
#define POLICY ON_POLICY
#define ON(command) 1u << COMMAND_##command
#define ITSELF .key = KEY_COUNT, .same_as = OPTION_COUNT
#define SAME_AS(id) .key = KEY_COUNT, .same_as = OPTION_##id
#define SETS(id) .key = KEY_##id, .same_as = OPTION_COUNT
#define OPTION(id, text, short_form, arg, about, where, meaning) \
	[OPTION_##id] = { .flag = text, \
			  .letter = short_form, \
			  .argument = arg, \
			  .help = about, \
			  .commands = where, \
			  meaning },
#include "cli/options.def"
#undef OPTION
#undef SETS
#undef SAME_AS
#undef ITSELF
#undef ON
#undef POLICY
#undef ALL
};

struct parser {
	struct arena *arena;
	struct opts *opts;
	char **at; /* the next word */
	struct cordon_error *err;
};

/* What a flag turned out to be. */
struct found {
	enum option option; /* OPTION_COUNT: a setting only */
	enum key key;	    /* KEY_COUNT: no setting */
	const char *argument;
	bool negative; /* --no-X of a BOOL */
};

bool option_applies(const struct option_row *row, const struct command_row *command)
{
	if (!row->commands)
		return true;
	if (command && row->commands & ON_POLICY && command->flags & TAKES_POLICY)
		return true;
	return command && row->commands & 1u << (command - command_rows);
}

static bool takes_settings(const struct opts *o)
{
	return o->command && o->command->flags & TAKES_POLICY;
}

/* --- looking up -------------------------------------------------------------------- */

static struct found found_option(enum option option)
{
	return (struct found){ option, option_rows[option].key, option_rows[option].argument,
			       false };
}

static bool find_option(const struct opts *o, struct str flag, struct found *ret)
{
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (option_applies(&option_rows[i], o->command) &&
		    str_eq(flag, str_of(option_rows[i].flag))) {
			*ret = found_option(i);
			return true;
		}
	return false;
}

/* "--share-pid", "--no-share-pid" and, because its row says --no-ptrace, "--ptrace". */
static bool find_bool(struct str flag, struct found *ret)
{
	bool negative = str_starts(flag, STR("--no-"));
	struct str base = str_skip(flag, negative ? 5 : 2);

	for (unsigned k = 0; k < KEY_COUNT; k++) {
		struct str row = str_of(key_rows[k].flag);

		if (key_rows[k].type != TYPE_BOOL || !row.n)
			continue;
		if (str_eq(base, str_skip(row, str_starts(row, STR("--no-")) ? 5 : 2))) {
			*ret = (struct found){ OPTION_COUNT, k, "", negative };
			return true;
		}
	}
	return false;
}

static bool find_flag(const struct opts *o, struct str flag, struct found *ret)
{
	enum key key;

	if (find_option(o, flag, ret))
		return true;
	if (!takes_settings(o))
		return false;
	if (find_bool(flag, ret))
		return true;
	if (!key_from_flag(flag, &key))
		return false;
	*ret = (struct found){ OPTION_COUNT, key, key_rows[key].argument, false };
	return true;
}

/* The one word that goes on like this; NULL: none, or several. */
static const char *only_longer(struct str flag, const char *const *words)
{
	const char *found = NULL;

	for (; *words; words++) {
		if (flag.n < sizeof("--x") || !str_starts(str_of(*words), flag))
			continue;
		if (found)
			return NULL;
		found = *words;
	}
	return found;
}

static const char *nearest_flag(const struct opts *o, struct str flag)
{
	const char *words[OPTION_COUNT + KEY_COUNT + 1], *longer;
	size_t n = 0;

	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (option_applies(&option_rows[i], o->command))
			words[n++] = option_rows[i].flag;
	for (unsigned k = 0; k < KEY_COUNT && takes_settings(o); k++)
		if (key_rows[k].flag)
			words[n++] = key_rows[k].flag;
	words[n] = NULL;
	longer = only_longer(flag, words);
	return longer ? longer : str_nearest(flag, words);
}

static const char *help_of(const struct opts *o)
{
	return o->command ? o->command->name : "";
}

/* NULL when no option that applies has the letter. */
static const struct option_row *find_letter(const struct opts *o, char letter)
{
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (option_rows[i].letter == letter && option_applies(&option_rows[i], o->command))
			return &option_rows[i];
	return NULL;
}

static bool is_of_run(struct str flag)
{
	const struct opts run = { .command = &command_rows[COMMAND_run] };
	struct found f;

	return str_starts(flag, STR("--")) ? find_flag(&run, flag, &f)
					   : find_letter(&run, flag.p[1]) != NULL;
}

/* What others call it, too far from its name for nearest_flag. */
static const char *known_as(const struct opts *o, struct str flag)
{
	static const struct {
		const char *other, *flag;
	} rows[] = {
		{ "--network", "--allow-network" },   { "--net", "--allow-network" },
		{ "--allow-net", "--allow-network" }, { "--processes", "--procs" },
		{ "--allow-socket", "--allow-unix" }, { "--socket", "--allow-unix" },
		{ "--port", "--publish" },	      { "--cwd", "--workdir" },
	};
	struct found f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (str_eq(flag, str_of(rows[i].other)) && find_flag(o, str_of(rows[i].flag), &f))
			return rows[i].flag;
	return NULL;
}

static int unknown_flag(struct parser *p, struct str flag)
{
	const char *known = known_as(p->opts, flag);
	const char *near = known ? known : nearest_flag(p->opts, flag);

	err_set(p->err, CORDON_E_USAGE, 0, stage, "unknown option %s", quote(flag).text);
	if (!p->opts->command && is_of_run(flag))
		return err_hint(p->err, "it goes after the name of a command: cordon run %.*s ...",
				STR_ARG(flag));
	if (p->opts->command == &command_rows[COMMAND_shell] && str_eq(flag, STR("-c")))
		return err_hint(p->err,
				"what is for the shell follows '--': cordon shell -- -c ...; "
				"'cordon run' is for single commands");
	/* The nearest would be the opposite. */
	if (str_eq(flag, STR("--no-allow-network")) || str_eq(flag, STR("--no-network")))
		return err_hint(p->err, "did you mean --allow-network=off?");
	if (near && str_starts(flag, STR("--no-")) != str_starts(str_of(near), STR("--no-")))
		near = NULL;
	if (near)
		return err_hint(p->err, "did you mean %s?", near);
	return err_hint(p->err, "'cordon help%s%s' lists the options", *help_of(p->opts) ? " " : "",
			help_of(p->opts));
}

/* --- taking ------------------------------------------------------------------------ */

static int take_setting(struct parser *p, enum key key, struct str flag, struct str value)
{
	const char *spelling = arena_dup(p->arena, flag);
	struct origin origin = { .source = SOURCE_FLAGS, .file = spelling };
	int r;

	if (!spelling)
		return err_nomem(p->err, stage);
	r = layer_add_text(p->arena, &p->opts->flags, key, value, &origin, p->err);
	if (r < 0 && p->err->code == CORDON_E_CONFIG) {
		p->err->code = CORDON_E_USAGE;
		r = -CORDON_E_USAGE;
	}
	return r;
}

static int take_bool(struct parser *p, const struct found *f, struct str flag, const char *value)
{
	bool yes = !value || strcmp(value, "true") == 0;

	if (value && !yes && strcmp(value, "false") != 0)
		return err_set(p->err, CORDON_E_USAGE, 0, stage, "%s: %s is not true or false",
			       quote(flag).text, quote(str_of(value)).text);
	return take_setting(p, f->key, flag, yes != f->negative ? STR("true") : STR("false"));
}

/* 192.0.2.1, 10.0.0.0/8, and what has :// or :: in it. */
static bool looks_like_address(const char *word)
{
	return strstr(word, "://") || strstr(word, "::") ||
	       (strchr(word, '.') && *word >= '0' && *word <= '9' &&
		!word[strspn(word, "0123456789./")]);
}

/* example.com, *.example.org, localhost:8080, [::1]:80 and lists of them, but not script or
 * python3.11: a port, or a name whose last part is of letters. */
static bool looks_like_hosts(const char *word)
{
	const char *last = strrchr(word, '.'), *port = strrchr(word, ':');
	size_t letters = last ? strspn(last + 1,
				       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
			      : 0;

	if (*word == '-')
		return false;
	if (looks_like_address(word))
		return true;
	if (strchr(word, '/'))
		return false;
	if (port && port > word && port[1] && port[1 + strspn(port + 1, "0123456789")] == '\0')
		return true;
	return letters > 1 && last > word && !last[1 + letters];
}

/* An argument that can only follow a '=': "--allow-network" alone means on. Written
 * out but empty it is a variable that was not set, and must not open everything; nor must
 * hosts that were written behind a blank and would be taken for the command. */
static int take_optional(struct parser *p, const struct found *f, struct str flag,
			 const char *value)
{
	const char *next = *p->at;

	if (!value && next && looks_like_hosts(next)) {
		err_set(p->err, CORDON_E_USAGE, 0, stage,
			"%s alone opens the whole network, and %s looks like a host",
			quote(flag).text, quote(str_of(next)).text);
		return err_hint(p->err, "write %.*s=%s; if it is the command, put -- before it",
				STR_ARG(flag), quote(str_of(next)).text);
	}
	if (value && !*value) {
		err_set(p->err, CORDON_E_USAGE, 0, stage, "'%.*s=' has no value",
			STR_ARG(flag));
		return err_hint(p->err, "say off, on or a list of hosts");
	}
	return take_setting(p, f->key, flag, str_of(value));
}

static int need_argument(struct parser *p, struct str flag, const char *argument, const char **ret)
{
	const char *next = *p->at;

	if (!next) {
		err_set(p->err, CORDON_E_USAGE, 0, stage, "%s needs an argument: %s",
			quote(flag).text, argument);
		return err_hint(p->err, "'cordon help %s' says more", help_of(p->opts));
	}
	if (next[0] == '-' && next[1]) {
		err_set(p->err, CORDON_E_USAGE, 0, stage,
			"%s needs an argument (%s), and %s looks like an option", quote(flag).text,
			argument, quote(str_of(next)).text);
		return err_hint(p->err, "if it is meant, join the two with '='");
	}
	p->at++;
	*ret = next;
	return 0;
}

/* value: what followed '=', or NULL. */
static int take_flag(struct parser *p, const struct found *f, struct str flag, const char *value)
{
	bool is_bool = f->key != KEY_COUNT && key_rows[f->key].type == TYPE_BOOL;
	bool optional = f->key == KEY_NETWORK;
	enum option option = f->option;
	int r = 0;

	if (is_bool)
		return take_bool(p, f, flag, value);
	if (optional)
		return take_optional(p, f, flag, value);
	if (!*f->argument && value)
		return err_set(p->err, CORDON_E_USAGE, 0, stage, "%s takes no argument",
			       quote(flag).text);
	if (*f->argument && !value)
		r = need_argument(p, flag, f->argument, &value);
	if (r < 0)
		return r;
	if (f->key != KEY_COUNT)
		return take_setting(p, f->key, flag, str_of(value));
	if (*f->argument && !*value)
		return err_set(p->err, CORDON_E_USAGE, 0, stage, "%s: the argument is empty",
			       quote(flag).text);
	if (option_rows[option].same_as != OPTION_COUNT)
		option = option_rows[option].same_as;
	p->opts->value[option] = value ? value : "";
	return 0;
}

static int take_long(struct parser *p, const char *word)
{
	struct str flag, rest;
	bool joined = str_cut(str_of(word), '=', &flag, &rest);
	struct found f;

	if (!find_flag(p->opts, flag, &f))
		return unknown_flag(p, flag);
	return take_flag(p, &f, flag, joined ? rest.p : NULL);
}

/* "-q", "-pNAME", "-p NAME", "-qp NAME". */
static int take_short(struct parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		const struct option_row *row = find_letter(p->opts, *c);
		struct found f;

		if (!row)
			return unknown_flag(p, str_of(word));
		f = found_option((enum option)(row - option_rows));
		if (*row->argument)
			return take_flag(p, &f, str_of(row->flag), c[1] ? c + 1 : NULL);
		take_flag(p, &f, str_of(row->flag), NULL);
	}
	return 0;
}

static int take_word(struct parser *p, const char *word)
{
	const char **slot;

	if (!p->opts->command) {
		p->opts->command = command_by_name(word);
		return p->opts->command ? 0 : command_unknown(word, p->err);
	}
	slot = vec_push(&p->opts->words, p->arena);
	if (!slot)
		return err_nomem(p->err, stage);
	*slot = word;
	return 0;
}

static int settle_sandbox(struct parser *p)
{
	if (!opts_given(p->opts, OPTION_SANDBOX))
		return 0;
	if (opts_given(p->opts, OPTION_NO_SANDBOX))
		return err_set(p->err, CORDON_E_USAGE, 0, stage,
			       "--sandbox and --no-sandbox contradict each other");
	return take_setting(p, KEY_ENABLED, STR("--sandbox"), STR("true"));
}

int opts_parse(struct arena *a, char **argv, struct opts *ret, struct cordon_error *err)
{
	struct parser p = { a, ret, argv, err };
	int r = 0;

	*ret = (struct opts){ .arena = a };
	while (r == 0 && *p.at) {
		const char *word = *p.at;
		bool option = word[0] == '-' && word[1];
		bool ends = ret->command && ret->command->flags & TAKES_COMMAND;

		if ((ends && !option) || strcmp(word, "--") == 0) {
			ret->rest = p.at + option;
			break;
		}
		p.at++;
		if (!option)
			r = take_word(&p, word);
		else if (word[1] == '-')
			r = take_long(&p, word);
		else
			r = take_short(&p, word);
	}
	return r < 0 ? r : settle_sandbox(&p);
}

/* --- what commands ask ----------------------------------------------------------------- */

const struct command_row *command_by_name(const char *name)
{
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(command_rows[i].name, name) == 0)
			return &command_rows[i];
	return NULL;
}

int command_unknown(const char *name, struct cordon_error *err)
{
	const char *words[COMMAND_COUNT + 1] = { 0 };
	const char *near;

	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		words[i] = command_rows[i].name;
	near = str_nearest(str_of(name), words);
	err_set(err, CORDON_E_USAGE, 0, stage, "unknown command %s", quote(str_of(name)).text);
	if (near)
		return err_hint(err, "did you mean 'cordon %s'?", near);
	return err_hint(err, "'cordon help' lists the commands; a command to confine follows "
			     "'cordon run'");
}

int opts_subcommand(const struct opts *o, const char *const *names, struct cordon_error *err)
{
	const char *near;

	if (!o->words.n) {
		err_set(err, CORDON_E_USAGE, 0, stage, "'cordon %s' needs more: %s",
			o->command->name, o->command->synopsis);
		return err_hint(err, "'cordon help %s' says more", o->command->name);
	}
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], o->words.at[0]) == 0)
			return i;
	near = str_nearest(str_of(o->words.at[0]), names);
	err_set(err, CORDON_E_USAGE, 0, stage, "unknown word %s after 'cordon %s'",
		quote(str_of(o->words.at[0])).text, o->command->name);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err, "wanted: %s", o->command->synopsis);
}

int opts_words(const struct opts *o, size_t least, size_t most, struct cordon_error *err)
{
	if (o->words.n < least)
		err_set(err, CORDON_E_USAGE, 0, stage, "'cordon %s%s%s' needs an argument",
			o->command->name, o->words.n ? " " : "", o->words.n ? o->words.at[0] : "");
	else if (o->words.n > most)
		err_set(err, CORDON_E_USAGE, 0, stage, "%s is one word too many",
			quote(str_of(o->words.at[most])).text);
	else if (o->rest && *o->rest)
		err_set(err, CORDON_E_USAGE, 0, stage, "%s is one word too many",
			quote(str_of(*o->rest)).text);
	else
		return 0;
	return err_hint(err, "wanted: cordon %s%s%s", o->command->name,
			*o->command->synopsis ? " " : "", o->command->synopsis);
}

int opts_choice(const struct opts *o, enum option option, const char *const *words, int absent,
		struct cordon_error *err)
{
	const char *value = o->value[option], *near;

	if (!value)
		return absent;
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], value) == 0)
			return i;
	near = str_nearest(str_of(value), words);
	err_set(err, CORDON_E_USAGE, 0, stage, "%s: %s is not one of %s", option_rows[option].flag,
		quote(str_of(value)).text, option_rows[option].argument);
	return near ? err_hint(err, "did you mean '%s'?", near) : -err->code;
}

/* Does it start a command, or say how one would be started? */
static bool confines(const struct opts *o)
{
	static const unsigned starting[] = { COMMAND_run, COMMAND_shell, COMMAND_learn,
					     COMMAND_policy };

	for (size_t i = 0; i < sizeof(starting) / sizeof(starting[0]); i++)
		if (o->command == &command_rows[starting[i]])
			return !opts_given(o, OPTION_NO_SANDBOX);
	return false;
}

void opts_situation(const struct opts *o, struct situation_options *ret)
{
	*ret = (struct situation_options){
		.workdir = o->value[OPTION_WORKDIR],
		.data_dir = o->value[OPTION_DATA_DIR],
		.profile = o->value[OPTION_PROFILE],
		.settings = o->value[OPTION_SETTINGS],
		.no_sandbox = opts_given(o, OPTION_NO_SANDBOX),
		.any_workdir = !confines(o),
		.make_home = (o->command == &command_rows[COMMAND_run] ||
			      o->command == &command_rows[COMMAND_learn] ||
			      o->command == &command_rows[COMMAND_shell]) &&
			     !opts_given(o, OPTION_DRY_RUN),
		.flags = &o->flags,
		.environ = (const char *const *)environ,
	};
}
