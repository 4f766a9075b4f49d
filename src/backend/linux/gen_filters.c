/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-time program: filters.def in, a C file with constant BPF out.
 *
 * libseccomp resolves names and lays out the search over system call numbers. The
 * start of each program and the judging of arguments are written here: libseccomp
 * can neither say "above this number" nor "none of these values in the low word".
 * A call that is judged by arguments gets a SCMP_ACT_TRACE place-holder from
 * libseccomp, which is then replaced by a jump to the judging code behind it.
 */
#define _GNU_SOURCE
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/ioprio.h>
#include <linux/memfd.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/linux_compat.h"

#define X32_BIT 0x40000000u
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum judge {
#define ARGS(check, ...) JUDGE_##check,
#include "backend/linux/filters.def"
	JUDGE_COUNT
};

enum filter {
#define FILTER(name, doc) FILTER_##name,
#include "backend/linux/filters.def"
	FILTER_COUNT
};

enum arch_index {
#define ARCH(name, audit, scmp, has_x32) ARCH_##name,
#include "backend/linux/filters.def"
};

/* What TELL means in a filter. */
enum telling {
	FAILS,
	PASSES,
	ASKS,
};

struct verdict {
	uint32_t ret;
	int go;	  /* enum judge, or -1 for `ret` */
	int told; /* TELL, with its errno in ret */
};

enum step_op {
	STEP_LOAD,
	STEP_AND,
	STEP_IS,
	STEP_HAS,
	STEP_ELSE,
};

struct step {
	enum step_op op;
	uint32_t value;
	struct verdict then;
};

/* Both architectures are little-endian: the low word comes first. */
/* clang-format off */
#define LOW(n) { STEP_LOAD, offsetof(struct seccomp_data, args[n]), { 0, -1, 0 } }
#define HIGH(n) { STEP_LOAD, offsetof(struct seccomp_data, args[n]) + 4, { 0, -1, 0 } }
#define AND(mask) { STEP_AND, (uint32_t)(mask), { 0, -1, 0 } }
#define IS(value, verdict) { STEP_IS, (uint32_t)(value), verdict }
#define HAS(bits, verdict) { STEP_HAS, (uint32_t)(bits), verdict }
#define ELSE(verdict) { STEP_ELSE, 0, verdict }
#define PASS { SECCOMP_RET_ALLOW, -1, 0 }
#define FAIL(errnum) { SECCOMP_RET_ERRNO | (errnum), -1, 0 }
#define TELL(errnum) { SECCOMP_RET_ERRNO | (errnum), -1, 1 }
#define ASK { SECCOMP_RET_USER_NOTIF, -1, 0 }
#define GO(check) { 0, JUDGE_##check, 0 }
/* clang-format on */

#define ARGS(check, ...) static const struct step steps_##check[] = { __VA_ARGS__ };
#include "backend/linux/filters.def"

static const struct {
	const struct step *steps;
	size_t count;
} judges[] = {
#define ARGS(check, ...) { steps_##check, COUNT(steps_##check) },
#include "backend/linux/filters.def"
};

struct arch {
	const char *name;
	const char *audit_name;
	uint32_t audit;
	uint32_t scmp;
	int has_x32;
};

static const struct arch arches[] = {
#define ARCH(name, audit, scmp, has_x32) { #name, #audit, audit, scmp, has_x32 },
#include "backend/linux/filters.def"
};

static const struct {
	enum arch_index arch;
	uint32_t first, last;
} gaps[] = {
#define GAP(arch, first, last) { ARCH_##arch, first, last },
#include "backend/linux/filters.def"
};

static const struct newer {
	const char *name;
	uint32_t nr;
} newer[] = {
#define NEWER(syscall) { #syscall, __NR_##syscall },
#include "backend/linux/filters.def"
};

static const uint32_t last_nr =
#define LAST(syscall) __NR_##syscall
#include "backend/linux/filters.def"
	;

static const struct {
	const char *name;
	const char *doc;
} filters[] = {
#define FILTER(name, doc) { #name, doc },
#include "backend/linux/filters.def"
};

