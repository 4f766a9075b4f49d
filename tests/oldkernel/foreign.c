/* SPDX-License-Identifier: Apache-2.0 */
/* A program of 32-bit ARM, whose numbers of system calls are others; it exits with 7. */
void _start(void);

void _start(void)
{
	register int nr __asm__("r7") = 1;
	register int status __asm__("r0") = 7;

	for (;;)
		__asm__ volatile("svc #0" : : "r"(nr), "r"(status));
}
