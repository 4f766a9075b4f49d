/* SPDX-License-Identifier: Apache-2.0 */
/* For tests about modes, which root does not notice. */
#ifndef CORDON_TESTS_PLAIN_USER_H
#define CORDON_TESTS_PLAIN_USER_H

#include <criterion/criterion.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Its own /proc stays its own. */
static inline void become_plain_user(void)
{
	if (geteuid() == 0)
		cr_assert(setresuid(65534, 65534, 65534) == 0 &&
			  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
}

#endif
