/* SPDX-License-Identifier: Apache-2.0 */
/* The program that a run executes. */
#ifndef CORDON_RUN_PROGRAM_H
#define CORDON_RUN_PROGRAM_H

#include "run/execute.h"

/* The full path of options->argv[0], searched for in the plan's PATH. An error where the policy
 * does not let it be executed, which is noted as a violation, or the sandbox will not show it. */
int program_find(const struct situation *s, struct arena *a, const struct plan *plan,
		 const struct execute_options *options, const char **ret, struct cordon_error *err);

/* The name by which a grant shows the program and what leads to it: the first that is not shown
 * already, of itself and of the links that it is found through. `real` is where they end. A grant
 * by the name of a link shows that link and the end; one in the workdir may not lead out of it. */
struct str program_link(const struct situation *s, struct arena *a, struct str program,
			struct str real);

/* What has to be shown for a program to start: itself, or, of a shim (pyenv, rbenv, asdf ...), a
 * script that starts what lies beside it, the directory around all of that, unless it is all of
 * a home or project. */
struct str program_place(struct str program, const struct places *places);

#endif
