/* SPDX-License-Identifier: Apache-2.0 */
/* How many processes and threads the user has, for who wants to limit how many more there
 * may be (RLIMIT_NPROC). */
#ifndef CORDON_BASE_HEADCOUNT_H
#define CORDON_BASE_HEADCOUNT_H

#include <stdint.h>

/* As the kernel counts them, also in containers that /proc does not show; up to
 * HEADCOUNT_STEP too many. 0: it does not hold this user to a limit (root), or it is not
 * known. The limit is changed for a moment, so not beside other threads. */
#define HEADCOUNT_STEP 16
uint64_t headcount(void);

#endif
