/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git_edit: a change of a git configuration that cannot make git run something, nor
 * send something elsewhere.
 *
 * Only sections of branches and submodules may differ, and these only as git itself
 * writes them: one plain setting a line, of those listed in git_edit.c. Everything else
 * must be the same, byte for byte and in the same order, so it does not matter how git
 * reads it. A branch may follow remotes that are there; the remotes themselves stay as
 * they are, for they decide where a push goes.
 */
#ifndef CORDON_RUN_GIT_EDIT_H
#define CORDON_RUN_GIT_EDIT_H

#include <stdbool.h>

#include "base/str.h"

#define GIT_EDIT_BYTES_MAX 65536

bool git_edit_is_harmless(struct str before, struct str after);

#endif
