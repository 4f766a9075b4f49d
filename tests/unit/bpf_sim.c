/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF simulator. Loads are of aligned words inside struct seccomp_data; there
 * are no packet, indirect or byte loads in seccomp's dialect. */
#include "bpf_sim.h"

#include <stddef.h>
#include <string.h>

static bool is_jump(uint16_t code)
{
	return BPF_CLASS(code) == BPF_JMP;
}

static bool known_jump(uint16_t code)
{
	switch (code) {
	case BPF_JMP | BPF_JA:
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JEQ | BPF_X:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_X:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_X:
	case BPF_JMP | BPF_JSET | BPF_K:
	case BPF_JMP | BPF_JSET | BPF_X:
		return true;
	}
	return false;
}

static bool known_alu(uint16_t code)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
	case BPF_SUB:
	case BPF_MUL:
	case BPF_DIV:
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
	case BPF_LSH:
	case BPF_RSH:
		return (code & ~(BPF_OP(code) | BPF_X)) == BPF_ALU;
	case BPF_NEG:
		return code == (BPF_ALU | BPF_NEG);
	}
	return false;
}

static bool known_other(uint16_t code)
{
	switch (code) {
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_IMM:
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
	case BPF_MISC | BPF_TAX:
	case BPF_MISC | BPF_TXA:
	case BPF_RET | BPF_K:
	case BPF_RET | BPF_A:
		return true;
	}
	return false;
}

static bool uses_memory(uint16_t code)
{
	return code == (BPF_LD | BPF_MEM) || code == (BPF_LDX | BPF_MEM) || code == BPF_ST ||
	       code == BPF_STX;
}

static const char *verify_alu(const struct sock_filter *in)
{
	if (!known_alu(in->code))
		return "unknown arithmetic";
	if (in->code == (BPF_ALU | BPF_DIV | BPF_K) && in->k == 0)
		return "division by zero";
	if ((BPF_OP(in->code) == BPF_LSH || BPF_OP(in->code) == BPF_RSH) &&
	    BPF_SRC(in->code) == BPF_K && in->k >= 32)
		return "shift too wide";
	return NULL;
}

static const char *verify_jump(const struct sock_filter *in, unsigned int left)
{
	if (!known_jump(in->code))
		return "unknown jump";
	if (in->code == (BPF_JMP | BPF_JA))
		return in->k < left ? NULL : "jump out of the program";
	return in->jt < left && in->jf < left ? NULL : "jump out of the program";
}

static const char *verify_one(const struct sock_filter *in, unsigned int left)
{
	if (BPF_CLASS(in->code) == BPF_ALU)
		return verify_alu(in);
	if (is_jump(in->code))
		return verify_jump(in, left);
	if (!known_other(in->code))
		return "unknown instruction";
	if (in->code == (BPF_LD | BPF_W | BPF_ABS) &&
	    (in->k >= sizeof(struct seccomp_data) || in->k % 4 != 0))
		return "load outside seccomp_data";
	if (uses_memory(in->code) && in->k >= BPF_MEMWORDS)
		return "scratch memory out of range";
	return NULL;
}

const char *bpf_verify(const struct sock_filter *code, unsigned int len)
{
	if (len == 0 || len > BPF_MAXINSNS)
		return "length";
	for (unsigned int i = 0; i < len; i++) {
		const char *wrong = verify_one(&code[i], len - i - 1);

		if (wrong)
			return wrong;
	}
	return BPF_CLASS(code[len - 1].code) == BPF_RET ? NULL : "does not end with a return";
}

struct machine {
	uint32_t a, x, mem[BPF_MEMWORDS];
	unsigned int pc;
};

/* False on a division by zero, which ends the program with 0. */
static bool do_alu(struct machine *m, const struct sock_filter *in)
{
	uint32_t v = BPF_SRC(in->code) == BPF_X ? m->x : in->k;

	switch (BPF_OP(in->code)) {
	case BPF_ADD:
		m->a += v;
		break;
	case BPF_SUB:
		m->a -= v;
		break;
	case BPF_MUL:
		m->a *= v;
		break;
	case BPF_DIV:
		if (v == 0)
			return false;
		m->a /= v;
		break;
	case BPF_AND:
		m->a &= v;
		break;
	case BPF_OR:
		m->a |= v;
		break;
	case BPF_XOR:
		m->a ^= v;
		break;
	case BPF_LSH:
		m->a <<= v & 31;
		break;
	case BPF_RSH:
		m->a >>= v & 31;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	}
	return true;
}

static void do_jump(struct machine *m, const struct sock_filter *in)
{
	uint32_t v = BPF_SRC(in->code) == BPF_X ? m->x : in->k;
	bool yes = false;

	switch (BPF_OP(in->code)) {
	case BPF_JA:
		m->pc += in->k;
		return;
	case BPF_JEQ:
		yes = m->a == v;
		break;
	case BPF_JGE:
		yes = m->a >= v;
		break;
	case BPF_JGT:
		yes = m->a > v;
		break;
	case BPF_JSET:
		yes = m->a & v;
		break;
	}
	m->pc += yes ? in->jt : in->jf;
}

static void do_move(struct machine *m, const struct sock_filter *in,
		    const struct seccomp_data *data)
{
	switch (in->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		memcpy(&m->a, (const char *)data + in->k, sizeof(m->a));
		break;
	case BPF_LD | BPF_W | BPF_LEN:
		m->a = sizeof(*data);
		break;
	case BPF_LDX | BPF_W | BPF_LEN:
		m->x = sizeof(*data);
		break;
	case BPF_LD | BPF_IMM:
		m->a = in->k;
		break;
	case BPF_LDX | BPF_IMM:
		m->x = in->k;
		break;
	case BPF_LD | BPF_MEM:
		m->a = m->mem[in->k];
		break;
	case BPF_LDX | BPF_MEM:
		m->x = m->mem[in->k];
		break;
	case BPF_ST:
		m->mem[in->k] = m->a;
		break;
	case BPF_STX:
		m->mem[in->k] = m->x;
		break;
	case BPF_MISC | BPF_TAX:
		m->x = m->a;
		break;
	case BPF_MISC | BPF_TXA:
		m->a = m->x;
		break;
	}
}

struct bpf_run bpf_simulate(const struct sock_filter *code, const struct seccomp_data *data)
{
	struct machine m = { 0 };
	struct bpf_run run = { 0 };

	for (;;) {
		const struct sock_filter *in = &code[m.pc++];

		run.steps++;
		if (in->code == (BPF_LD | BPF_W | BPF_ABS) &&
		    in->k >= offsetof(struct seccomp_data, instruction_pointer))
			run.read_args = true;
		if (BPF_CLASS(in->code) == BPF_RET) {
			run.action = BPF_RVAL(in->code) == BPF_A ? m.a : in->k;
			return run;
		}
		if (is_jump(in->code))
			do_jump(&m, in);
		else if (BPF_CLASS(in->code) != BPF_ALU)
			do_move(&m, in, data);
		else if (!do_alu(&m, in))
			return run;
	}
}
