/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands, one file each, and what they share: the way from options to a policy
 * and a plan.
 */
#ifndef CORDON_CLI_CMD_H
#define CORDON_CLI_CMD_H

#include "cli/opts.h"
#include "run/situation.h"

#define COMMAND(id, ...) int cmd_##id(struct opts *o);
#include "cli/commands.def"
#undef COMMAND

/* Help for one command, or for all with NULL; returns the exit status. */
int help_print(const struct opts *o, const struct command_row *command);
int version_print(const struct opts *o);

struct setup {
	struct situation situation;
	struct caps caps;
	const struct backend *backend;
	struct plan *plan;
};

/* Options to a policy; --sandbox is an error when the policy would not confine. */
int setup_policy(const struct opts *o, struct situation *ret, struct cordon_error *err);
/* The same, and on to the plan for this machine. */
int setup_plan(const struct opts *o, struct setup *ret, struct cordon_error *err);
/* The warnings of the policy, as remarks. */
void setup_warn(const struct opts *o, const struct policy *policy);

#endif
