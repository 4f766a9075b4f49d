/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error type of cordon, public because every call returns it.
 *
 * It is a plain value of at most 512 bytes: no allocation, nothing to free, and
 * small enough for a child to hand it over a pipe in one atomic write.
 */
#ifndef CORDON_ERROR_H
#define CORDON_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a shared library shows of itself; everything else is compiled as hidden. */
#define CORDON_PUBLIC __attribute__((visibility("default")))

enum cordon_code {
	CORDON_OK = 0,
#define CORDON_ERROR(name, text, kind, status, meaning) CORDON_E_##name,
#include <cordon/errors.def>
#undef CORDON_ERROR
	CORDON_CODE_COUNT
};

/* What a caller switches on; every code belongs to exactly one kind. */
enum cordon_kind {
	CORDON_KIND_usage,
	CORDON_KIND_config,
	CORDON_KIND_sandbox,
	CORDON_KIND_system,
};

struct cordon_error {
	int code;	   /* enum cordon_code */
	int sys_errno;	   /* 0 when no system call was involved */
	char stage[24];	   /* what was being done: "config", "compile", "mount" ... */
	char message[312]; /* names the object; may start with file:line:column */
	char hint[168];	   /* what to do next; may be empty */
};

/* Names and properties from errors.def; an unknown code reads as "bug". */
CORDON_PUBLIC const char *cordon_code_to_string(int code);
CORDON_PUBLIC const char *cordon_code_meaning(int code);
CORDON_PUBLIC enum cordon_kind cordon_code_kind(int code);
CORDON_PUBLIC const char *cordon_kind_to_string(enum cordon_kind kind);
CORDON_PUBLIC int cordon_code_exit_status(int code);

#ifdef __cplusplus
}
#endif

#endif
