/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp, simulated: every filter, on every architecture, for every number. The
 * expectations do not come from filters.def: they are the reviewed files
 * tests/golden/seccomp-*.txt (written anew when CORDON_GOLDEN_WRITE is set) and the
 * tables below. test_seccomp_live carries out the same on the running kernel.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linux/seccomp.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fd.h"
#include "bpf_sim.h"
#include "test_seccomp_rows.h"

#define WALK_TO 600
#define NR_LAST 469

static const struct {
	const char *name;
	uint32_t audit, scmp;
} arches[] = {
	{ "x86_64", AUDIT_ARCH_X86_64, SCMP_ARCH_X86_64 },
	{ "aarch64", AUDIT_ARCH_AARCH64, SCMP_ARCH_AARCH64 },
};

/* Names libseccomp may be too old for. */
static const char *const newest[] = {
	"cachestat",	     "fchmodat2",	  "map_shadow_stack", "futex_wake",
	"futex_wait",	     "futex_requeue",	  "statmount",	      "listmount",
	"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
	"setxattrat",	     "getxattrat",	  "listxattrat",      "removexattrat",
	"open_tree_attr",    "file_getattr",	  "file_setattr",
};
#define NEWEST_FIRST 451

static const struct {
	int value;
	const char *name;
} errnos[] = {
	{ EPERM, "EPERM" },	      { EACCES, "EACCES" },
	{ ENOSYS, "ENOSYS" },	      { EAFNOSUPPORT, "EAFNOSUPPORT" },
	{ EOPNOTSUPP, "EOPNOTSUPP" }, { ENOPROTOOPT, "ENOPROTOOPT" },
};

static struct bpf_run run(enum seccomp_filter filter, uint32_t arch, uint32_t as_arch, uint32_t nr,
			  const uint64_t *args)
{
	struct seccomp_data data = { .nr = (int)nr, .arch = as_arch };

	if (args)
		memcpy(data.args, args, sizeof(data.args));
	return bpf_simulate(seccomp_program(filter, arch)->code, &data);
}

static uint32_t native(enum seccomp_filter filter, uint32_t arch, uint32_t nr)
{
	return run(filter, arch, arch, nr, NULL).action;
}

static uint32_t judge(enum seccomp_filter filter, uint32_t arch, int nr, const uint64_t *args)
{
	return run(filter, arch, arch, (uint32_t)nr, args).action;
}

static int number_of(uint32_t scmp, const char *name)
{
	for (size_t i = 0; i < COUNT(newest); i++)
		if (!strcmp(newest[i], name))
			return NEWEST_FIRST + (int)i;
	return seccomp_syscall_resolve_name_arch(scmp, name);
}

