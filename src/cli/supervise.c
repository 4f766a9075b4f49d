/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon --supervise: one command line that comes over a socket instead of argv, its
 * answer and what happens meanwhile sent back as frames. The command itself is the same
 * code as for a person; only where it says something differs (out_divert).
 */
#include <string.h>

#include "cli/cmd.h"
#include "cli/caller.h"
#include "cli/out.h"

#define TEXT_OF(x) AS_TEXT(x)
#define AS_TEXT(x) #x

static int send_answer(void *data, struct str text)
{
	return caller_send(data, FRAME_answer, text);
}

static void send_remark(void *data, struct str text)
{
	caller_send(data, FRAME_remark, text);
}

/* What a library has a use for: the others print for people, or ask. */
static int check_command(const struct opts *o, struct cordon_error *err)
{
	const struct command_row *c = o->command;

	if (c == &command_rows[COMMAND_run] || c == &command_rows[COMMAND_explain])
		return 0;
	return err_set(err, CORDON_E_USAGE, 0, "usage", "--supervise does not do that");
}

static int carry_out(struct caller *h, struct arena *a)
{
	struct opts o = { .arena = a, .value[OPTION_JSON] = "" };
	struct cordon_error err;
	char **words;

	if (caller_read_request(h, a, &words, &err) < 0 || opts_parse(a, words, &o, &err) < 0 ||
	    check_command(&o, &err) < 0) {
		o.value[OPTION_JSON] = "";
		return out_error(&o, &err);
	}
	o.value[OPTION_JSON] = "";
	o.caller = h;
	return o.command->main(&o);
}

int supervise(struct arena *a)
{
	const struct opts none = { 0 };
	struct cordon_error err;
	struct out_divert divert;
	struct caller h;
	int status;

	if (caller_open(&h, &err) < 0)
		return out_error(&none, &err);
	caller_send(&h, FRAME_hello, STR(TEXT_OF(FRAME_PROTOCOL) " " CORDON_VERSION));
	divert = (struct out_divert){ .answer = send_answer, .remark = send_remark, .data = &h };
	out_divert(&divert);
	status = carry_out(&h, a);
	caller_flush(&h);
	out_divert(NULL);
	caller_close(&h);
	return status;
}
