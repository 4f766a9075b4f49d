/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git_rewrite: git renames its lock file to a configuration that is protected, and the
 * supervisor adds the same itself, when it is harmless (git_edit.h).
 *
 * What is judged is what is written: the lock file is read once. The configuration stays
 * the same object, for the mount that protects it is on that object. It is only added to,
 * so that nobody who reads it at that moment, or after a crash, sees a mixture. What would
 * leave it as it is writes nothing.
 */
#ifndef CORDON_RUN_GIT_REWRITE_H
#define CORDON_RUN_GIT_REWRITE_H

#include "plan/plan.h"
#include "report/violation.h"

#define GIT_REWRITE_NAME "/config"
#define GIT_REWRITE_LOCK ".lock"

/* The protected configuration at this path of the sandbox; NULL: it is none. */
const struct op *git_rewrite_target(const struct plan *plan, struct str path);

/*
 * What a branch follows was to be unset (git_edit.h). That is answered with yes and not
 * done, for the next write sets it again; when none does, it was refused all the same.
 */
struct git_unset {
	const struct op *target; /* NULL: nothing is waited for */
	size_t line;
	const struct op *refused; /* one that was not set again; NULL: none */
};

/* The lock file is `name` in the directory `dir`, and stays there. 0: it is written;
 * -EPERM: it must not be; or another errno, negative. */
int git_rewrite(struct git_unset *unset, const struct op *target, int dir, const char *name);

/* When no more writes come. */
void git_rewrite_end(struct git_unset *unset, struct violations *violations);

#endif
