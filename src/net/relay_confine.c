/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay's own boundary. It has read what it needs; from here on it has the sockets it
 * was given and can make TCP and UDP sockets, and nothing else: no file, no program, no
 * other process, no privilege. The list of calls is short enough to be written by hand.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/grants.h"
#include "backend/linux/native.h"
#include "base/linux_compat.h"
#include "net/relay_in.h"

#define STAGE "relay"

/* What the loop, the pump, the lookup and the allocator use, and what sanitizers need to
 * print what they found. */
static const int allowed[] = {
	__NR_read,
	__NR_write,
	__NR_close,
	__NR_epoll_ctl,
	__NR_epoll_pwait,
	__NR_connect,
	__NR_shutdown,
	__NR_sendmsg,
	__NR_recvmsg,
	__NR_sendto,
	__NR_recvfrom,
	__NR_setsockopt,
	__NR_getsockopt,
	__NR_getsockname,
	__NR_getpeername,
	__NR_getrandom,
	__NR_clock_gettime,
	__NR_brk,
	__NR_mmap,
	__NR_munmap,
	__NR_mremap,
	__NR_madvise,
	__NR_futex,
	__NR_exit,
	__NR_exit_group,
	__NR_rt_sigreturn,
	__NR_rt_sigaction,
	__NR_rt_sigprocmask,
	__NR_restart_syscall,
	__NR_gettid,
	__NR_getpid,
	__NR_sched_yield,
	__NR_sigaltstack,
	__NR_clock_nanosleep,
	__NR_ppoll,
#ifdef __NR_epoll_wait
	__NR_epoll_wait,
	__NR_poll,
#endif
};
#define ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

#define WORD(field) (uint32_t) offsetof(struct seccomp_data, field)
#define LOAD(at) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define IF_EQUAL(value, then, otherwise) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (then), (otherwise))
#define RETURN(action) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (action))
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

/* One pair for each call, and what is before and after them. */
#define FILTER_MAX (16 + 2 * ALLOWED)

/* Sockets by their family; everything is a jump of one over the answer. */
static unsigned short write_filter(struct sock_filter *f)
{
	unsigned short n = 0;

	f[n++] = LOAD(WORD(arch));
	f[n++] = IF_EQUAL(SECCOMP_ARCH_NATIVE, 1, 0);
	f[n++] = RETURN(SECCOMP_RET_KILL_PROCESS);
	f[n++] = LOAD(WORD(nr));
	for (size_t i = 0; i < ALLOWED; i++) {
		f[n++] = IF_EQUAL((uint32_t)allowed[i], 0, 1);
		f[n++] = RETURN(SECCOMP_RET_ALLOW);
	}
	f[n++] = IF_EQUAL(__NR_socket, 1, 0);
	f[n++] = RETURN(REFUSE);
	f[n++] = LOAD(WORD(args[0]));
	f[n++] = IF_EQUAL(AF_INET, 1, 0);
	f[n++] = IF_EQUAL(AF_INET6, 0, 4);
	f[n++] = LOAD(WORD(args[1]));
	f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf);
	f[n++] = IF_EQUAL(SOCK_STREAM, 2, 0);
	f[n++] = IF_EQUAL(SOCK_DGRAM, 1, 0);
	f[n++] = RETURN(REFUSE);
	f[n++] = RETURN(SECCOMP_RET_ALLOW);
	return n;
}

static int load_filter(struct cordon_error *err)
{
	struct sock_filter code[FILTER_MAX];
	struct sock_fprog program = { .len = write_filter(code), .filter = code };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0)
		return 0;
	return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot load the filter");
}

/* No rule at all: nothing that is named by a path. Where the kernel has no Landlock, the
 * filter, in which no call opens a file, is alone. */
static int close_files(struct cordon_error *err)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct native_landlock landlock = {
		.abi = abi > 0 ? (unsigned)abi : 0,
		.handled_fs = abi > 0 ? grants_handled((unsigned)abi) : 0,
		.scoped = abi >= 6 ? LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL
				   : 0,
	};
	int ruleset = native_landlock_ruleset(&landlock, -1);

	if (ruleset >= -1 && native_landlock_enforce(ruleset, -1) == 0)
		return 0;
	return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot close the files");
}

int relay_confine(struct cordon_error *err)
{
	struct native none = { .no_setpcap = geteuid() != 0 };
	int r;

	if (native_drop_privileges(&none, -1) < 0)
		return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot drop the privileges");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot close the memory");
	r = close_files(err);
	return r < 0 ? r : load_filter(err);
}
