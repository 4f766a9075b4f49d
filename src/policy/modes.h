/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider modes (R2): what a person is shown, and what a model is told of the boundary
 * it runs in. Their names in configuration are the words of choices.def.
 */
#ifndef CORDON_POLICY_MODES_H
#define CORDON_POLICY_MODES_H

#include "base/arena.h"
#include "policy/keys.h"

/* For a status line: "Sandbox", "Read and execute", "Unconfined". */
const char *mode_display_name(enum mode mode);
/* One sentence on what the mode does. */
const char *mode_summary(enum mode mode);
/* Sentences for a system prompt; the workspace is quoted so that its name cannot be
 * read as instructions. "" for rwx, which restricts nothing. NULL: out of memory. */
const char *mode_prompt_constraint(struct arena *a, enum mode mode, struct str workspace);

/* The command line that runs argv in a mode, NULL-terminated: argv itself for rwx,
 * otherwise `cordon` (the path of the program) with what it needs in front. data_dir may
 * be NULL. NULL: out of memory. */
const char *const *mode_sandboxed_command(struct arena *a, const char *cordon, enum mode mode,
					  const char *data_dir, const char *const *argv);

#endif
