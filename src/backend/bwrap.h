/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as a bubblewrap command line. The text is pure: it depends on the plan only,
 * so golden tests and `policy render --format bwrap` see what is executed. The options
 * travel over a descriptor (--args), followed by the command's variables.
 */
#ifndef CORDON_BACKEND_BWRAP_H
#define CORDON_BACKEND_BWRAP_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "plan/plan.h"

/* bubblewrap itself refuses more, counting options and command together. */
#define BWRAP_ARGS_MAX 9000

struct bwrap_args {
	VEC(const char *) options;	/* without argv[0], "--" and the command */
	/* Options in which a descriptor's number has to be put: each is an empty file. */
	VEC(size_t) empty_file_slots;
};

/* Everything but the variables, whose values are nobody else's to see. */
int bwrap_options(struct arena *a, const struct plan *plan, struct bwrap_args *ret,
		  struct cordon_error *err);

#endif
