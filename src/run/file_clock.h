/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_clock: the clock that file systems take their times from.
 *
 * It ticks every few milliseconds, and what is made in one tick has one time. From Linux
 * 6.13 on it is moved on between two ticks by whoever changes a file whose times somebody
 * has asked for; that can be a file of our own, and then what is made later, on whatever
 * file system of this machine, is not older.
 */
#ifndef CORDON_RUN_FILE_CLOCK_H
#define CORDON_RUN_FILE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct file_clock {
	bool began; /* zero at first */
	int fd;	    /* -1: it cannot be moved */
	int64_t shown; /* what it was moved on to last */
	int64_t setting; /* by how much it differed then from one that nobody sets */
};

/* Nanoseconds since 1970. Nothing that is made from now on is older than that. */
int64_t file_clock_now(const struct file_clock *c);
/* The same, after it was moved on to this moment, as far as the kernel does that. */
int64_t file_clock_step(struct file_clock *c);
void file_clock_close(struct file_clock *c); /* accepts one that was never used */

#endif
