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
#include <stddef.h>

#include "base/str.h"

#define GIT_EDIT_BYTES_MAX 65536

/*
 * Who sets what a branch follows takes branch.NAME.merge away first, in a write of its own,
 * and sets it again with the next. Neither is carried out when it is set to what it was.
 */
enum git_edit_merge {
	GIT_EDIT_OTHER,	  /* something else, or more */
	GIT_EDIT_UNSETS,  /* takes one such line away */
	GIT_EDIT_REPEATS, /* adds one that its section has already */
};

/* *ret_line, in `before`: of the line that is meant. Written unless it is something else. */
enum git_edit_merge git_edit_merge(struct str before, struct str after, size_t *ret_line);

/* *ret_added: what `after` has more than `before`. */
bool git_edit_is_harmless(struct str before, struct str after, struct str *ret_added);

#endif
