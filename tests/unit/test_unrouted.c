/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's counters, as text. */
#include <criterion/criterion.h>

#include "run/unrouted.h"

#define NAMES "Ip: Forwarding DefaultTTL OutDiscards OutNoRoutes ReasmTimeout\n"

Test(unrouted, four)
{
	cr_assert_eq(unrouted_four(NAMES "Ip: 2 64 0 17 3\nIcmp: InMsgs\nIcmp: 5\n"), 17);
	cr_assert_eq(unrouted_four(NAMES "Ip: 2 64 0 0 3\n"), 0);
}

Test(unrouted, six)
{
	cr_assert_eq(unrouted_six("Ip6InReceives \t1\nIp6OutNoRoutes                  \t23\n"
				  "Ip6ReasmTimeout 4\n"), 23);
}

Test(unrouted, other_text_counts_nothing)
{
	static const char *const texts[] = {
		"", "Ip:", NAMES, NAMES "Ip: 2 64", NAMES "Ip:\n",
		"Ip: a b\nIp: 1 2\nTcp: OutNoRoutes\n", "OutNoRoutes 3\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_assert_eq(unrouted_four(texts[i]), 0, "%zu", i);
		cr_assert_eq(unrouted_six(texts[i]), 0, "%zu", i);
	}
}
