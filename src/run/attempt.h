/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a command where it is not known beforehand what the machine allows.
 *
 * Namespaces are assumed at the start, because trying them costs more than failing. When
 * setting one up fails before the command was executed, the capability is taken for
 * missing, a backend is chosen again under the same policy and the command is started
 * with that. Every capability is given up once at most, and only an assumed one.
 *
 * A path that was replaced on the host after cordon looked at it (useradd does that to
 * /etc/passwd, an editor to every file), or that is gone, is looked at again: policy and plan
 * are made anew, a few times at most. Whoever keeps replacing it gets a refusal.
 */
#ifndef CORDON_RUN_ATTEMPT_H
#define CORDON_RUN_ATTEMPT_H

#include "run/execute.h"

struct attempt {
	struct situation *situation;
	struct caps *caps;
	/* The choice made so far; replaced by the one that was used in the end. */
	const struct backend *backend;
	struct plan *plan;
	/* Reads the situation anew. NULL: what was replaced is an error at once. */
	int (*again)(void *data, struct cordon_error *err);
	/* Another choice was made: says so, or refuses it with an error. */
	int (*changed)(void *data, struct cordon_error *err);
	void *data;
};

/* Like execute. */
int attempt_execute(struct arena *a, struct attempt *attempt, const struct execute_options *options,
		    struct run_result *ret, struct cordon_error *err);

/* Does an error of the set-up show that something was replaced meanwhile? */
bool attempt_was_overtaken(const struct cordon_error *error);
/* The capability whose lack an error of the set-up shows; CAP_COUNT: none. */
enum cap attempt_lacks(const struct backend *backend, const struct cordon_error *error);

#endif
