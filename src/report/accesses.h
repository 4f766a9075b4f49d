/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accesses: what a command did that was allowed, by directory, for `cordon learn`. Kept
 * are at most ACCESSES_MAX directories; beyond that an access is counted and not placed.
 */
#ifndef CORDON_REPORT_ACCESSES_H
#define CORDON_REPORT_ACCESSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "report/violation.h"

#define ACCESSES_MAX 4096

struct used_dir {
	enum violation_op op;
	struct str dir; /* the directory of the objects */
	uint64_t count;
};

struct accesses;

struct accesses *accesses_new(void); /* NULL: out of memory */
void accesses_free(struct accesses *all); /* accepts NULL */

/* `path` is a normal path and is copied. Never fails: what cannot be kept is counted. */
void accesses_add(struct accesses *all, enum violation_op op, struct str path);

/* All of these accept NULL, which is empty. */
size_t accesses_count(const struct accesses *all); /* directories, in order of arrival */
const struct used_dir *accesses_at(const struct accesses *all, size_t i);
uint64_t accesses_total(const struct accesses *all, enum violation_op op);

#endif
