/* SPDX-License-Identifier: Apache-2.0 */
/* Skipping a test; tools/check-shell finds whatever does it without these. */
#ifndef CORDON_TESTS_SKIP_H
#define CORDON_TESTS_SKIP_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* For something that this machine lacks although it has to work: a failure where
 * CORDON_MUST_WORK=1, as in tests/cli/helper.bash. */
#define must_or_skip(why) \
	do { \
		const char *must_work = getenv("CORDON_MUST_WORK"); \
\
		cr_assert(!must_work || strcmp(must_work, "1") != 0, "must work here: " why); \
		cr_skip_test(why); \
	} while (0)

/* For what does not apply (a test for root), or is one of HONEST_LACKS there. */
#define honest_skip(why) cr_skip_test(why)

#endif
