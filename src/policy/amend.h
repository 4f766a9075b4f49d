/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amend: adds elements to the lists of one profile in the text of a configuration file,
 * and leaves every other byte as it was: comments, order, spelling.
 *
 * What cannot be done that way is refused: a file that is wrong already, a profile that is
 * written in another form than [sandbox.profiles.NAME] with plain lists. The result was read
 * again, and says what the text said plus the additions and nothing else.
 */
#ifndef CORDON_POLICY_AMEND_H
#define CORDON_POLICY_AMEND_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "policy/keys.h"

struct amendment {
	enum key key; /* of a list */
	const char *text;
	const char *remark; /* a comment beside it, without line breaks; NULL: none */
};

/* Appends the amended text to *to. A profile that the text does not define is put at its
 * end, on top of `extends`; elements that are there already are not put twice. `file` is for
 * messages. */
int config_amend(struct arena *a, struct str text, const char *file, const char *profile,
		 const char *extends, const struct amendment *items, size_t n, struct buf *to,
		 struct cordon_error *err);

/* The profile as a file of its own would have it. */
void amend_print(struct buf *to, const char *profile, const char *extends,
		 const struct amendment *items, size_t n);

#endif
