/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker tells the supervisor: what it has refused, and what somebody else will
 * or has, a mount, Landlock, a filter or the caller's own permissions.
 *
 * For the latter the arguments are read once more. Nothing rests on that but the report.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/refused.h"

/* It waits for a supervisor that is busy: what is not told would be a refusal that nobody
 * hears of. */
static void send_message(const struct broker_message *m, size_t object)
{
	size_t n = offsetof(struct broker_message, object) + object + 1;

	/* Without a supervisor nothing goes on. */
	while (send(BROKER_FD_CONTROL, m, n, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			_exit(1);
}

static bool hear_answer(void)
{
	ssize_t got;
	bool agreed;

	do
		got = recv(BROKER_FD_CONTROL, &agreed, sizeof(agreed), 0);
	while (got < 0 && errno == EINTR);
	/* Without a supervisor nothing goes on. */
	if (got <= 0)
		_exit(1);
	return agreed;
}

void call_tell(struct call *c, enum broker_word word, unsigned op, struct str object, int errnum)
{
	struct broker_message m = { .word = word, .op = op, .errnum = errnum };

	m.links = c->row && c->row->how == broker_link;
	m.does = c->does;
	m.inner = word == BROKER_CALLED && target_is_own(call_number(c));
	m.pid = c->target.tid;
	c->told |= word != BROKER_ALLOWED;
	/* As much as is told of any. */
	object = str_take(object, object.n < sizeof(m.object) ? object.n : sizeof(m.object) - 1);
	memcpy(m.object, object.p, object.n);
	target_program(call_number(c), m.program, sizeof(m.program));
	/* What was read belonged to somebody who is gone. */
	if (call_check(c) < 0)
		return;
	send_message(&m, object.n);
	/* Of a run that is over there is none: whoever called waits until it is killed. */
	if (c->broker->in->ends_run && word != BROKER_ALLOWED)
		hear_answer();
}

/* n bytes about the object, from which on the supervisor decides. */
static bool ask(const struct call *c, enum broker_word word, const void *object, size_t n)
{
	struct broker_message m = { .word = word, .pid = c->target.tid };

	memcpy(m.object, object, n);
	send_message(&m, n - 1);
	return hear_answer();
}

void call_announce(struct call *c, const void *address, size_t n)
{
	if (c->broker->in->lists_hosts)
		ask(c, BROKER_CONNECTS, address, n);
}

bool call_configures(struct call *c, struct str config)
{
	return config.n < VIOLATION_OBJECT_MAX && call_check(c) == 0 &&
	       ask(c, BROKER_CONFIGURES, config.p, config.n);
}

static void allowed(void *data, enum violation_op op, struct str object)
{
	call_tell(data, BROKER_ALLOWED, op, object, 0);
}

/* Everything about it is refused without having been judged. */
static bool is_closed(struct call *c, int64_t value)
{
	return value == -EACCES && !c->told && !c->allowed && target_is_closed(call_number(c));
}

void call_observe(struct call *c, int64_t value)
{
	const struct broker_input *in = c->broker->in;
	bool failed = value < 0 && value != BROKER_LATER;
	bool refused = failed && (!c->allowed || value == -EROFS || value == -EACCES);
	struct observed_object found;
	struct request q;

	if (is_closed(c, value))
		call_tell(c, BROKER_CLOSED, (unsigned)c->notif->data.nr, STR(""), EACCES);
	if (c->told || in->report < REPORT_WRITES || !(refused || in->learns) ||
	    !request_init(&q, c->notif, &c->broker->view) || request_read(&q) < 0)
		return;
	in->observer->allowed = in->learns ? allowed : NULL;
	in->observer->data = c;
	if (observe_find(in->observer, &q, &found) && refused &&
	    (found.what != OBSERVED_READ || in->report >= REPORT_ALL))
		call_tell(c, BROKER_SEEN, found.what, str_of(found.text), 0);
}

int64_t broker_absent(struct call *c)
{
	/* Nothing was refused: it is tried again with a call that there is. */
	c->told = true;
	return -ENOSYS;
}

/* Whatever no row is about. */
int64_t broker_refused(struct call *c)
{
	const struct broker_input *in = c->broker->in;
	struct violation v = { 0 };
	int nr = c->notif->data.nr, answer = refused_call(in->launch, nr, &v);

	if (v.object.n && in->report >= REPORT_WRITES)
		call_tell(c, BROKER_CALLED, (unsigned)nr, STR(""), answer);
	return answer ? -answer : BROKER_GO_ON;
}

/* Enforced by mounts and Landlock: nobody can execute on behalf. */
int64_t broker_exec(struct call *c)
{
	(void)c;
	return BROKER_GO_ON;
}
