/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seccomp filters as constant data.
 *
 * filters.def says what each filter does; they are generated when cordon is built,
 * so nothing is computed or linked at run time. Filters stack: load the ones a plan
 * asks for, in the order of the enum, `notify_*` last. Whatever is loaded is kept
 * over exec and can only be added to.
 */
#ifndef CORDON_BACKEND_LINUX_SECCOMP_H
#define CORDON_BACKEND_LINUX_SECCOMP_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/spawn.h"

enum seccomp_filter {
#define FILTER(name, doc) SECCOMP_FILTER_##name,
#include "backend/linux/filters.def"
	SECCOMP_FILTER_COUNT
};

struct seccomp_program {
	const char *name;
	const char *doc;
	const struct sock_filter *code;
	unsigned short len;
	bool asks; /* about what is told, which another filter may then let pass */
};

#if defined(__x86_64__)
#define SECCOMP_ARCH_NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SECCOMP_ARCH_NATIVE AUDIT_ARCH_AARCH64
#else
#error "no seccomp filters for this architecture"
#endif

/* NULL for an architecture or filter that does not exist. */
const struct seccomp_program *seccomp_program(enum seccomp_filter filter, uint32_t audit_arch);

/* A listener's program of this machine that asks about sockets of the internet, too: what
 * noinet_heard, beside it, lets pass. In the arena; NULL: out of memory. */
const struct seccomp_program *seccomp_hearing_sockets(struct arena *a,
						      const struct seccomp_program *listener);

/* Loads a filter into the calling thread, which must have no_new_privs set or hold
 * CAP_SYS_ADMIN. flags are the kernel's SECCOMP_FILTER_FLAG_*. Returns 0, the
 * listener's fd (CLOEXEC) with SECCOMP_FILTER_FLAG_NEW_LISTENER, or -errno.
 * Not called load: libseccomp, which the tests link, has that name. */
CHILD_SAFE int seccomp_install(const struct seccomp_program *program, unsigned int flags);

struct seccomp_refusal {
	int nr;
	enum seccomp_filter filter;
	int told; /* TELL: the errno with which such a call fails; 0: nobody is told */
	const char *name;
	const char *reason; /* one line for the user */
};

/* What a filter has about a system call, by its native number; NULL: it lets it pass. Does
 * not look at arguments: a row means that the call can be refused, or is asked about, not
 * that every use of it is. */
const struct seccomp_refusal *seccomp_refusal(enum seccomp_filter filter, int nr);

#endif
