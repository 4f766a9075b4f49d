/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line as a value, read by the tables commands.def, options.def and the
 * flags of keys.def.
 *
 * Strict: an unknown word, a missing or a surplus argument is an error that quotes it
 * and names the nearest option there is. Nothing has happened by then.
 */
#ifndef CORDON_CLI_OPTS_H
#define CORDON_CLI_OPTS_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "policy/layer.h"
#include "run/situation.h"

struct opts;

enum command {
#define COMMAND(id, ...) COMMAND_##id,
#include "cli/commands.def"
#undef COMMAND
	COMMAND_COUNT
};

enum command_flag {
	TAKES_POLICY = 1,
	TAKES_COMMAND = 2,
};

struct command_row {
	const char *name;
	const char *synopsis;
	const char *help;
	unsigned flags;		/* enum command_flag */
	int (*main)(struct opts *o);	/* returns the exit status */
};
extern const struct command_row command_rows[COMMAND_COUNT];

enum option {
#define OPTION(id, ...) OPTION_##id,
#include "cli/options.def"
#undef OPTION
	OPTION_COUNT
};

/* Instead of naming the commands that take settings one by one. */
#define ON_POLICY (1u << 31)

struct option_row {
	const char *flag;
	char letter;		/* 0: none */
	const char *argument;
	const char *help;
	unsigned commands;	/* a bit for each command, or ON_POLICY; 0: all */
	enum option same_as;	/* itself when not an alias */
	enum key key;		/* KEY_COUNT: no setting */
};
extern const struct option_row option_rows[OPTION_COUNT];

struct opts {
	struct arena *arena;
	const struct command_row *command;	/* NULL: none was named */
	const char *value[OPTION_COUNT];	/* NULL: not given; "" without an argument */
	struct layer flags;			/* settings of keys.def */
	VEC(const char *) words;		/* what is neither option nor argument */
	char **rest;	/* the command, or what follows "--"; NULL: neither */
	bool is_shell;	/* the command is the user's shell: cordon shell */
	bool prompts;	/* and it is for a person */
	struct caller *caller;	/* the program that asks (cli/caller.h); NULL: a person */
};

/* argv without the program's name. */
int opts_parse(struct arena *a, char **argv, struct opts *ret, struct cordon_error *err);
static inline bool opts_given(const struct opts *o, enum option option)
{
	return o->value[option] != NULL;
}

/* Does the option apply to the command? */
bool option_applies(const struct option_row *row, const struct command_row *command);
/* NULL when there is no such command. */
const struct command_row *command_by_name(const char *name);
int command_unknown(const char *name, struct cordon_error *err);

/* For commands with subcommands: the first word, checked against the list. Returns its
 * index or a negative code. */
int opts_subcommand(const struct opts *o, const char *const *names, struct cordon_error *err);
/* Errors unless there are between least and most words. */
int opts_words(const struct opts *o, size_t least, size_t most, struct cordon_error *err);
/* The value of an option that takes one of a few words: its index, `absent` when not
 * given, or a negative code. */
int opts_choice(const struct opts *o, enum option option, const char *const *words, int absent,
		struct cordon_error *err);
/* What the options say of the situation. */
void opts_situation(const struct opts *o, struct situation_options *ret);

#endif