static const struct {
	enum filter filter;
	enum filter part;
} parts[] = {
#define INCLUDES(filter, part) { FILTER_##filter, FILTER_##part },
#include "backend/linux/filters.def"
};

static const struct {
	enum filter filter;
	enum telling how;
} tellings[] = {
#define TELLING(filter, how) { FILTER_##filter, how },
#include "backend/linux/filters.def"
};

static const struct row {
	enum filter filter;
	const char *syscall;
	struct verdict verdict;
	const char *reason;
} rows[] = {
#define REFUSE(filter, syscall, errnum, reason) { FILTER_##filter, #syscall, FAIL(errnum), reason },
#define REPORT(filter, syscall, errnum, reason) { FILTER_##filter, #syscall, TELL(errnum), reason },
#define CHECK(filter, syscall, check, reason) { FILTER_##filter, #syscall, GO(check), reason },
#define NOTIFY(filter, syscall, reason) { FILTER_##filter, #syscall, ASK, reason },
#include "backend/linux/filters.def"
};

/* A program being written, with the jumps that wait for their judge's place. */
struct program {
	enum filter filter;
	struct sock_filter code[BPF_MAXINSNS];
	size_t len;
	struct {
		size_t at;
		int judge;
	} jumps[BPF_MAXINSNS];
	size_t jump_count;
	int wanted[JUDGE_COUNT];
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "gen_filters: %s: %s\n", name, what);
	exit(1);
}

static void emit(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (p->len == BPF_MAXINSNS)
		die("too long", "program");
	p->code[p->len++] = (struct sock_filter){ code, jt, jf, k };
}

static void emit_ret(struct program *p, uint32_t action)
{
	emit(p, BPF_RET | BPF_K, 0, 0, action);
}

static void note_jump(struct program *p, size_t at, int judge)
{
	p->code[at] = (struct sock_filter){ BPF_JMP | BPF_JA, 0, 0, 0 };
	p->jumps[p->jump_count].at = at;
	p->jumps[p->jump_count++].judge = judge;
	p->wanted[judge] = 1;
}

static enum telling telling_in(enum filter filter)
{
	for (size_t i = 0; i < COUNT(tellings); i++)
		if (tellings[i].filter == filter)
			return tellings[i].how;
	return FAILS;
}

/* What the verdict is in that filter. One that asks leaves failing to the filter that is
 * loaded beside it. */
static struct verdict verdict_in(enum filter filter, struct verdict v)
{
	static const struct verdict pass = PASS, ask = ASK;
	enum telling how = telling_in(filter);

	if (how == FAILS || v.go >= 0 || v.ret == SECCOMP_RET_USER_NOTIF)
		return v;
	if (how == PASSES)
		return v.told ? pass : v;
	return v.told ? ask : pass;
}

static int decides(const struct step *step)
{
	return step->op == STEP_IS || step->op == STEP_HAS || step->op == STEP_ELSE;
}

/* Does it ever do anything but pass? */
static int acts_in(enum filter filter, struct verdict v)
{
	if (v.go < 0)
		return verdict_in(filter, v).ret != SECCOMP_RET_ALLOW;
	for (size_t i = 0; i < judges[v.go].count; i++) {
		const struct step *step = &judges[v.go].steps[i];

		if (decides(step) && acts_in(filter, step->then))
			return 1;
	}
	return 0;
}

static void emit_verdict(struct program *p, struct verdict v)
{
	v = verdict_in(p->filter, v);
	emit_ret(p, v.ret);
	if (v.go >= 0)
		note_jump(p, p->len - 1, v.go);
}

static const struct newer *find_newer(const char *name)
{
	for (size_t i = 0; i < COUNT(newer); i++)
		if (!strcmp(newer[i].name, name))
			return &newer[i];
	return NULL;
}

/* The number on this architecture, or -1 where the call does not exist. */
static int resolve(const struct arch *arch, const char *name)
{
	const struct newer *known = find_newer(name);
	int nr;

	if (known)
		return (int)known->nr;
	nr = seccomp_syscall_resolve_name_arch(arch->scmp, name);
	if (nr == __NR_SCMP_ERROR)
		die("no such system call", name);
	return nr < 0 ? -1 : nr;
}

