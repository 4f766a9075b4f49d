/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary: violations as sentences for people, a line each, at most SUMMARY_LINES_MAX
 * of them. What does not fit is put together by directory ("and 412 more under
 * node_modules"), the deepest first. Text from inside the sandbox is escaped.
 */
#ifndef CORDON_REPORT_SUMMARY_H
#define CORDON_REPORT_SUMMARY_H

#include "base/buf.h"
#include "report/violation.h"

#define SUMMARY_LINES_MAX 10

/* What an earlier summary of the same violations has told. */
struct summary_told {
	size_t kept;
	uint64_t dropped;
};

/* Appends the lines, each with its newline; nothing when there is no violation. advisor
 * may be NULL. Leaves out what was told, and adds to that; NULL: nothing was. */
void violations_summary(struct buf *b, const struct violations *all, struct summary_told *told,
			const struct violation_advisor *advisor);

/* One violation as one line without its newline. */
void violation_print(struct buf *b, const struct violation *v,
		     const struct violation_advisor *advisor);

#endif
