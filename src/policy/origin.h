/* SPDX-License-Identifier: Apache-2.0 */
/* origin: who said something, and where. */
#ifndef CORDON_POLICY_ORIGIN_H
#define CORDON_POLICY_ORIGIN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Trusted sources come first, in the order in which later ones win ties. */
enum source {
	SOURCE_PROFILE,
	SOURCE_SYSTEM,
	SOURCE_USER,
	SOURCE_SETTINGS,	/* a file of another tool, named by a flag */
	SOURCE_FLAGS,
	SOURCE_PROJECT,	/* narrows only */
	SOURCE_LOCKED,	/* system rules that nothing may undo */
	SOURCE_CORDON,	/* cordon's own protection */
};
const char *source_to_string(enum source source);

/* Where a rule or value was written. line 0: not from a file. */
struct origin {
	enum source source;
	const char *file;	/* a path, "profile moderate", "--allow-read"; never NULL */
	uint32_t line, column;
};
void origin_print(struct buf *b, const struct origin *origin);
/* An error about what was written there: the message starts with the place. */
__attribute__((format(printf, 5, 6)))
int origin_error(struct cordon_error *err, enum cordon_code code, const char *stage,
		 const struct origin *origin, const char *fmt, ...);
/* Puts the place in front of an error that is already filled; returns -err->code. */
int origin_wrap(struct cordon_error *err, const struct origin *origin);

#endif