/* Numbers above the last reviewed one, off the common path. */
static void emit_high_numbers(struct program *p, const struct arch *arch)
{
	emit(p, BPF_JMP | BPF_JGT | BPF_K, 0, arch->has_x32 ? 5 : 3, last_nr);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0xffffffff);
	emit_ret(p, SECCOMP_RET_ALLOW);
	if (arch->has_x32) {
		emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
		emit_ret(p, SECCOMP_RET_KILL_PROCESS);
	}
	emit_ret(p, SECCOMP_RET_ERRNO | ENOSYS);
}

static void emit_gaps(struct program *p, const struct arch *arch)
{
	for (size_t i = 0; i < COUNT(gaps); i++) {
		if (arch != &arches[gaps[i].arch])
			continue;
		emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 2, gaps[i].first);
		emit(p, BPF_JMP | BPF_JGT | BPF_K, 1, 0, gaps[i].last);
		emit_ret(p, SECCOMP_RET_ERRNO | ENOSYS);
	}
}

static int row_is_in(const struct row *row, enum filter filter)
{
	if (row->filter == filter)
		return 1;
	for (size_t i = 0; i < COUNT(parts); i++)
		if (parts[i].filter == filter && parts[i].part == row->filter)
			return 1;
	return 0;
}

static int row_acts_in(const struct row *row, enum filter filter)
{
	return row_is_in(row, filter) && acts_in(filter, row->verdict);
}

/* libseccomp would silently keep the first of two rows for one call. */
static void refuse_second_row(enum filter filter, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (row_acts_in(&rows[i], filter) && !strcmp(rows[i].syscall, rows[row].syscall))
			die("two rows for one call", rows[row].syscall);
}

static void emit_newer(struct program *p, enum filter filter)
{
	size_t start = p->len;

	emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 0, newer[0].nr);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct newer *call = find_newer(rows[i].syscall);

		if (!call || !row_acts_in(&rows[i], filter))
			continue;
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call->nr);
		emit_verdict(p, rows[i].verdict);
	}
	emit_ret(p, SECCOMP_RET_ALLOW);
	if (p->len - start - 1 > 255)
		die("too many rows for newer calls", filters[filter].name);
	p->code[start].jf = (uint8_t)(p->len - start - 1);
}

static void emit_start(struct program *p, const struct arch *arch, enum filter filter)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, arch->audit);
	emit_ret(p, SECCOMP_RET_KILL_PROCESS);
	emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	emit_high_numbers(p, arch);
	emit_gaps(p, arch);
	emit_newer(p, filter);
}

static uint32_t libseccomp_action(struct verdict v)
{
	if (v.go >= 0)
		return SCMP_ACT_TRACE((uint32_t)v.go);
	if (v.ret == SECCOMP_RET_USER_NOTIF)
		return SCMP_ACT_NOTIFY;
	return SCMP_ACT_ERRNO(v.ret & SECCOMP_RET_DATA);
}

static void add_rows(scmp_filter_ctx ctx, const struct arch *arch, enum filter filter)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *name = rows[i].syscall;

		if (!row_acts_in(&rows[i], filter) || find_newer(name) || resolve(arch, name) < 0)
			continue;
		/* Takes the build machine's number and translates it itself. */
		if (seccomp_rule_add(ctx, libseccomp_action(verdict_in(filter, rows[i].verdict)),
				     seccomp_syscall_resolve_name(name), 0) < 0)
			die("libseccomp refused the row", name);
	}
}

static scmp_filter_ctx new_context(const struct arch *arch)
{
	scmp_filter_ctx ctx;

	/* Not what this machine's kernel can do: the newest interface there is. */
	seccomp_api_set(5);
	ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (!ctx)
		die("cannot start libseccomp", arch->name);
	if (seccomp_arch_native() != arch->scmp &&
	    (seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE) < 0 ||
	     seccomp_arch_add(ctx, arch->scmp) < 0))
		die("libseccomp refused the architecture", arch->name);
	if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0 ||
	    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
		die("libseccomp is too old", arch->name);
	return ctx;
}

