/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's side of the broker: starts it, notes what it tells, and sees it end. */
#include "run/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/fd.h"
#include "run/broker_in.h"
#include "run/egress.h"
#include "run/execute.h"
#include "run/git_rewrite.h"
#include "run/procfs.h"
#include "run/refused.h"
#include "run/supervise.h"
#include "run/unrouted.h"

#define STAGE "broker"

struct side {
	struct run_part part;
	struct run *run;
	struct launch *launch;
	struct broker_input in;
	struct observer observer;
	struct egress *egress;	   /* NULL: no host is listed */
	struct accesses *accesses; /* NULL: nobody wants to know what is allowed */
	int user_ns, mount_ns;
	struct spawned child;
	struct loop_watch watch; /* its fd: our end */
	bool done;
	struct git_unset unset;
};

/* --- what it tells ------------------------------------------------------------------- */

static void add(struct side *s, const struct broker_message *m, struct violation *v)
{
	memcpy(v->program, m->program, sizeof(v->program));
	v->program[sizeof(v->program) - 1] = '\0';
	violations_add(run_violations(s->run), v);
}

/* What has no name inside that a rule could be about. */
#define OUTSIDE "(a file handed in)"

/* The rule is asked for here: nothing that comes from there is taken for more than text. */
static void note(struct side *s, const struct broker_message *m, size_t n)
{
	struct violation v = { .source = VIOLATION_BY_broker,
			       .op = (enum violation_op)m->op,
			       .pid = m->pid,
			       .errnum = m->errnum,
			       .links = m->links };

	if (m->op >= VIOLATION_OP_COUNT || m->does >= OBSERVED_COUNT)
		return;
	if (v.op == VIOLATION_write)
		observed_describe((enum observed)m->does, &v);
	v.object = (struct str){ m->object, strnlen(m->object, n) };
	if (!v.object.n)
		v.object = STR(OUTSIDE);
	else if (path_is_normal(v.object) && v.op != VIOLATION_connect)
		v.rule = policy_decide(s->in.policy, v.object).data_rule;
	add(s, m, &v);
}

static void see(struct side *s, const struct broker_message *m, size_t n)
{
	struct violation v = { .source = VIOLATION_BY_notify, .pid = m->pid };
	struct observed_object found = { .what = (enum observed)m->op };

	if (m->op >= OBSERVED_COUNT)
		return;
	memcpy(found.text, m->object, strnlen(m->object, n));
	if (observe_judge(&s->observer, &found, &v))
		add(s, m, &v);
}

static void hear(struct side *s, const struct broker_message *m)
{
	struct violation v = { .source = VIOLATION_BY_notify,
			       .pid = m->pid,
			       .inner = m->inner };

	refused_call(s->in.launch, (int)m->op, &v);
	if (v.object.n)
		add(s, m, &v);
}

static void hear_closed(struct side *s, const struct broker_message *m)
{
	struct violation v = { .source = VIOLATION_BY_broker, .pid = m->pid };

	refused_closed((int)m->op, &v);
	add(s, m, &v);
}

static void note_access(struct side *s, const struct broker_message *m, size_t n)
{
	struct str object = { m->object, strnlen(m->object, n) };

	if (m->op < VIOLATION_OP_COUNT && path_is_normal(object))
		accesses_add(s->accesses, (enum violation_op)m->op, object);
}

static void lose(struct side *s)
{
	bool known = s->watch.fd < 0;
	struct cordon_error why;

	loop_unwatch(run_loop(s->run), &s->watch);
	fd_close(&s->watch.fd);
	/* Killed with everything else, before it was known whose it is. */
	if (s->done || known || run_is_killed(s->run))
		return;
	err_set(&why, CORDON_E_INIT, 0, STAGE, "the broker ended before the command did");
	run_break(s->run, &why);
}

