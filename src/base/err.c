/* SPDX-License-Identifier: Apache-2.0 */
/* Error values: filling, wrapping and naming them. Prints nothing. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct cordon_error) <= 512,
	       "an error must fit one atomic pipe write");

static const struct code_row {
	const char *name;
	const char *meaning;
	enum cordon_kind kind;
	int status;
} code_rows[CORDON_CODE_COUNT] = {
	[CORDON_OK] = { "ok", "nothing went wrong", CORDON_KIND_system, 0 },
#define CORDON_ERROR(n, text, k, st, mean) \
	[CORDON_E_##n] = { text, mean, CORDON_KIND_##k, st },
#include <cordon/errors.def>
#undef CORDON_ERROR
};

static const struct code_row *row_of(int code)
{
	if (code < 0 || code >= CORDON_CODE_COUNT)
		code = CORDON_E_BUG;
	return &code_rows[code];
}

const char *cordon_code_to_string(int code)
{
	return row_of(code)->name;
}

const char *cordon_code_meaning(int code)
{
	return row_of(code)->meaning;
}

enum cordon_kind cordon_code_kind(int code)
{
	return row_of(code)->kind;
}

int cordon_code_exit_status(int code)
{
	return row_of(code)->status;
}

const char *cordon_kind_to_string(enum cordon_kind kind)
{
	switch (kind) {
	case CORDON_KIND_usage:
		return "usage";
	case CORDON_KIND_config:
		return "config";
	case CORDON_KIND_sandbox:
		return "sandbox";
	case CORDON_KIND_system:
		return "system";
	}
	return "system";
}

int err_set(struct cordon_error *err, enum cordon_code code, int errnum,
	    const char *stage, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	memset(err, 0, sizeof(*err));
	err->code = code;
	err->sys_errno = errnum;
	snprintf(err->stage, sizeof(err->stage), "%s", stage);
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	if (errnum) {
		len = strlen(err->message);
		snprintf(err->message + len, sizeof(err->message) - len, ": %s",
			 strerror(errnum));
	}
	return -(int)code;
}

int err_hint(struct cordon_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return -err->code;
}

int err_wrap(struct cordon_error *err, const char *fmt, ...)
{
	char inner[sizeof(err->message)];
	va_list ap;
	size_t len;

	memcpy(inner, err->message, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	len = strlen(err->message);
	snprintf(err->message + len, sizeof(err->message) - len, ": %s", inner);
	return -err->code;
}

int err_nomem(struct cordon_error *err, const char *stage)
{
	return err_set(err, CORDON_E_NOMEM, 0, stage, "out of memory");
}

void bug_at(const char *file, int line, const char *what)
{
	fprintf(stderr, "cordon: bug at %s:%d: %s\n", file, line, what);
	abort();
}
