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
/* `cordon --supervise`: what libcordon starts (cli/caller.h). */
int supervise(struct arena *a);
/* `cordon --inside IN OUT SELF PROGRAM ...`: see inside.c; numbers of descriptors. Returns only
 * when the program cannot be executed. */
int inside(char **argv);

struct setup {
	bool runs; /* in: the plan is to be carried out */
	struct situation situation;
	struct caps caps;
	const struct backend *backend;
	struct plan *plan;
	struct spawn_ahead *ahead; /* with `runs`, for spawn_ahead_end; may be NULL */
};

/* Options to a policy; --sandbox is an error when the policy would not confine. */
int setup_policy(const struct opts *o, struct situation *ret, struct cordon_error *err);
/* The same, and on to the plan for this machine. */
int setup_plan(const struct opts *o, struct setup *ret, struct cordon_error *err);
/* Is there a listener to the calls of the command (backend/linux/listen.c)? It does not
 * see everything, which the line on promises says. */
bool setup_observes(const struct setup *setup);
/* The warnings of the policy, as remarks. */
void setup_warn(const struct opts *o, const struct policy *policy);

/* For a command that runs another one to see what it does. */
struct ending;
struct run_result;
struct run_watch {
	struct accesses *accesses; /* what is allowed is noted here */
	int (*before)(void *data, const struct setup *setup, struct cordon_error *err);
	/* After the run, or when the program may not even be executed (result->error). */
	int (*after)(void *data, struct ending *ending, const struct run_result *result,
		     struct cordon_error *err);
	void *data;
};
/* Runs o->rest, with what is said before and after a run, but for the violations. */
int run_watched(struct opts *o, const struct run_watch *watch, struct cordon_error *err);

#endif
