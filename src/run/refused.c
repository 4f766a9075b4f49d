/* SPDX-License-Identifier: Apache-2.0 */
/* Answers for refused calls, from the table of the filters. */
#include "run/refused.h"

#include <errno.h>

#include "backend/linux/seccomp.h"

int refused_call(int heard, int nr, struct violation *ret)
{
	const struct seccomp_refusal *why, *asked;

	if (heard < 0)
		return ENOSYS;
	why = seccomp_refusal((enum seccomp_filter)heard, nr);
	/* Every listener asks about the keyring. */
	asked = seccomp_refusal(SECCOMP_FILTER_notify_writes, nr);
	if (!why)
		return asked && asked->told ? 0 : ENOSYS;
	ret->op = VIOLATION_call;
	ret->object = str_of(why->name);
	ret->reason = why->reason;
	ret->errnum = why->told;
	return why->told ? why->told : ENOSYS;
}
