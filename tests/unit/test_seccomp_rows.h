/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls get by their arguments. The simulator runs every row for every
 * architecture; the live test carries out the refused ones, so a refused row must
 * do no harm where its filter is broken (kill with signal 0).
 */
#ifndef CORDON_TESTS_SECCOMP_ROWS_H
#define CORDON_TESTS_SECCOMP_ROWS_H

#include <errno.h>
#include <stdint.h>
#include "backend/linux/seccomp.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define OK 0
#define NOTIFY_IT (-1)
#define F(name) SECCOMP_FILTER_##name
#define BIT(name) (1u << SECCOMP_FILTER_##name)

/* Constants as numbers: what the kernel sees, not what a header of this machine
 * says. wide marks pointer arguments, where the upper half counts. */
static const struct {
	enum seccomp_filter filter;
	const char *syscall;
	uint64_t args[6];
	int expect;
	uint8_t wide;
} judged[] = {
	{ F(surface), "ioctl", { 0, 0x5412 }, EPERM },
	{ F(surface), "ioctl", { 0, 0x541c }, EPERM },
	{ F(surface), "ioctl", { 0, 0x5423 }, EPERM },
	{ F(surface), "ioctl", { 0, 0x541d }, EPERM },
	{ F(surface), "ioctl", { 0, 0x5401 }, OK },
	{ F(surface), "ioctl", { 0, 0x5413 }, OK },
	{ F(surface), "ioctl", { 0x5412, 0, 0x5412 }, OK },
	{ F(surface), "clone", { 0x10000000 }, EPERM },
	{ F(surface), "clone", { 0x00020000 }, EPERM },
	{ F(surface), "clone", { 0x02000000 }, EPERM },
	{ F(surface), "clone", { 0x04000000 }, EPERM },
	{ F(surface), "clone", { 0x08000000 }, EPERM },
	{ F(surface), "clone", { 0x20000000 }, EPERM },
	{ F(surface), "clone", { 0x40000000 }, EPERM },
	{ F(surface), "clone", { 0x10000000 | 0x01200011 }, EPERM },
	{ F(surface), "clone", { 0x01200011 }, OK },
	{ F(surface), "clone", { 0x003d0f00 }, OK },
	{ F(surface), "clone", { 0x4111 }, OK },
	{ F(surface), "unshare", { 0x10000000 }, EPERM },
	{ F(surface), "unshare", { 0x00020000 }, EPERM },
	{ F(surface), "unshare", { 0x00000080 }, EPERM },
	{ F(surface), "unshare", { 0x00000600 }, OK },
	{ F(surface), "unshare", { 0 }, OK },
	{ F(surface), "personality", { 0xffffffff }, OK },
	{ F(surface), "personality", { 0 }, OK },
	{ F(surface), "personality", { 0x0040000 }, OK },
	{ F(surface), "personality", { 0x0400000 }, EPERM },
	{ F(surface), "personality", { 0x0440000 }, EPERM },
	{ F(surface), "personality", { 0x0100000 }, EPERM },
	{ F(surface), "personality", { 8 }, EPERM },
	{ F(surface), "personality", { 0xfffffffe }, EPERM },
	{ F(surface), "mknod", { 0, 0020666 }, EPERM },
	{ F(surface), "mknod", { 0, 0060666 }, EPERM },
	{ F(surface), "mknod", { 0, 0010666 }, OK },
	{ F(surface), "mknodat", { 0, 0, 0020666 }, EPERM },
	{ F(surface), "mknodat", { 0, 0, 0060666 }, EPERM },
	{ F(surface), "mknodat", { 0, 0, 0100666 }, OK },
	{ F(surface), "mknodat", { 0, 0, 0 }, OK },
	{ F(sockets), "socket", { 1, 1, 0 }, OK },
	{ F(sockets), "socket", { 1, 0x80802, 0 }, OK },
	{ F(sockets), "socket", { 2, 1, 0 }, OK },
	{ F(sockets), "socket", { 2, 0x80801, 6 }, OK },
	{ F(sockets), "socket", { 10, 2, 17 }, OK },
	{ F(sockets), "socket", { 10, 0x80002, 0 }, OK },
	{ F(sockets), "socket", { 2, 1, 262 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 2, 0x80801, 262 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 10, 1, 132 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 2, 1, 256 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 2, 5, 132 }, ESOCKTNOSUPPORT },
	{ F(sockets), "socket", { 2, 6, 33 }, ESOCKTNOSUPPORT },
	{ F(sockets), "socket", { 2, 10, 3 }, ESOCKTNOSUPPORT },
	{ F(sockets), "socket", { 2, 0, 0 }, ESOCKTNOSUPPORT },
	{ F(sockets), "socket", { 2, 3, 1 }, EPERM },
	{ F(sockets), "socket", { 10, 0x80003, 58 }, EPERM },
	{ F(sockets), "socket", { 2, 2, 1 }, EACCES },
	{ F(sockets), "socket", { 10, 2, 58 }, EACCES },
	{ F(sockets), "socket", { 2, 2, 136 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 16, 3, 0 }, OK },
	{ F(sockets), "socket", { 16, 0x80002, 0 }, OK },
	{ F(sockets), "socket", { 16, 3, 4 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 16, 3, 9 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 16, 3, 12 }, EPROTONOSUPPORT },
	{ F(sockets), "socket", { 17, 3, 0x300 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 40, 1, 0 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 38, 5, 0 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 43, 1, 0 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 44, 3, 0 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 15, 3, 2 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 31, 3, 1 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 30, 1, 0 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 21, 5, 0 }, EAFNOSUPPORT },
	{ F(sockets), "socket", { 0, 1, 0 }, EAFNOSUPPORT },
	{ F(sockets), "socketpair", { 1, 2, 0 }, OK },
	{ F(sockets), "socketpair", { 30, 5, 0 }, EAFNOSUPPORT },
	{ F(sockets), "sendto", { 3, 0, 0, 0x20000000 }, EOPNOTSUPP },
	{ F(sockets), "sendto", { 3, 0, 0, 0x20004000 }, EOPNOTSUPP },
	{ F(sockets), "sendto", { 3, 0, 0x20000000, 0x4000 }, OK },
	{ F(sockets), "sendmsg", { 3, 0, 0x20000000 }, EOPNOTSUPP },
	{ F(sockets), "sendmsg", { 3, 0, 0x4000 }, OK },
	{ F(sockets), "sendmmsg", { 3, 0, 1, 0x20000040 }, EOPNOTSUPP },
	{ F(sockets), "sendmmsg", { 3, 0, 1, 0x40 }, OK },
	{ F(sockets), "setsockopt", { 3, 6, 30 }, EOPNOTSUPP },
	{ F(sockets), "setsockopt", { 3, 6, 31 }, ENOPROTOOPT },
	{ F(sockets), "setsockopt", { 3, 6, 1 }, OK },
	{ F(sockets), "setsockopt", { 3, 1, 30 }, OK },
	{ F(nopidns), "kill", { 0xffffffff, 0 }, EPERM },
	{ F(nopidns), "kill", { 0, 0 }, OK },
	{ F(nopidns), "kill", { 0xfffffff0, 0 }, OK },
	{ F(nopidns), "setpriority", { 2, 0, 19 }, EPERM },
	{ F(nopidns), "setpriority", { 0, 0, 19 }, OK },
	{ F(nopidns), "ioprio_set", { 3, 0, 0 }, EPERM },
	{ F(nopidns), "ioprio_set", { 1, 0, 0 }, OK },
	{ F(nopidns), "prlimit64", { 0, 0, 0x1000 }, OK, 1 << 2 },
	{ F(nopidns), "prlimit64", { 77, 0, 0 }, OK, 1 << 2 },
	{ F(nopidns), "prlimit64", { 77, 0, 0x1000 }, EPERM, 1 << 2 },
	{ F(nopidns), "prlimit64", { 77, 0, 0x700000000000 }, EPERM, 1 << 2 },
	{ F(noinet), "socket", { 2, 1, 0 }, EACCES },
	{ F(noinet), "socket", { 10, 2, 0 }, EACCES },
	{ F(noinet), "socket", { 16, 3, 0 }, EACCES },
	{ F(noinet), "socket", { 1, 1, 0 }, OK },
	{ F(noudp), "socket", { 2, 2, 0 }, EACCES },
	{ F(noudp), "socket", { 10, 0x80802, 17 }, EACCES },
	{ F(noudp), "socket", { 2, 3, 17 }, EACCES },
	{ F(noudp), "socket", { 2, 0x80801, 0 }, OK },
	{ F(noudp), "socket", { 1, 2, 0 }, OK },
	{ F(nounix), "socket", { 1, 1, 0 }, EACCES },
	{ F(nounix), "socket", { 1, 0x80002, 0 }, EACCES },
	{ F(nounix), "socket", { 2, 1, 0 }, OK },
	{ F(nounix), "socketpair", { 1, 0x80001, 0 }, OK },
	{ F(nounix), "socketpair", { 1, 5, 0 }, OK },
	{ F(nounix), "socketpair", { 1, 2, 0 }, EACCES },
	{ F(nounix), "socketpair", { 1, 0x80003, 0 }, EACCES },
	{ F(notify_create), "open", { 0, 0 }, OK },
	{ F(notify_create), "open", { 0, 0x80000 }, OK },
	{ F(notify_create), "open", { 0, 1 }, NOTIFY_IT },
	{ F(notify_create), "open", { 0, 3 }, NOTIFY_IT },
	{ F(notify_create), "openat", { 0, 0, 0x80000 }, OK },
	{ F(notify_create), "openat", { 0, 1, 0 }, OK },
	{ F(notify_create), "openat", { 0, 0, 2 }, NOTIFY_IT },
	{ F(notify_create), "openat", { 0, 0, 0x40 }, NOTIFY_IT },
	{ F(notify_create), "openat", { 0, 0, 0x200 }, NOTIFY_IT },
	{ F(notify_create), "openat", { 0, 0, 0x200002 }, OK },
	{ F(notify_create), "openat2", { 3, 0x1000, 0x2000, 24 }, NOTIFY_IT },
	{ F(notify_create), "bind", { 3, 0x1000, 110 }, NOTIFY_IT },
	{ F(notify_create), "connect", { 3, 0x1000, 110 }, OK },
	{ F(notify_create), "renameat2", { 0, 1, 2, 3, 4 }, NOTIFY_IT },
};

#endif
