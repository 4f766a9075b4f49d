/* SPDX-License-Identifier: Apache-2.0 */
/* mountinfo: the kernel's table of mounts, line by line (proc_pid_mountinfo(5)). */
#ifndef CORDON_RUN_MOUNTINFO_H
#define CORDON_RUN_MOUNTINFO_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

struct mount_row {
	struct str dev;	    /* "major:minor" of the file system */
	struct str root;    /* which directory of the file system it shows ... */
	struct str point;   /* ... and where; both without escapes, in the arena */
	struct str type;
	struct str options; /* of the file system, with escapes */
};

/* Appends the table to b; false when it cannot be read whole. */
bool mountinfo_read(struct buf *b);
#define MOUNTINFO_MAX ((size_t)4 << 20)

/* The next row that is one; false at the end, or when memory is out (*ret_failed). */
bool mountinfo_next(struct str *text, struct arena *a, struct mount_row *ret, bool *ret_failed);
/* Blanks and others are written as \040. NULL: out of memory. */
char *mountinfo_unescape(struct arena *a, struct str s);

#endif
