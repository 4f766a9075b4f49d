/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are carried from one descriptor to another, and the last of what was shown. */
#ifndef CORDON_RUN_CARRIED_H
#define CORDON_RUN_CARRIED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define CARRIED_BYTES 65536
/* How much of what was shown is kept for the report. */
#define SHOWN_BYTES 65536

/* Bytes on their way: those from `from` on are not written yet. Zeroed it is empty. */
struct carried {
	char bytes[CARRIED_BYTES];
	size_t from, n;
};

/* One read; false at the end or when there is nothing now. */
bool carried_fill(struct carried *c, int fd, bool *ended);

/* False when nobody takes it any more. */
bool carried_pour(struct carried *c, int fd);
bool carried_has_room(const struct carried *c);

/* The end of all that was shown. Zeroed it is empty. */
struct shown_text {
	char bytes[SHOWN_BYTES];
	size_t n;
	size_t untold; /* of the last bytes, what the teller has not had */
};

void shown_text_add(struct shown_text *s, struct str text);
struct str shown_text_untold(const struct shown_text *s); /* in its bytes */

#endif
