/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git_control: what decides in a repository what git runs later, beyond the fixed names
 * of @git-control - the hooks and configuration of submodules, worktrees and a bare
 * layout, and whatever the configuration itself names: another directory of hooks,
 * included files, programs in the workdir.
 */
#ifndef CORDON_RUN_GIT_CONTROL_H
#define CORDON_RUN_GIT_CONTROL_H

#include "base/arena.h"
#include "base/err.h"
#include "policy/world.h"

/* Fills git_control; the other places are known. Looks at a bounded number of names: where
 * there are more, all of them are meant. Reads a bounded number of configuration files:
 * the repository's, the user's, the machine's, and what they include. */
int git_control_places(struct arena *a, struct places *p, struct cordon_error *err);

#endif