/* The broker waits for it. */
static void answer(struct side *s, bool agreed)
{
	if (send(s->watch.fd, &agreed, sizeof(agreed), MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(agreed))
		lose(s);
}

static void expect(struct side *s, const struct broker_message *m, size_t n)
{
	if (s->egress)
		egress_expect_address(s->egress, m->pid, m->object, n);
	answer(s, true);
}

/* Whichever file is found there, what is added to the configuration is judged by what was
 * read, and harmless. */
static bool rewrites(struct side *s, struct str config)
{
	const struct op *target = path_is_normal(config)
					  ? git_rewrite_target(s->in.plan, config)
					  : NULL;
	char name[PATH_MAX];
	int n;

	if (!target)
		return false;
	n = snprintf(name, sizeof(name), "%s" GIT_REWRITE_LOCK, target->path.p);
	return n > 0 && (size_t)n < sizeof(name) &&
	       git_rewrite(&s->unset, target, AT_FDCWD, name) == 0;
}

static void configure(struct side *s, const struct broker_message *m, size_t n)
{
	answer(s, rewrites(s, (struct str){ m->object, strnlen(m->object, n) }));
}

/* Whether the call that was told of gets its own. */
static void answer_told(struct side *s, const struct broker_message *m)
{
	bool told = m->word == BROKER_REFUSED || m->word == BROKER_SEEN ||
		    m->word == BROKER_CALLED || m->word == BROKER_CLOSED;

	if (told && s->in.ends_run && !run_is_killed(s->run))
		answer(s, true);
}

/* One message; false when there is none. */
static bool take_in(struct side *s)
{
	struct broker_message m;
	size_t fixed = offsetof(struct broker_message, object);
	ssize_t got;

	do
		got = recv(s->watch.fd, &m, sizeof(m), MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return false;
	if (got < (ssize_t)fixed) {
		lose(s);
		return false;
	}
	if (m.word == BROKER_DONE)
		s->done = true;
	else if (m.word == BROKER_REFUSED)
		note(s, &m, (size_t)got - fixed);
	else if (m.word == BROKER_SEEN)
		see(s, &m, (size_t)got - fixed);
	else if (m.word == BROKER_CALLED)
		hear(s, &m);
	else if (m.word == BROKER_CLOSED)
		hear_closed(s, &m);
	else if (m.word == BROKER_CONNECTS)
		expect(s, &m, (size_t)got - fixed);
	else if (m.word == BROKER_CONFIGURES)
		configure(s, &m, (size_t)got - fixed);
	else if (m.word == BROKER_ALLOWED && s->accesses)
		note_access(s, &m, (size_t)got - fixed);
	answer_told(s, &m);
	return true;
}

static void ready(void *data, uint32_t events)
{
	struct side *s = data;

	(void)events;
	take_in(s);
}

/* --- the part -------------------------------------------------------------------------- */

static int spawn(struct side *s, int listener, int control, struct cordon_error *err)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	autoclose int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct spawn_fd fds[] = {
		{ null, 0 },
		{ null, 1 },
		{ null, 2 },
		{ listener, BROKER_FD_LISTENER },
		{ control, BROKER_FD_CONTROL },
		{ proc, BROKER_FD_PROC },
		{ s->user_ns, BROKER_FD_USER_NS },
		{ s->mount_ns, BROKER_FD_MOUNT_NS },
	};
	struct spawn_request request = {
		.program = "the broker",
		.child = broker_child,
		.child_data = &s->in,
		.die_with_parent = true,
		.fds = fds,
		.n_fds = sizeof(fds) / sizeof(fds[0]),
	};
	sigset_t all;
	int r;

	if (null < 0 || proc < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, STAGE, "cannot open %s",
			       null < 0 ? "/dev/null" : "/proc");
	/* The terminal's signals are not for it; it ends when it is told to. */
	sigfillset(&all);
	request.mask = &all;
	r = spawn_start(&request, &s->child, err);
	return r < 0 ? r : run_disown(s->run, s->child.pid, err);
}

/* The one that was made beside the command waits for it. */
static int pass_on(struct side *s, int listener, struct cordon_error *err)
{
	unsigned char kind = HANDOVER_LISTENER;

	if (fd_send(s->watch.fd, &kind, 1, listener) == 1)
		return 0;
	return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot hand the listener to the broker");
}

static int spawn_with(struct side *s, int listener, struct cordon_error *err)
{
	autoclose int control = -1;
	int r = handover_open(&s->watch.fd, &control, err);

	if (r == 0)
		r = spawn(s, listener, control, err);
	fd_close(&s->user_ns);
	fd_close(&s->mount_ns);
	return r;
}

/* The broker must be the only one to hold the listener: when it dies, calls fail. */
static int start(struct side *s, int listener, struct cordon_error *err)
{
	int r = s->in.unmounted ? pass_on(s, listener, err) : spawn_with(s, listener, err);

	fd_close(&listener);
	/* It is ready, or has said why not, within a moment. */
	if (r == 0)
		r = spawn_wait(&s->child, err);
	if (r < 0)
		return r;
	s->watch.ready = ready;
	s->watch.data = s;
	return loop_watch(run_loop(s->run), &s->watch, EPOLLIN, err);
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct side *s = part->data;

	(void)err;
	s->run = run;
	if (s->in.unmounted) {
		s->watch.fd = steal_fd(&s->launch->companion->our_control);
		s->child.error_fd = steal_fd(&s->launch->companion->our_error);
	}
	return 0;
}

static int adopt(struct side *s, int pidfd, struct cordon_error *err)
{
	s->child.pidfd = pidfd;
	s->child.pid = procfs_of_pidfd(pidfd);
	if (s->child.pid > 0)
		return run_disown(s->run, s->child.pid, err);
	return err_set(err, CORDON_E_INIT, 0, STAGE, "the broker ended at once");
}

/* The listener comes last, from the command's own process. */
static int took(struct run_part *part, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct side *s = part->data;

	switch (kind) {
	case HANDOVER_USER_NS:
		s->user_ns = fd;
		return 0;
	case HANDOVER_MOUNT_NS:
		s->mount_ns = fd;
		return 0;
	case HANDOVER_BROKER:
		return adopt(s, fd, err);
	case HANDOVER_LISTENER:
		return start(s, fd, err);
	case HANDOVER_DNS_UDP:
	case HANDOVER_DNS_TCP:
	case HANDOVER_TERMINAL:
	case HANDOVER_PRIVATE:
	case HANDOVER_SOCKETS:
	case HANDOVER_KIND_COUNT:
		break;
	}
	fd_close(&fd);
	return err_set(err, CORDON_E_BUG, 0, STAGE, "was handed something else");
}

static void end(struct run_part *part, struct run_result *result)
{
	struct side *s = part->data;

	(void)result;
	s->done = true;
	while (s->watch.active && take_in(s))
		;
	if (s->run)
		git_rewrite_end(&s->unset, run_violations(s->run));
	fd_close(&s->child.error_fd);
	spawn_discard(&s->child);
	loop_unwatch(run_loop(s->run), &s->watch);
	fd_close(&s->watch.fd);
	fd_close(&s->user_ns);
	fd_close(&s->mount_ns);
}

int broker_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		struct cordon_error *err)
{
	struct side *s;

	if (!in->launch->brokered)
		return 0;
	s = arena_new(a, struct side);
	if (!s)
		return err_nomem(err, STAGE);
	s->egress = *in->egress;
	s->accesses = in->options ? in->options->accesses : NULL;
	s->in = (struct broker_input){ .policy = in->plan->policy,
				       .plan = in->plan,
				       .file_caps = in->launch->keep_caps,
				       .observer = &s->observer,
				       .launch = in->launch,
				       .lists_hosts = s->egress,
				       .learns = s->accesses,
				       .ends_run = in->options && in->options->end_at_violation,
				       .report = policy_number(in->plan->policy, KEY_REPORT),
				       .hides = plan_find_op(in->plan, OP_HIDE_GLOB) ||
						in->launch->broker_hides,
				       .connects = in->launch->broker_connects,
				       .unmounted = in->launch->companion,
				       .tmp = in->launch->scratch ? str_of(in->launch->scratch)
								  : STR("") };
	if (!observer_init(&s->observer, a, in->plan, in->launch))
		return err_nomem(err, STAGE);
	if (*in->unrouted)
		unrouted_feed(*in->unrouted, &s->observer, NULL);
	s->launch = in->launch;
	if (s->in.unmounted) {
		s->launch->companion->run = broker_companion;
		s->launch->companion->data = &s->in;
	}
	s->user_ns = s->mount_ns = s->watch.fd = -1;
	s->child = (struct spawned){ .pidfd = -1, .error_fd = -1 };
	s->part = (struct run_part){
		.name = "broker",
		.takes = HANDOVER_BIT(LISTENER) |
			 (s->in.unmounted ? HANDOVER_BIT(BROKER)
					  : HANDOVER_BIT(USER_NS) | HANDOVER_BIT(MOUNT_NS)),
		.begin = begin,
		.took = took,
		.end = end,
		.data = s,
	};
	*ret = &s->part;
	return 0;
}