static void print_action(struct buf *b, struct bpf_run r)
{
	uint32_t data = r.action & SECCOMP_RET_DATA;

	if (r.read_args) {
		buf_adds(b, "arguments");
	} else if (r.action == SECCOMP_RET_ALLOW) {
		buf_adds(b, "allow");
	} else if (r.action == SECCOMP_RET_USER_NOTIF) {
		buf_adds(b, "notify");
	} else if ((r.action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO) {
		for (size_t i = 0; i < COUNT(errnos); i++)
			if (errnos[i].value == (int)data)
				buf_addf(b, "errno %s", errnos[i].name);
	} else {
		buf_addf(b, "0x%08x", r.action);
	}
}

static void print_name(struct buf *b, uint32_t scmp, uint32_t nr)
{
	char *name = seccomp_syscall_resolve_num_arch(scmp, (int)nr);

	if (name)
		buf_addf(b, " %s", name);
	else if (nr >= NEWEST_FIRST && nr <= NR_LAST)
		buf_addf(b, " %s", newest[nr - NEWEST_FIRST]);
	free(name);
}

/* One line a number; a run of numbers with the same constant answer is one line
 * when it is allowed, or when the numbers have no names. */
static void print_filter(struct buf *b, enum seccomp_filter filter, size_t arch)
{
	buf_addf(b, "# %s on %s: what each number gets\n",
		 seccomp_program(filter, arches[arch].audit)->name, arches[arch].name);
	for (uint32_t nr = 0, end; nr <= WALK_TO; nr = end + 1) {
		struct bpf_run r = run(filter, arches[arch].audit, arches[arch].audit, nr, NULL);
		struct buf name;

		buf_init(&name, 64);
		print_name(&name, arches[arch].scmp, nr);
		end = nr;
		while (!r.read_args && (r.action == SECCOMP_RET_ALLOW || !name.n) &&
		       end < WALK_TO) {
			struct bpf_run next = run(filter, arches[arch].audit, arches[arch].audit,
						  end + 1, NULL);

			if (next.read_args || next.action != r.action)
				break;
			end++;
		}
		if (end > nr)
			buf_addf(b, "%u-%u ", nr, end);
		else
			buf_addf(b, "%u%s ", nr, name.p);
		print_action(b, r);
		buf_addc(b, '\n');
		buf_free(&name);
	}
}

static void compare_golden(const char *path, struct buf *now)
{
	autoarena struct arena a;
	struct cordon_error err = { 0 };
	struct str then = { 0 };

	if (getenv("CORDON_GOLDEN_WRITE")) {
		FILE *out = fopen(path, "we");

		cr_assert(out && fputs(now->p, out) >= 0);
		fclose(out);
	}
	arena_init(&a, 1 << 20);
	cr_assert_eq(fd_read_file(&a, path, 1 << 19, &then, &err), 0, "%s", err.message);
	cr_expect(str_eq(then, buf_str(now)), "%s differs; now:\n%s", path, now->p);
}

Test(seccomp, the_kernel_would_load_them)
{
	for (size_t a = 0; a < COUNT(arches); a++) {
		for (int f = 0; f < SECCOMP_FILTER_COUNT; f++) {
			const struct seccomp_program *p = seccomp_program(f, arches[a].audit);
			const char *wrong = bpf_verify(p->code, p->len);

			cr_expect_null(wrong, "%s on %s: %s", p->name, arches[a].name, wrong);
		}
	}
	cr_assert_null(seccomp_program(SECCOMP_FILTER_surface, AUDIT_ARCH_I386));
	cr_assert_null(seccomp_program(SECCOMP_FILTER_COUNT, AUDIT_ARCH_X86_64));
}

Test(seccomp, every_number_is_as_reviewed)
{
	for (size_t a = 0; a < COUNT(arches); a++) {
		for (int f = 0; f < SECCOMP_FILTER_COUNT; f++) {
			char path[512];
			struct buf b;

			buf_init(&b, 1 << 18);
			print_filter(&b, f, a);
			snprintf(path, sizeof(path), TESTS_DIR "/golden/seccomp-%s-%s.txt",
				 seccomp_program(f, arches[a].audit)->name, arches[a].name);
			compare_golden(path, &b);
			buf_free(&b);
		}
	}
}

static void kills_everything(uint32_t arch, uint32_t as_arch)
{
	for (int f = 0; f < SECCOMP_FILTER_COUNT; f++)
		for (uint32_t nr = 0; nr <= WALK_TO; nr++) {
			struct bpf_run r = run(f, arch, as_arch, nr, NULL);

			cr_assert_eq(r.action, SECCOMP_RET_KILL_PROCESS);
		}
}

Test(seccomp, foreign_architectures_are_killed)
{
	static const uint32_t foreign[] = {
		AUDIT_ARCH_I386,
		AUDIT_ARCH_ARM,
		AUDIT_ARCH_ARMEB,
		AUDIT_ARCH_X86_64,
		AUDIT_ARCH_AARCH64,
		AUDIT_ARCH_RISCV64,
		0,
		0xffffffff,
	};

	for (size_t a = 0; a < COUNT(arches); a++)
		for (size_t i = 0; i < COUNT(foreign); i++)
			if (foreign[i] != arches[a].audit)
				kills_everything(arches[a].audit, foreign[i]);
}

Test(seccomp, x32_is_killed_and_unknown_numbers_do_not_exist)
{
	const uint32_t enosys = SECCOMP_RET_ERRNO | ENOSYS;

	for (int f = 0; f < SECCOMP_FILTER_COUNT; f++) {
		for (uint32_t nr = 0; nr <= WALK_TO; nr++) {
			uint32_t x32 = nr | 0x40000000u;

			cr_assert_eq(native(f, AUDIT_ARCH_X86_64, x32), SECCOMP_RET_KILL_PROCESS);
			cr_assert_eq(native(f, AUDIT_ARCH_AARCH64, x32), enosys);
		}
		for (size_t a = 0; a < COUNT(arches); a++) {
			uint32_t arch = arches[a].audit;

			cr_assert_eq(native(f, arch, NR_LAST + 1), enosys);
			cr_assert_eq(native(f, arch, 0x3fffffff), enosys);
			cr_assert_eq(native(f, arch, 0xffffffff), SECCOMP_RET_ALLOW);
		}
		cr_assert_eq(native(f, AUDIT_ARCH_X86_64, 0xfffffffe), SECCOMP_RET_KILL_PROCESS);
	}
}

static uint32_t action_of(int expect)
{
	if (expect == OK)
		return SECCOMP_RET_ALLOW;
	if (expect == NOTIFY_IT)
		return SECCOMP_RET_USER_NOTIF;
	return SECCOMP_RET_ERRNO | (uint32_t)expect;
}

static void judge_row(size_t i, uint32_t arch, int nr)
{
	uint64_t high[6];

	for (int n = 0; n < 6; n++)
		high[n] = judged[i].args[n] | (judged[i].wide & 1 << n ? 0 : 0x8000000100000000);
	cr_expect_eq(judge(judged[i].filter, arch, nr, judged[i].args), action_of(judged[i].expect),
		     "row %zu: %s on %x", i, judged[i].syscall, arch);
	cr_expect_eq(judge(judged[i].filter, arch, nr, high), action_of(judged[i].expect),
		     "row %zu: %s on %x, high words", i, judged[i].syscall, arch);
}

Test(seccomp, arguments_are_judged_by_what_the_kernel_reads)
{
	for (size_t i = 0; i < COUNT(judged); i++) {
		for (size_t a = 0; a < COUNT(arches); a++) {
			int nr = number_of(arches[a].scmp, judged[i].syscall);

			cr_assert_neq(nr, __NR_SCMP_ERROR);
			if (nr >= 0)
				judge_row(i, arches[a].audit, nr);
		}
	}
}

static uint32_t strictest(uint64_t parts, uint32_t arch, uint32_t nr, const uint64_t *args)
{
	uint32_t found = SECCOMP_RET_ALLOW;

	for (int f = 0; f < SECCOMP_FILTER_COUNT; f++)
		if (parts & UINT64_C(1) << f) {
			uint32_t action = run(f, arch, arch, nr, args).action;

			found = action < found ? action : found;
		}
	return found;
}

static void compare_parts(enum seccomp_filter whole, uint64_t parts, uint32_t arch)
{
	for (int nr = 0; nr <= WALK_TO; nr++)
		for (size_t i = 0; i < COUNT(judged); i++)
			cr_assert_eq(judge(whole, arch, nr, judged[i].args),
				     strictest(parts, arch, (uint32_t)nr, judged[i].args),
				     "%d with the arguments of row %zu", nr, i);
}

Test(seccomp, one_program_answers_like_its_parts)
{
	static const struct {
		enum seccomp_filter whole;
		uint64_t parts;
	} rows[] = {
		{ F(base), BIT(surface) | BIT(sockets) | BIT(nokeyring) },
		{ F(base_keyring), BIT(surface) | BIT(sockets) },
		{ F(base_hostns),
		  BIT(surface) | BIT(sockets) | BIT(nokeyring) | BIT(noipc) | BIT(nopidns) },
	};

	for (size_t r = 0; r < COUNT(rows); r++)
		for (size_t a = 0; a < COUNT(arches); a++)
			compare_parts(rows[r].whole, rows[r].parts, arches[a].audit);
}

/* H42-H47 by name, so that rewriting the golden files cannot lose one. */
Test(seccomp, known_ways_out_are_refused)
{
	static const char *const names[] = {
		"mount",
		"umount2",
		"pivot_root",
		"chroot",
		"open_tree",
		"open_tree_attr",
		"move_mount",
		"fsopen",
		"fsconfig",
		"fsmount",
		"fspick",
		"mount_setattr",
		"setns",
		"clone3",
		"init_module",
		"finit_module",
		"delete_module",
		"kexec_load",
		"kexec_file_load",
		"bpf",
		"perf_event_open",
		"userfaultfd",
		"io_uring_setup",
		"io_uring_enter",
		"io_uring_register",
		"add_key",
		"request_key",
		"keyctl",
		"open_by_handle_at",
		"name_to_handle_at",
		"pidfd_getfd",
		"kcmp",
		"process_madvise",
		"vmsplice",
		"modify_ldt",
		"iopl",
		"ioperm",
		"swapon",
		"reboot",
		"settimeofday",
		"clock_settime",
		"acct",
		"file_setattr",
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		for (size_t a = 0; a < COUNT(arches); a++) {
			int nr = number_of(arches[a].scmp, names[i]);
			struct bpf_run r;

			cr_assert_neq(nr, __NR_SCMP_ERROR, "%s", names[i]);
			if (nr < 0)
				continue;
			r = run(F(base), arches[a].audit, arches[a].audit, (uint32_t)nr, NULL);
			cr_expect_eq(r.action & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO,
				     "%s on %s", names[i], arches[a].name);
			cr_expect_not(r.read_args);
		}
	}
}

Test(seccomp, every_refusal_has_a_reason)
{
	for (int f = 0; f < SECCOMP_FILTER_COUNT; f++) {
		for (int nr = 0; nr <= NR_LAST; nr++) {
			struct bpf_run r = run(f, SECCOMP_ARCH_NATIVE, SECCOMP_ARCH_NATIVE,
					       (uint32_t)nr, NULL);
			const struct seccomp_refusal *row = seccomp_refusal(f, nr);
			char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
			bool exists = name || nr >= NEWEST_FIRST;

			if (r.action == SECCOMP_RET_ALLOW && !r.read_args)
				cr_expect_null(row, "%d", nr);
			else if (exists)
				cr_expect(row && strlen(row->reason) < 120, "%d", nr);
			if (row && name)
				cr_expect_str_eq(row->name, name);
			free(name);
		}
	}
	cr_expect_null(seccomp_refusal(F(base), -1));
}

/* What a sandbox with a listener loads in place of the filter that answers by itself. */
static const struct {
	enum seccomp_filter plain, heard;
} beside[] = {
	{ F(base), F(base_heard) },
	{ F(base_keyring), F(base_keyring_heard) },
	{ F(base_hostns), F(base_hostns_heard) },
};

static const struct seccomp_refusal *refusal_of(enum seccomp_filter filter, uint32_t arch, int nr)
{
	return arch == SECCOMP_ARCH_NATIVE ? seccomp_refusal(filter, nr) : NULL;
}

/* Nothing that the plain filter refuses gets past both. */
static void compare_heard(size_t pair, enum seccomp_filter listener, uint32_t arch, int nr,
			  const uint64_t *args)
{
	uint32_t plain = judge(beside[pair].plain, arch, nr, args);
	uint32_t heard = judge(beside[pair].heard, arch, nr, args);
	const struct seccomp_refusal *row = refusal_of(beside[pair].plain, arch, nr);

	if (heard == plain)
		return;
	cr_assert_eq(heard, SECCOMP_RET_ALLOW, "%d", nr);
	cr_assert_eq(judge(listener, arch, nr, args), SECCOMP_RET_USER_NOTIF, "%d", nr);
	if (arch == SECCOMP_ARCH_NATIVE)
		cr_assert(row && plain == (SECCOMP_RET_ERRNO | (uint32_t)row->told), "%d", nr);
}

Test(seccomp, what_is_told_is_asked_about_and_what_is_not_stays_refused)
{
	static const enum seccomp_filter listeners[] = { F(notify_writes), F(notify_writes_execs),
						       F(notify_strictly),
						       F(notify_strictly_execs),
						       F(notify_all), F(notify_all_execs) };

	for (size_t l = 0; l < COUNT(listeners); l++)
		cr_assert(seccomp_program(listeners[l], SECCOMP_ARCH_NATIVE)->asks);
	for (size_t p = 0; p < COUNT(beside); p++)
		for (size_t l = 0; l < COUNT(listeners); l++)
			for (size_t a = 0; a < COUNT(arches); a++)
				for (int nr = 0; nr <= WALK_TO; nr++)
					for (size_t i = 0; i < COUNT(judged); i++)
						compare_heard(p, listeners[l], arches[a].audit, nr,
							      judged[i].args);
}

/* Programs make these calls in passing, or fall back from them: not worth a line. */
Test(seccomp, what_programs_try_is_answered_in_the_kernel)
{
	static const char *const quiet[] = { "clone3",	     "io_uring_setup", "personality",
					     "ioctl",	     "kcmp",	       "name_to_handle_at",
					     "setxattrat",   "vmsplice",       "adjtimex",
					     "mknodat",	     "sendto",	       "setsockopt",
					     "process_madvise" };

	for (size_t i = 0; i < COUNT(quiet); i++) {
		const struct seccomp_refusal *row = seccomp_refusal(
			F(base), number_of(SCMP_ARCH_NATIVE, quiet[i]));

		cr_expect(row && !row->told, "%s", quiet[i]);
	}
}

/* Calls that programs make all the time must be answered from the kernel's cache of
 * constant verdicts, and the judged ones quickly. */
Test(seccomp, the_common_path_is_short)
{
	static const char *const hot[] = { "read",  "write", "openat", "newfstatat", "mmap",
					   "futex", "close", "execve", "getpid",     "recvmsg" };
	static const char *const judged_often[] = { "ioctl", "clone", "sendto", "sendmsg" };

	for (size_t i = 0; i < COUNT(hot); i++)
		for (int f = F(surface); f <= F(noptrace); f++) {
			int nr = number_of(SCMP_ARCH_X86_64, hot[i]);
			struct bpf_run r = run(f, AUDIT_ARCH_X86_64, AUDIT_ARCH_X86_64,
					       (uint32_t)nr, NULL);

			cr_expect(!r.read_args && r.action == SECCOMP_RET_ALLOW, "%s", hot[i]);
		}
	for (size_t i = 0; i < COUNT(judged_often); i++)
		for (int f = F(surface); f <= F(base_hostns); f++) {
			int nr = number_of(SCMP_ARCH_X86_64, judged_often[i]);
			struct bpf_run r = run(f, AUDIT_ARCH_X86_64, AUDIT_ARCH_X86_64,
					       (uint32_t)nr, NULL);

			cr_expect_leq(r.steps, 25, "%s: %u steps", judged_often[i], r.steps);
		}
}

/* The simulator itself: each row computes something whose answer is known. */
Test(bpf_sim, computes_and_verifies)
{
	const struct seccomp_data data = { .nr = 7, .arch = 5 };
	const struct sock_filter sum[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* 7 */
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4), /* 5 */
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, 3),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),	  /* 35 */
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 6),	  /* 41 */
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 2),	  /* 20 */
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),	  /* 320 */
		BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),	  /* 325 */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0xf), /* 330 */
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 10),  /* 320 */
		BPF_STMT(BPF_ALU | BPF_NEG, 0),
		BPF_STMT(BPF_ALU | BPF_NEG, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 5), /* 10 */
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_X, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 1),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_filter bad[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64),
				     BPF_STMT(BPF_RET | BPF_K, 0) };
	const struct sock_filter far[] = { BPF_STMT(BPF_JMP | BPF_JA, 1),
					   BPF_STMT(BPF_RET | BPF_K, 0) };

	cr_assert_null(bpf_verify(sum, COUNT(sum)));
	cr_assert_eq(bpf_simulate(sum, &data).action, 10);
	cr_assert_eq(bpf_simulate(sum, &data).steps, 17);
	cr_assert_not(bpf_simulate(sum, &data).read_args);
	cr_assert_not_null(bpf_verify(bad, 2));
	bad[0].k = 60;
	cr_assert_null(bpf_verify(bad, 2));
	cr_assert(bpf_simulate(bad, &data).read_args);
	cr_assert_not_null(bpf_verify(bad, 1));
	cr_assert_not_null(bpf_verify(bad, 0));
	cr_assert_not_null(bpf_verify(far, 2));
}

