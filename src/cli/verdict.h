/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decides on an object and what holds it there: the answers behind `cordon explain`.
 * Computed here, printed in cmd_explain.c; what would change it is in remedy.h.
 *
 * The texts of a verdict are in the arena of the options.
 */
#ifndef CORDON_CLI_VERDICT_H
#define CORDON_CLI_VERDICT_H

#include "cli/cmd.h"
#include "policy/hosts.h"
#include "report/fix.h"

struct explainer {
	const struct opts *opts;
	struct setup setup;
	struct cordon_error refusal;	/* why there is no plan; code 0 when there is one */
};

struct verdict {
	const char *op;		/* "read", "write", "exec", "connect" */
	bool allowed;
	const struct rule *rule;	/* NULL: no path rule */
	const struct origin *origin;	/* NULL: the default */
	enum layer_id layer;
	const char *by;		/* the rule in words */
	const char *held_by;	/* the operation; NULL: see loose */
	const char *loose;	/* why nothing holds it here; NULL: something does */
	struct fix fix;		/* when not allowed, or not to be had */
};

/* Why a unix socket that is not named is refused. */
#define VERDICT_SOCKETS "unix sockets of the host are out of reach"

int explainer_open(const struct opts *o, struct explainer *ret, struct cordon_error *err);
/* The same for a run that has a plan already. */
void explainer_of_plan(const struct opts *o, const struct setup *setup, struct explainer *ret);
/* object: a real path. */
int verdict_of_path(const struct explainer *e, enum policy_op op, struct str object,
		    struct verdict *ret, struct cordon_error *err);
/* The same for what exists on the host. Reading it also needs it to be there inside, where
 * the sandbox may have a directory of its own in that place. */
int verdict_of_file(const struct explainer *e, enum policy_op op, struct str object,
		    struct verdict *ret, struct cordon_error *err);
/* A unix socket of the host: who may connect to it. */
int verdict_of_socket(const struct explainer *e, struct str path, struct verdict *ret,
		      struct cordon_error *err);
int verdict_of_host(const struct explainer *e, const struct host *target, struct verdict *ret,
		    struct cordon_error *err);

#endif
