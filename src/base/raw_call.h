/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call that touches nothing but registers: no errno. For a process that shares the
 * memory of another one which runs at the same time, and with it the place of errno.
 * RAW_CALL is defined where there is one.
 */
#ifndef CORDON_BASE_RAW_CALL_H
#define CORDON_BASE_RAW_CALL_H

/* The kernel's answer: -errno on failure. */
#if defined(__x86_64__)
#define RAW_CALL 1
static inline long raw_call(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long answer;

	__asm__ volatile("syscall"
			 : "=a"(answer)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return answer;
}
#elif defined(__aarch64__)
#define RAW_CALL 1
static inline long raw_call(long number, long a, long b, long c, long d)
{
	register long eighth __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;

	__asm__ volatile("svc 0"
			 : "+r"(first)
			 : "r"(eighth), "r"(second), "r"(third), "r"(fourth)
			 : "memory");
	return first;
}
#endif

#endif