/* libseccomp's own look at the architecture and x32 repeats emit_start; the search
 * proper begins after its last load of the number, which is still loaded here. The
 * kernel runs the filter once for every number while loading it: steps count. */
static size_t search_start(const struct sock_filter *code, size_t len)
{
	for (size_t i = len; i-- > 0;)
		if (code[i].code == (BPF_LD | BPF_W | BPF_ABS) &&
		    code[i].k == offsetof(struct seccomp_data, nr))
			return i + 1;
	return 0;
}

static void emit_search(struct program *p, const struct arch *arch, enum filter filter)
{
	static struct sock_filter code[BPF_MAXINSNS];
	scmp_filter_ctx ctx = new_context(arch);
	FILE *out = tmpfile();
	size_t len;

	add_rows(ctx, arch, filter);
	if (!out || seccomp_export_bpf(ctx, fileno(out)) < 0)
		die("libseccomp could not write the program", filters[filter].name);
	rewind(out);
	len = fread(code, sizeof(code[0]), BPF_MAXINSNS, out);
	for (size_t i = search_start(code, len); i < len; i++) {
		emit(p, code[i].code, code[i].jt, code[i].jf, code[i].k);
		if (code[i].code == (BPF_RET | BPF_K) &&
		    (code[i].k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE)
			note_jump(p, p->len - 1, (int)(code[i].k & SECCOMP_RET_DATA));
	}
	fclose(out);
	seccomp_release(ctx);
}

static void emit_step(struct program *p, const struct step *step)
{
	switch (step->op) {
	case STEP_LOAD:
		emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, step->value);
		break;
	case STEP_AND:
		emit(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, step->value);
		break;
	case STEP_IS:
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, step->value);
		emit_verdict(p, step->then);
		break;
	case STEP_HAS:
		emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, step->value);
		emit_verdict(p, step->then);
		break;
	case STEP_ELSE:
		emit_verdict(p, step->then);
		break;
	}
}

/* In the order of filters.def, so that a GO is a jump forward: the kernel knows no
 * other kind. */
static void emit_judges(struct program *p)
{
	size_t place[JUDGE_COUNT] = { 0 };

	for (size_t j = 0; j < JUDGE_COUNT; j++) {
		if (!p->wanted[j])
			continue;
		place[j] = p->len;
		if (judges[j].steps[judges[j].count - 1].op != STEP_ELSE)
			die("a check must end with ELSE", "ARGS");
		for (size_t i = 0; i < judges[j].count; i++)
			emit_step(p, &judges[j].steps[i]);
	}
	for (size_t i = 0; i < p->jump_count; i++) {
		size_t at = p->jumps[i].at, to = place[p->jumps[i].judge];

		if (to <= at)
			die("GO to a check further up", "ARGS");
		p->code[at].k = (uint32_t)(to - at - 1);
	}
}

static void print_program(FILE *out, const struct arch *arch, enum filter filter)
{
	static struct program p;

	for (size_t i = 0; i < COUNT(rows); i++)
		if (row_acts_in(&rows[i], filter))
			refuse_second_row(filter, i);
	memset(&p, 0, sizeof(p));
	p.filter = filter;
	emit_start(&p, arch, filter);
	emit_search(&p, arch, filter);
	emit_judges(&p);
	fprintf(out, "\nstatic const struct sock_filter %s_%s[] = {\n", arch->name,
		filters[filter].name);
	for (size_t i = 0; i < p.len; i++)
		fprintf(out, "\t{ 0x%02x, %u, %u, 0x%08x },\n", p.code[i].code, p.code[i].jt,
			p.code[i].jf, p.code[i].k);
	fprintf(out, "};\n");
}

/* The errno of the row's TELLs, 0 when it has none. */
static uint32_t told_errno(const struct row *row, struct verdict v)
{
	uint32_t found = v.go < 0 && v.told ? v.ret & SECCOMP_RET_DATA : 0;

	for (size_t i = 0; v.go >= 0 && i < judges[v.go].count; i++) {
		const struct step *step = &judges[v.go].steps[i];
		uint32_t inner = decides(step) ? told_errno(row, step->then) : 0;

		if (inner && found && inner != found)
			die("TELLs with different errnos", row->syscall);
		found = inner ? inner : found;
	}
	return found;
}

