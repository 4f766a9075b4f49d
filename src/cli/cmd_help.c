/* SPDX-License-Identifier: Apache-2.0 */
/* cordon help: text made from the tables. */
#include <string.h>

#include "cli/cmd.h"
#include "cli/out.h"

#define HELP_BYTES_MAX ((size_t)1 << 20)
#define HELP_COLUMN 34

/* One row: the left part, padded, and the help; on two lines when the left is long. */
static void print_row(struct buf *b, size_t start, const char *help)
{
	size_t width = b->n - start;

	if (width >= HELP_COLUMN)
		buf_addf(b, "\n%*s", HELP_COLUMN, "");
	else
		buf_addf(b, "%*s", (int)(HELP_COLUMN - width), "");
	buf_addf(b, "%s\n", help);
}

static void print_option(struct buf *b, const struct option_row *row)
{
	size_t start = b->n;

	buf_adds(b, "  ");
	if (row->letter)
		buf_addf(b, "-%c, ", row->letter);
	buf_adds(b, row->flag);
	if (*row->argument == '[')
		buf_addf(b, "[=%.*s]", (int)strlen(row->argument) - 2, row->argument + 1);
	else if (*row->argument)
		buf_addf(b, " %s", row->argument);
	print_row(b, start, row->help);
}

static void print_key(struct buf *b, const struct key_row *row)
{
	size_t start = b->n;

	buf_addf(b, "  %s", row->flag);
	if (row->type == TYPE_NETWORK)
		buf_addf(b, "[=%s]", row->argument);
	else if (*row->argument)
		buf_addf(b, " %s", row->argument);
	/* The table's sentence is about the setting; this flag turns it off. */
	if (strncmp(row->flag, "--no-", 5) == 0) {
		autobuf struct buf off = buf_make(256);

		buf_addf(&off, "do not %s", row->help);
		print_row(b, start, off.p);
		return;
	}
	print_row(b, start, row->help);
}

static void print_command(struct buf *b, const struct command_row *command)
{
	buf_addf(b, "usage: cordon %s %s\n\n%s\n\nOptions:\n", command->name, command->synopsis,
		 command->help);
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (option_applies(&option_rows[i], command))
			print_option(b, &option_rows[i]);
	if (!(command->flags & TAKES_POLICY))
		return;
	buf_adds(b, "\nSettings, each also a key of cordon.toml(5):\n");
	for (unsigned k = 0; k < KEY_COUNT; k++)
		if (key_rows[k].flag)
			print_key(b, &key_rows[k]);
	buf_addf(b, "\nSee cordon-%s(1).\n", command->name);
}

static void print_overview(struct buf *b)
{
	buf_adds(b, "usage: cordon COMMAND [OPTIONS]\n\n"
		    "Runs commands inside a boundary that is stated in advance and enforced by the "
		    "kernel.\n\nCommands:\n");
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		buf_addf(b, "  %-12s%s\n", command_rows[i].name, command_rows[i].help);
	buf_adds(b, "\nOptions for every command:\n");
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (!option_rows[i].commands)
			print_option(b, &option_rows[i]);
	buf_adds(b, "\nExamples:\n"
		    "  cordon run -- make test\n"
		    "  cordon run --profile strict --timeout 5m -- ./build.sh\n"
		    "  cordon explain ~/.ssh/id_ed25519\n\n"
		    "'cordon help COMMAND' says more; see also cordon(1).\n");
}

static json_t *flag_to_json(const char *flag, const char *argument, const char *help)
{
	return json_pack("{s:s, s:s, s:s}", "flag", flag, "argument", argument, "help", help);
}

static json_t *command_to_json(const struct command_row *command)
{
	json_t *flags = json_array();
	int bad = 0;

	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (option_applies(&option_rows[i], command))
			bad |= json_array_append_new(flags, flag_to_json(option_rows[i].flag,
									 option_rows[i].argument,
									 option_rows[i].help));
	for (unsigned k = 0; k < KEY_COUNT && command->flags & TAKES_POLICY; k++)
		if (key_rows[k].flag)
			bad |= json_array_append_new(flags, flag_to_json(key_rows[k].flag,
									 key_rows[k].argument,
									 key_rows[k].help));
	if (!bad)
		return json_pack("{s:s, s:s, s:s, s:o}", "name", command->name, "synopsis",
				 command->synopsis, "help", command->help, "options", flags);
	json_decref(flags);
	return NULL;
}

static json_t *help_to_json(const struct command_row *command)
{
	json_t *list;

	if (command)
		return command_to_json(command);
	list = json_array();
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		if (json_array_append_new(list, command_to_json(&command_rows[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return json_pack("{s:o}", "commands", list);
}

int help_print(const struct opts *o, const struct command_row *command)
{
	autobuf struct buf b = buf_make(HELP_BYTES_MAX);

	if (opts_given(o, OPTION_JSON))
		return out_json(o, help_to_json(command));
	if (command)
		print_command(&b, command);
	else
		print_overview(&b);
	return out_text(o, &b);
}

int cmd_help(struct opts *o)
{
	const struct command_row *command = NULL;
	struct cordon_error err;
	int r = opts_words(o, 0, 1, &err);

	if (r == 0 && o->words.n) {
		command = command_by_name(o->words.at[0]);
		r = command ? 0 : command_unknown(o->words.at[0], &err);
	}
	return r < 0 ? out_error(o, &err) : help_print(o, command);
}

int version_print(const struct opts *o)
{
	autobuf struct buf b = buf_make(256);

	if (opts_given(o, OPTION_JSON))
		return out_json(o, json_pack("{s:s, s:s}", "name", "cordon", "version",
					     CORDON_VERSION));
	buf_adds(&b, "cordon " CORDON_VERSION "\n");
	return out_text(o, &b);
}

int cmd_version(struct opts *o)
{
	struct cordon_error err;

	return opts_words(o, 0, 0, &err) < 0 ? out_error(o, &err) : version_print(o);
}
