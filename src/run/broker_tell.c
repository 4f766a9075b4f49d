/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker tells the supervisor: what it has refused, and what somebody else will
 * or has, a mount, Landlock or the caller's own permissions.
 *
 * For the latter the arguments are read once more. Nothing rests on that but the report.
 */
#include "run/broker_in.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* It waits for a supervisor that is busy: what is not told would be a refusal that nobody
 * hears of. */
static void send_message(const struct broker_message *m, size_t object)
{
	send(BROKER_FD_CONTROL, m, offsetof(struct broker_message, object) + object + 1,
	     MSG_NOSIGNAL);
}

void call_tell(struct call *c, enum broker_word word, unsigned op, struct str object, int errnum)
{
	struct broker_message m = { .word = word, .op = op, .pid = c->target.tid, .errnum = errnum };

	c->told = true;
	if (object.n >= sizeof(m.object))
		return;
	memcpy(m.object, object.p, object.n);
	target_program(c->target.tid, m.program, sizeof(m.program));
	/* What was read belonged to somebody who is gone. */
	if (call_check(c) == 0)
		send_message(&m, object.n);
}

void call_observe(struct call *c)
{
	const struct broker_input *in = c->broker->in;
	struct observed_object found;
	struct request q;

	if (c->told || in->report < REPORT_WRITES ||
	    !request_init(&q, c->notif, &c->broker->view) || request_read(&q) < 0 ||
	    !observe_find(in->observer, &q, &found))
		return;
	if (found.what != OBSERVED_READ || in->report >= REPORT_ALL)
		call_tell(c, BROKER_SEEN, found.what, str_of(found.text), 0);
}

/* Enforced by mounts and Landlock: nobody can execute on behalf. */
int64_t broker_exec(struct call *c)
{
	(void)c;
	return BROKER_GO_ON;
}
