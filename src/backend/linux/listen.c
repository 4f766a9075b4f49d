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
enum cap listen_lacks(const struct caps *caps)
{
	static const enum cap needed[] = { CAP_SECCOMP, CAP_NOTIFY, CAP_NOTIFY_KILLABLE };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!caps->value[needed[i]])
			return needed[i];
	return CAP_COUNT;
}

void listen_claims(const struct caps *caps, struct claims *ret)
{
	static const enum op_kind kinds[] = { OP_GUARD_NAME, OP_REPORT };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		ret->enforces[kinds[i]] = listen_lacks(caps) == CAP_COUNT;
		ret->missing[kinds[i]] = listen_lacks(caps);
	}
}

bool listen_reports(const struct op *op)
{
	return !str_eq(op->path, str_of(choice_to_string(CHOICES_REPORT, REPORT_OUTPUT)));
}

/* Where another spelling is not held it is looked at all the same. What is not shown cannot
 * be executed either; that is seen where reads are, or where nothing is to be missed. */
static bool tells_exec(const struct plan *plan, bool strictly)
{
	if (policy_number(plan->policy, KEY_REPORT) >= REPORT_ALL || strictly)
		return true;
	vec_each(op, &plan->ops)
		if (op->kind == OP_NOEXEC && (!op->lost || op->twin))
			return true;
	return false;
}

/* A build executes more than it writes, so where nothing can be refused, nobody looks. */
static enum seccomp_filter filter_of_guard(const struct plan *plan, bool strictly)
{
	uint64_t report = policy_number(plan->policy, KEY_REPORT);
	bool execs = tells_exec(plan, strictly);

	if (report >= REPORT_ALL)
		return execs ? SECCOMP_FILTER_notify_all_execs : SECCOMP_FILTER_notify_all;
	if (report >= REPORT_WRITES && strictly)
		return execs ? SECCOMP_FILTER_notify_strictly_execs
			     : SECCOMP_FILTER_notify_strictly;
	if (report >= REPORT_WRITES)
		return execs ? SECCOMP_FILTER_notify_writes_execs : SECCOMP_FILTER_notify_writes;
	return SECCOMP_FILTER_notify_create;
}

void listen_claims_exact(const struct caps *caps, struct claims *ret)
{
	static const enum op_kind ops[] = { OP_EXACT, OP_GUARD_HIDDEN, OP_GUARD_GLOB,
					    OP_HIDE_GLOB };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		ret->enforces[ops[i]] = listen_lacks(caps) == CAP_COUNT;
		ret->missing[ops[i]] = listen_lacks(caps);
	}
}

bool listen_is_exact(const struct plan *plan)
{
	return plan->enforced[GUARANTEE_EXACT];
}

static enum seccomp_filter filter_of_broker(const struct plan *plan, bool hides, bool strictly)
{
	uint64_t report = policy_number(plan->policy, KEY_REPORT);
	bool execs = report >= REPORT_WRITES && tells_exec(plan, strictly);

	if (report >= REPORT_ALL || hides || plan_find_op(plan, OP_HIDE_GLOB))
		return execs ? SECCOMP_FILTER_notify_exact_read_execs
			     : SECCOMP_FILTER_notify_exact_read;
	return execs ? SECCOMP_FILTER_notify_exact_execs : SECCOMP_FILTER_notify_exact;
}

static enum seccomp_filter filter_for(const struct launch_input *in, const struct launch *launch)
{
	return listen_is_exact(in->plan) ? filter_of_broker(in->plan, launch->broker_hides,
							    in->strictly)
					 : filter_of_guard(in->plan, in->strictly);
}

static bool is_guarded(const struct plan *plan)
{
	return policy_number(plan->policy, KEY_PROTECT) != PROTECT_OFF;
}

bool listen_judges_connects(const struct plan *plan, const struct caps *caps)
{
	return is_guarded(plan) && listen_lacks(caps) == CAP_COUNT;
}

/* Whatever else there is to guard, there are the host's sockets. */
static bool is_watched(const struct plan *plan)
{
	if (is_guarded(plan) && plan_find_op(plan, OP_COVER_SOCKETS))
		return true;
	vec_each(op, &plan->ops)
		if (op->kind == OP_GUARD_NAME || op->kind == OP_GUARD_GLOB ||
		    op->kind == OP_GUARD_HIDDEN || op->kind == OP_NET_HOST)
			return true;
	return listen_is_exact(plan) || policy_number(plan->policy, KEY_REPORT) >= REPORT_WRITES;
}

int listen_prepare(const struct launch_input *in, struct native *n, struct launch *launch,
		   struct cordon_error *err)
{
	int inside;

	if (!is_watched(in->plan) || listen_lacks(in->caps) != CAP_COUNT)
		return 0;
	inside = launch_add_handover(launch, err);
	if (inside < 0)
		return inside;
	n->handover_fd = inside;
	n->listener = seccomp_program(filter_for(in, launch), SECCOMP_ARCH_NATIVE);
	launch->hands_over |= HANDOVER_BIT(LISTENER);
	return 0;
}

enum seccomp_filter listen_beside(const struct native *n, enum seccomp_filter base,
				  struct launch *launch)
{
	static const enum seccomp_filter heard[SECCOMP_FILTER_COUNT] = {
		[SECCOMP_FILTER_base] = SECCOMP_FILTER_base_heard,
		[SECCOMP_FILTER_base_keyring] = SECCOMP_FILTER_base_keyring_heard,
		[SECCOMP_FILTER_base_hostns] = SECCOMP_FILTER_base_hostns_heard,
	};

	if (!n->listener || !n->listener->asks)
		return base;
	launch->heard = (int)base;
	return heard[base];
}

int listen_for_sockets(struct arena *a, struct native *n, struct launch *launch,
		       struct cordon_error *err)
{
	if (!n->listener || !n->listener->asks)
		return 0;
	n->listener = seccomp_hearing_sockets(a, n->listener);
	if (!n->listener)
		return err_nomem(err, STAGE);
	launch->hears_sockets = true;
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
