/* SPDX-License-Identifier: Apache-2.0 */
/* Answers for refused calls, from the table of the filters. */
#include "run/refused.h"

#include <errno.h>
#include <sys/syscall.h>

#include "backend/linux/seccomp.h"
#include "run/request.h"

/* Without one nobody gets as far as naming a host. */
static int refused_socket(struct violation *ret)
{
	ret->op = VIOLATION_connect;
	ret->object = STR(REFUSED_NETWORK);
	ret->errnum = EACCES;
	return EACCES;
}

int refused_call(const struct launch *launch, int nr, struct violation *ret)
{
	const struct seccomp_refusal *why, *asked;

	if (nr == SYS_socket && launch->hears_sockets)
		return refused_socket(ret);
	if (launch->heard < 0)
		return ENOSYS;
	why = seccomp_refusal((enum seccomp_filter)launch->heard, nr);
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

void refused_closed(int nr, struct violation *ret)
{
	ret->op = VIOLATION_call;
	ret->object = str_of(request_call_name(nr));
	ret->reason = REFUSED_CLOSED;
	ret->errnum = EACCES;
}
