/* SPDX-License-Identifier: Apache-2.0 */
/* The listener, from the plan to the hand-over. */
#include "backend/linux/listen.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include "backend/handover.h"

#define STAGE "listener"

/* WAIT_KILLABLE_RECV is needed: without it a signal makes a call that went on happen
 * twice. */
static enum cap lacking(const struct caps *caps)
{
	static const enum cap needed[] = { CAP_SECCOMP, CAP_NOTIFY, CAP_NOTIFY_KILLABLE };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!caps->value[needed[i]])
			return needed[i];
	return CAP_COUNT;
}

void listen_claims(const struct caps *caps, struct claims *ret)
{
	ret->enforces[OP_GUARD_NAME] = lacking(caps) == CAP_COUNT;
	ret->missing[OP_GUARD_NAME] = lacking(caps);
}

static bool is_watched(const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_GUARD_NAME || op->kind == OP_GUARD_GLOB ||
		    op->kind == OP_GUARD_HIDDEN)
			return true;
	return policy_number(plan->policy, KEY_REPORT) >= REPORT_WRITES;
}

int listen_prepare(const struct launch_input *in, struct native *n, struct launch *launch,
		   struct cordon_error *err)
{
	int inside;

	if (!is_watched(in->plan) || lacking(in->caps) != CAP_COUNT)
		return 0;
	inside = launch_add_handover(launch, err);
	if (inside < 0)
		return inside;
	n->handover_fd = inside;
	n->listener = seccomp_program(SECCOMP_FILTER_notify_create, SECCOMP_ARCH_NATIVE);
	launch->hands_over |= HANDOVER_BIT(LISTENER);
	return 0;
}

CHILD_SAFE int listen_start(const struct native *n, int error_fd)
{
	int fd, r;

	if (!n->listener)
		return 0;
	fd = seccomp_install(n->listener, SECCOMP_FILTER_FLAG_NEW_LISTENER |
						  SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	if (fd < 0) {
		errno = -fd;
		return native_fail(error_fd, STAGE, "cannot listen to the command's calls", NULL);
	}
	r = handover_send(n->handover_fd, HANDOVER_LISTENER, fd, error_fd);
	close(fd);
	return r;
}
