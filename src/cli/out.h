/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything cordon itself says. Answers go to standard output in one write, so that
 * a full disk or a closed pipe is noticed; remarks go to standard error, each line
 * starting with "cordon: ".
 */
#ifndef CORDON_CLI_OUT_H
#define CORDON_CLI_OUT_H

#include <jansson.h>
#include "base/buf.h"
#include "base/err.h"
#include "cli/opts.h"

#define OUT_BYTES_MAX ((size_t)256 << 20)
#define STATUS_FAILED 125

/* Makes descriptors 0 to 2 exist, in the wrong direction, so that no file cordon opens
 * takes their place and using them still fails; a write beyond the caller's limit of
 * file size becomes an error instead of the end of cordon. */
void out_prepare(void);

/* From now on answers and remarks go there instead, remarks without "cordon: " and without
 * the end of the line. For `cordon --supervise`; NULL: as before. */
struct out_divert {
	int (*answer)(void *data, struct str text); /* 0 or a negative errno */
	void (*remark)(void *data, struct str text);
	void *data;
};
void out_divert(const struct out_divert *to);

/* Prints the error in its one shape, or as JSON with --json; returns the exit status. */
int out_error(const struct opts *o, const struct cordon_error *err);
/* The same, always for people. */
int out_error_text(const struct cordon_error *err);
json_t *out_error_to_json(const struct cordon_error *err);

/* Print an answer; return the exit status, 0 when all of it was written. */
int out_text(const struct opts *o, const struct buf *text);
int out_json(const struct opts *o, json_t *value); /* takes the reference; NULL: no memory */

/* A remark; not with --quiet. False when there was no memory to say it. */
__attribute__((format(printf, 2, 3)))
bool out_note(const struct opts *o, const char *fmt, ...);
/* A remark that --quiet does not silence. */
__attribute__((format(printf, 1, 2)))
bool out_loud(const char *fmt, ...);

/* Appends text as one word for a POSIX shell, or, when a terminal could act on something
 * in it, for one that knows $'...'. Nothing a terminal acts on is left. */
void out_shell_quote(struct buf *b, struct str text);
/* Appends text that is already escaped where it was put together: only what could
 * still disturb a terminal is escaped. */
void out_add_message(struct buf *b, struct str text);

#endif
