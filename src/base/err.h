/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and wrapping struct cordon_error.
 *
 * Functions that can fail return 0 or a negative enum cordon_code and take
 * `struct cordon_error *err` last. Success leaves *err alone; err is never NULL.
 * The first function that knows the object's name puts it in; callers that know
 * more wrap it once on the way up.
 */
#ifndef CORDON_BASE_ERR_H
#define CORDON_BASE_ERR_H

#include <cordon/error.h>

/* Fills *err and returns -code. errnum 0 means no system call was involved;
 * otherwise ": strerror(errnum)" is appended to the message. */
int err_set(struct cordon_error *err, enum cordon_code code, int errnum,
	    const char *stage, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Sets the hint of an error that is already filled; returns -err->code. */
int err_hint(struct cordon_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Puts "text: " in front of the message; returns -err->code. */
int err_wrap(struct cordon_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Shorthand for the most common failure of all. */
int err_nomem(struct cordon_error *err, const char *stage);

/* A broken invariant: reports file and line on stderr and aborts. Never for input. */
__attribute__((noreturn)) void bug_at(const char *file, int line, const char *what);
#define BUG(what) bug_at(__FILE__, __LINE__, what)

#endif
