/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and loads the generated filters. Which of them a sandbox needs is the
 * plan's business; setting no_new_privs is the caller's, who knows the order. */
#include "backend/linux/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/seccomp_tables.h"

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)

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

/* In front of the program; what is not asked about goes through all of it. */
const struct seccomp_program *seccomp_hearing_sockets(struct arena *a,
						      const struct seccomp_program *listener)
{
	/* clang-format off */
	static const struct sock_filter front[] = {
		{ LOAD, 0, 0, offsetof(struct seccomp_data, arch) },
		{ IF_EQUAL, 0, 6, SECCOMP_ARCH_NATIVE },
		{ LOAD, 0, 0, offsetof(struct seccomp_data, nr) },
		{ IF_EQUAL, 0, 4, SYS_socket },
		{ LOAD, 0, 0, offsetof(struct seccomp_data, args[0]) },
		{ IF_EQUAL, 1, 0, AF_INET },
		{ IF_EQUAL, 0, 1, AF_INET6 },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF },
	};
	/* clang-format on */
	const size_t n = sizeof(front) / sizeof(front[0]);
	struct seccomp_program *p = arena_new(a, struct seccomp_program);
	struct sock_filter *code = arena_array(a, n + listener->len, sizeof(*code));

	if (!p || !code)
		return NULL;
	memcpy(code, front, sizeof(front));
	memcpy(code + n, listener->code, listener->len * sizeof(*code));
	*p = *listener;
	p->code = code;
	p->len = (unsigned short)(n + listener->len);
	return p;
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
