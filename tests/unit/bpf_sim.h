/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classic BPF as seccomp accepts it: a verifier with the kernel's rules and an
 * interpreter, so that filters can be judged for any number, architecture and
 * argument without a kernel that has them.
 */
#ifndef CORDON_TESTS_BPF_SIM_H
#define CORDON_TESTS_BPF_SIM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

struct bpf_run {
	uint32_t action;    /* what the program returned */
	unsigned int steps; /* instructions executed */
	bool read_args;	    /* looked at an argument or the instruction pointer */
};

/* NULL for a program the kernel would load, otherwise what is wrong with it. */
const char *bpf_verify(const struct sock_filter *code, unsigned int len);
/* The program must have been verified. */
struct bpf_run bpf_simulate(const struct sock_filter *code, const struct seccomp_data *data);

#endif