static uint32_t hears(const struct seccomp_program *p, int nr, uint64_t family)
{
	struct seccomp_data data = { .nr = nr, .arch = SECCOMP_ARCH_NATIVE, .args = { family, 1 } };

	return bpf_simulate(p->code, &data).action;
}

/* Together with noinet_heard it leaves nothing open that noinet closes. */
Test(seccomp, a_listener_that_hears_of_sockets_asks_about_the_internets_and_no_others)
{
	const struct seccomp_program *plain =
		seccomp_program(F(notify_writes), SECCOMP_ARCH_NATIVE);
	int nr = number_of(seccomp_arch_native(), "socket");
	const struct seccomp_program *p;
	struct arena a;

	arena_init(&a, 1 << 20);
	p = seccomp_hearing_sockets(&a, plain);
	cr_assert_null(bpf_verify(p->code, p->len));
	cr_assert(p->asks);
	for (uint64_t family = 0; family < 64; family++) {
		uint64_t args[6] = { family, 1 };
		bool closed = judge(F(noinet), SECCOMP_ARCH_NATIVE, (uint32_t)nr, args) !=
			      SECCOMP_RET_ALLOW;
		bool passes = judge(F(noinet_heard), SECCOMP_ARCH_NATIVE, (uint32_t)nr, args) ==
			      SECCOMP_RET_ALLOW;

		cr_assert_eq(hears(p, nr, family) == SECCOMP_RET_USER_NOTIF, closed && passes,
			     "%llu", (unsigned long long)family);
		/* The kernel reads 32 bits. */
		cr_assert_eq(hears(p, nr, family | 1ull << 32), hears(p, nr, family));
	}
	for (int other = 0; other <= WALK_TO; other++)
		if (other != nr)
			cr_assert_eq(hears(p, other, 2), hears(plain, other, 2), "%d", other);
	arena_free(&a);
}
