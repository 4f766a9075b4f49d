/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git_edit: what may be added to a git configuration, because it cannot make git run
 * something, nor send elsewhere what has a place to go.
 *
 * Only settings of branches and submodules, as git itself writes them: one plain setting a
 * line, of those listed in git_edit.c, behind all that is there, which stays as it is. A
 * setting that is there already is not set again. A branch may follow remotes that are
 * there; the remotes themselves stay, for they decide where a push goes.
 */
#ifndef CORDON_RUN_GIT_EDIT_H
#define CORDON_RUN_GIT_EDIT_H

#include <stdbool.h>

#include "base/str.h"

#define GIT_EDIT_BYTES_MAX 65536

/* *ret_added: what `after` has more than `before`. */
bool git_edit_is_harmless(struct str before, struct str after, struct str *ret_added);

#endif
