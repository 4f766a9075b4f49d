/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine can enforce, as a value. Probed elsewhere (backend/probe.c);
 * tests make their own.
 */
#ifndef CORDON_PLAN_CAPS_H
#define CORDON_PLAN_CAPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

enum cap {
#define CAP(id, ...) CAP_##id,
#include "plan/caps.def"
#undef CAP
	CAP_COUNT
};

struct caps {
	/* 0: missing. 1: there, or assumed to be. LANDLOCK holds the ABI. */
	uint32_t value[CAP_COUNT];
	/* Why it is missing, when more is known than the table says; may be NULL. */
	const char *why[CAP_COUNT];
	/* Assumed, not tried: trying costs more than failing once. */
	bool assumed[CAP_COUNT];
	const char *bwrap_path;
	const char *relay_path;
	const char *sandbox_exec_path;
	/* Around this process is another cordon, whose filter forbids namespaces. */
	bool inside;
};

struct cap_row {
	const char *name;
	const char *purpose;
	const char *fix;
};
extern const struct cap_row cap_rows[CAP_COUNT];

bool cap_from_string(struct str name, enum cap *ret);
/* "name,name=VALUE,...": a name alone is taken away, with a value it is lowered to
 * that value, never raised. */
int caps_mask(struct caps *caps, struct str text, struct cordon_error *err);

#endif
