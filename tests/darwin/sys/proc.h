/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a process. */
#ifndef CORDON_TESTS_DARWIN_SYS_PROC_H
#define CORDON_TESTS_DARWIN_SYS_PROC_H

#define SRUN 2
#define SSTOP 4
#define SZOMB 5

#endif
