/* SPDX-License-Identifier: Apache-2.0 */
/* Saying where something was written. */
#include "policy/origin.h"

#include <stdarg.h>
#include <stdio.h>

#include "fmt/located.h"

static const char *const source_names[] = {
	[SOURCE_PROFILE] = "profile",	[SOURCE_SYSTEM] = "system", [SOURCE_USER] = "user",
	[SOURCE_SETTINGS] = "settings", [SOURCE_FLAGS] = "flags",   [SOURCE_PROJECT] = "project",
	[SOURCE_LOCKED] = "locked",	[SOURCE_CORDON] = "cordon",
};

const char *source_to_string(enum source source)
{
	return source_names[source];
}

void origin_print(struct buf *b, const struct origin *origin)
{
	buf_add_escaped(b, str_of(origin->file));
	if (origin->line)
		buf_addf(b, ":%u", origin->line);
}

int origin_error(struct cordon_error *err, enum cordon_code code, const char *stage,
		 const struct origin *origin, const char *fmt, ...)
{
	char text[sizeof(err->message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(err, code, 0, stage, "%s", text);
	return origin_wrap(err, origin);
}

int origin_wrap(struct cordon_error *err, const struct origin *origin)
{
	struct cordon_error inner = *err;
	struct place at = { origin->line, origin->column };
	autobuf struct buf where = buf_make(600);

	if (origin->line) {
		located_error(err, inner.code, inner.stage, origin->file, at, "%s", inner.message);
	} else {
		origin_print(&where, origin);
		err_wrap(err, "%s", where.p);
	}
	err->sys_errno = inner.sys_errno;
	memcpy(err->hint, inner.hint, sizeof(err->hint));
	return -err->code;
}
