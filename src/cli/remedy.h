/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would allow something that is refused. A fix is never guessed: the policy is built
 * again with it, and it is only named when that changes the verdict. What is built for a
 * try is gone after it; the texts of a fix are in the arena of the options.
 */
#ifndef CORDON_CLI_REMEDY_H
#define CORDON_CLI_REMEDY_H

#include "cli/verdict.h"
#include "policy/amend.h"

/* The situation with additions to the flags, and the policy that follows, all of it in the
 * arena `a`. */
int remedy_rebuild(const struct explainer *e, struct arena *a, const struct amendment *changes,
		   size_t n, struct situation *ret, struct cordon_error *err);
/* The nearest directory above that exists: what does not exist cannot be mounted. */
struct str remedy_above(const struct explainer *e, struct str object);
/* Is it a secret that nobody has opened? */
bool remedy_is_secret(const struct policy *policy, struct str object);
/* Does the changed policy let something be read or written that a rule of `closed` with one
 * of these flags (RULE_SECRET, RULE_CONTROL) is there to close, and that was closed before? */
bool remedy_opens(const struct ruleset *closed, unsigned flags, const struct policy *before,
		  const struct policy *after);
/* Why no flag opens what this layer refuses. */
const char *remedy_why_not(enum layer_id layer);

/* layer: the one that refuses. *ret is zeroed. */
void remedy_of_path(const struct explainer *e, enum policy_op op, struct str object,
		    enum layer_id layer, struct fix *ret);
/* The same for what is in a private directory that this backend cannot make; *ret is left alone
 * where sharing the host's does not help. */
void remedy_of_closed(const struct explainer *e, enum policy_op op, struct str object,
		      struct fix *ret);
/* The same by the name of a link that leads to the object, which shows the link, too; *ret is
 * left alone where that does not help. */
void remedy_by_link(const struct explainer *e, enum policy_op op, struct str object,
		    struct str link, struct fix *ret);
/* The same for a program that needs what lies beside it; *ret is left alone for others. */
void remedy_of_shim(const struct explainer *e, struct str program, struct fix *ret);
/* The same fix where what is to be made first is a directory. */
void remedy_makes_directory(const struct explainer *e, struct str object, struct fix *fix);
/* Where the fix opens a great deal since the object is not there: the object alone, which is to
 * be made first, if whoever wants it takes one that is there. */
void remedy_narrow(const struct explainer *e, struct str object, bool directory, struct fix *fix);
/* These changes together, where they let the object be written; false: *ret is left alone. */
bool remedy_of_several(const struct explainer *e, struct str object,
		       const struct amendment *changes, size_t n, const char *note,
		       struct fix *ret);
/* What lets a name be taken away, moved or replaced where its directory is not to be written;
 * false, and *ret is left alone, where it is, or when nothing does. */
bool remedy_of_name(const struct explainer *e, struct str object, struct fix *ret);
void remedy_of_host(const struct explainer *e, const struct host *target, enum layer_id layer,
		    struct fix *ret);
/* What lets a unix socket of the host be reached. */
struct fix remedy_of_socket(const struct explainer *e, struct str path);

#endif