/* What passes beside a listener must be asked about by every filter of a listener. */
static void check_telling(const struct row *row)
{
	int passes = 0;

	for (enum filter f = 0; f < FILTER_COUNT; f++)
		passes |= telling_in(f) == PASSES && row_is_in(row, f);
	for (enum filter f = 0; passes && f < FILTER_COUNT; f++)
		if (telling_in(f) == ASKS && !row_is_in(row, f))
			die("TELL that a listener does not hear", row->syscall);
}

static int fails_untold(struct verdict v)
{
	if (v.go < 0)
		return (v.ret & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO && !v.told;
	for (size_t i = 0; i < judges[v.go].count; i++)
		if (decides(&judges[v.go].steps[i]) && fails_untold(judges[v.go].steps[i].then))
			return 1;
	return 0;
}

/* A filter that asks refuses nothing by itself, so what it has been given to refuse must
 * be in those beside it. */
static void check_failing(const struct row *row)
{
	int asks = 0, passes = 0;

	for (enum filter f = 0; f < FILTER_COUNT; f++) {
		asks |= telling_in(f) == ASKS && row_is_in(row, f);
		passes |= telling_in(f) == PASSES && row_is_in(row, f);
	}
	if (asks && !passes && fails_untold(row->verdict))
		die("nobody refuses", row->syscall);
}

static void print_refusals(FILE *out, const struct arch *arch)
{
	fprintf(out, "\nstatic const struct seccomp_refusal %s_refusals[] = {\n", arch->name);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int nr = resolve(arch, rows[i].syscall);

		for (enum filter f = 0; nr >= 0 && f < FILTER_COUNT; f++)
			if (row_acts_in(&rows[i], f))
				fprintf(out, "\t{ %d, SECCOMP_FILTER_%s, %u, \"%s\", \"%s\" },\n",
					nr, filters[f].name, told_errno(&rows[i], rows[i].verdict),
					rows[i].syscall, rows[i].reason);
	}
	fprintf(out, "};\n");
}

static void print_tables(FILE *out, const struct arch *arch)
{
	for (enum filter f = 0; f < FILTER_COUNT; f++)
		print_program(out, arch, f);
	fprintf(out, "\nstatic const struct seccomp_program %s_programs[] = {\n", arch->name);
	for (size_t i = 0; i < COUNT(filters); i++)
		fprintf(out, "\t{ \"%s\", \"%s\", %s_%s, COUNT(%s_%s), %d },\n", filters[i].name,
			filters[i].doc, arch->name, filters[i].name, arch->name, filters[i].name,
			telling_in((enum filter)i) == ASKS);
	fprintf(out, "};\n");
	print_refusals(out, arch);
}

static void print_file(FILE *out)
{
	fprintf(out, "/* Made by gen_filters from filters.def. */\n"
		     "#include \"backend/linux/seccomp_tables.h\"\n\n"
		     "#define COUNT(a) (sizeof(a) / sizeof((a)[0]))\n");
	for (size_t i = 0; i < COUNT(arches); i++)
		print_tables(out, &arches[i]);
	fprintf(out, "\nconst struct seccomp_arch seccomp_arches[] = {\n");
	for (size_t i = 0; i < COUNT(arches); i++)
		fprintf(out, "\t{ %s, %s_programs, %s_refusals, COUNT(%s_refusals) },\n",
			arches[i].audit_name, arches[i].name, arches[i].name, arches[i].name);
	fprintf(out, "};\nconst unsigned int seccomp_arch_count = COUNT(seccomp_arches);\n");
}

int main(int argc, char **argv)
{
	FILE *out;

	if (argc != 2)
		die("needs the name of the file to write", "usage");
	for (size_t i = 0; i < COUNT(rows); i++) {
		check_failing(&rows[i]);
		if (told_errno(&rows[i], rows[i].verdict))
			check_telling(&rows[i]);
	}
	out = fopen(argv[1], "we");
	if (!out)
		die(strerror(errno), argv[1]);
	print_file(out);
	if (fclose(out) != 0)
		die(strerror(errno), argv[1]);
	return 0;
}
