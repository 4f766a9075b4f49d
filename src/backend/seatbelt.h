/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as a profile of macOS's Seatbelt. The text is pure: it depends on the plan
 * only, so that golden tests and `policy render --format sbpl` see on any system what
 * sandbox-exec would get.
 *
 * What the text rests on. Of the rules that name an operation the last that matches
 * decides, and one that names file-write-unlink comes before any that names file-write*;
 * so file rules here always name the same few operations, and the narrower ones are used
 * to take away only. Seatbelt looks at names, and at the real one of what exists: rules
 * hold for names that do not exist yet as well.
 *
 * Parameters: WORKDIR and HOME must be given (sandbox-exec -D), TMPDIR may be: the
 * directory that serves as the private /tmp.
 */
#ifndef CORDON_BACKEND_SEATBELT_H
#define CORDON_BACKEND_SEATBELT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "plan/plan.h"

#define SANDBOX_EXEC_PATH "/usr/bin/sandbox-exec"
/* sandbox-exec gets the text as an argument. */
#define SEATBELT_BYTES_MAX ((size_t)512 << 10)

/* Appends the profile; the buffer's ceiling is the limit. */
int seatbelt_profile(struct arena *a, const struct plan *plan, struct buf *b,
		     struct cordon_error *err);

/* Can the language name this host of a list? Only a port of localhost. */
bool seatbelt_says_host(struct str text);

/* For seatbelt_profile alone: the rules for files and programs. False: no memory. `open`:
 * what no rule names may be read and executed. */
bool seatbelt_files(struct arena *a, const struct policy *policy, bool open, struct buf *b);

#endif
