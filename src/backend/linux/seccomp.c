/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and loads the generated filters. Which of them a sandbox needs is the
 * plan's business; setting no_new_privs is the caller's, who knows the order. */
#include "backend/linux/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/seccomp_tables.h"

static const struct seccomp_arch *find_arch(uint32_t audit_arch)
{
	for (unsigned int i = 0; i < seccomp_arch_count; i++)
		if (seccomp_arches[i].audit_arch == audit_arch)
			return &seccomp_arches[i];
	return NULL;
}

const struct seccomp_program *seccomp_program(enum seccomp_filter filter, uint32_t audit_arch)
{
	const struct seccomp_arch *arch = find_arch(audit_arch);

	if (!arch || (unsigned int)filter >= SECCOMP_FILTER_COUNT)
		return NULL;
	return &arch->programs[filter];
}

CHILD_SAFE int seccomp_install(const struct seccomp_program *program, unsigned int flags)
{
	struct sock_fprog prog = {
		.len = program->len,
		/* The kernel's type lacks a const; it only copies from here. */
		.filter = (struct sock_filter *)(uintptr_t)program->code,
	};
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);

	return r < 0 ? -errno : (int)r;
}

const struct seccomp_refusal *seccomp_refusal(enum seccomp_filter filter, int nr)
{
	const struct seccomp_arch *arch = find_arch(SECCOMP_ARCH_NATIVE);

	for (unsigned int i = 0; arch && i < arch->refusal_count; i++)
		if (arch->refusals[i].nr == nr && arch->refusals[i].filter == filter)
			return &arch->refusals[i];
	return NULL;
}
