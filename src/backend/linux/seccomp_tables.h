/* SPDX-License-Identifier: Apache-2.0 */
/* What gen_filters writes and seccomp.c reads; nobody else includes this. */
#ifndef CORDON_BACKEND_LINUX_SECCOMP_TABLES_H
#define CORDON_BACKEND_LINUX_SECCOMP_TABLES_H

#include "backend/linux/seccomp.h"

struct seccomp_arch {
	uint32_t audit_arch;
	const struct seccomp_program *programs; /* SECCOMP_FILTER_COUNT of them */
	const struct seccomp_refusal *refusals; /* in the order of filters.def */
	unsigned int refusal_count;
};

extern const struct seccomp_arch seccomp_arches[];
extern const unsigned int seccomp_arch_count;

#endif
