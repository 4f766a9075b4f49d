/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: from a waiting call to its answer. */
#include "run/guard_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

#include "backend/backend.h"
#include "base/fd.h"
#include "run/egress.h"
#include "run/execute.h"
#include "run/refused.h"
#include "run/supervise.h"
#include "run/unrouted.h"

/* --- observing ------------------------------------------------------------------ */

static void observe(struct guard *g, const struct request *q)
{
	struct violation v = { .source = VIOLATION_BY_notify };
	struct observed_object found;

	if (g->observes && !g->told && observe_find(&g->observer, q, &found) &&
	    observe_judge(&g->observer, &found, &v))
		guard_report(g, q->call, &v);
}

/* openat2 for reading goes on. For anything else it is a call that this kernel does not
 * have, upon which programs use openat: its ways of resolving a path are not known here. */
static int judge_openat2(struct guard *g, struct request *q)
{
	struct open_how how;
	int r;

	if (q->flags < sizeof(how))
		return EINVAL;
	r = target_read(q->target.tid, request_argument(q, 2), &how, sizeof(how));
	if (guard_is_closed(q, r))
		return guard_judge_closed(g, q);
	if (r < 0)
		return -r;
	if (how.flags & O_PATH)
		return 0;
	if (how.flags & (O_ACCMODE | O_CREAT | O_TRUNC))
		return ENOSYS;
	if (g->sees_reads) {
		request_is_open(q, how.flags);
		if (request_read(q) == 0 && request_resolves_plainly(q, how.resolve))
			observe(g, q);
	}
	return 0;
}

/* --- the answer ----------------------------------------------------------------- */

static void let_go_on(struct guard *g, const struct request *q)
{
	enum inflight_kind makes;

	if (request_makes(q, &makes))
		sentry_saw(&g->sentry, q->target.tid, q->call->data.nr, makes);
}

static bool is_selected(const struct guard *g, const struct request *q)
{
	return selection_has(&g->selection, (struct str){ q->path, q->path_n }) ||
	       (q->from_n && selection_has(&g->selection, (struct str){ q->from, q->from_n })) ||
	       (request_creates_through_link(q) &&
		!target_has_no_links(&q->target, q->dirfd, q->path));
}

/* Whatever cannot be read is refused as the kernel would: going on would read it again,
 * and then perhaps find something. */
static int judge_names(struct guard *g, struct request *q)
{
	int verdict = 0, r = request_read(q);

	if (guard_is_closed(q, r))
		return guard_judge_closed(g, q);
	if (r < 0)
		return -r;
	/* An address that is no name. */
	if (q->row->kind == CALL_BIND && q->path_n == 0)
		return 0;
	if (q->row->kind == CALL_CONNECT && q->path_n)
		return guard_judge_connect(g, q);
	if (q->row->kind == CALL_CONNECT && g->egress) {
		/* It waits for the kernel, which the tick would interrupt. */
		notify_calm(&g->notify);
		egress_expect(g->egress, q);
	}
	if (q->row->kind == CALL_RENAME && g->guards)
		verdict = guard_judge_git_config(g, q);
	if (verdict)
		return verdict;
	/* Below what somebody made on the host every name is as guarded as it is. */
	g->selection.every |= g->sentry.foreign;
	if (is_selected(g, q))
		verdict = guard_judge_selected(g, q);
	observe(g, q);
	return verdict;
}

static int judge_watched(struct guard *g, struct request *q)
{
	bool removes = q->row->kind == CALL_REMOVE;
	int verdict, r = request_read(q);

	if (r < 0)
		return removes && g->selection.unheld && guard_is_closed(q, r)
			       ? guard_refuse_closed(g, q)
			       : 0;
	verdict = removes ? guard_judge_removal(g, q) : 0;
	observe(g, q);
	return verdict;
}

static int judge_refused(struct guard *g, const struct seccomp_notif *call)
{
	struct violation v = { .source = VIOLATION_BY_notify };
	int answer = refused_call(g->launch, call->data.nr, &v);

	if (v.object.n)
		guard_report(g, call, &v);
	return answer;
}

static int judge_call(struct guard *g, const struct seccomp_notif *call)
{
	struct request *q = &g->request;
	bool had_root = g->view.root >= 0;
	int verdict = 0;

	if (!request_init(q, call, &g->view))
		return judge_refused(g, call);
	g->told = false;
	inflight_over(&g->sentry.inflight, q->target.tid);
	if (q->row->kind == CALL_CHDIR) {
		observer_forget_bases(&g->observer);
	} else if (request_is_watched(q)) {
		verdict = judge_watched(g, q);
	} else {
		verdict = q->row->kind == CALL_OPENAT2 ? judge_openat2(g, q) : judge_names(g, q);
		if (!verdict && q->row->kind != CALL_CONNECT)
			let_go_on(g, q);
	}
	/* A root that is kept must be the sandbox's: the call was not over when it was
	 * opened. */
	if (!had_root && g->view.root >= 0 && !notify_waits(&g->notify, call))
		fd_close(&g->view.root);
	return verdict;
}

static int judge(void *data, const struct seccomp_notif *call)
{
	struct guard *g = data;
	int verdict = judge_call(g, call);

	/* Whoever waits for the caller does nothing more, either. */
	return run_is_killed(g->run) ? NOTIFY_LEFT : verdict;
}

/* --- the part ------------------------------------------------------------------- */

static void broke(void *data, const struct cordon_error *why)
{
	struct guard *g = data;

	run_break(g->run, why);
}

/* What was there although nothing let it be made. */
static void caught(void *data, struct str path, const struct rule *rule)
{
	struct guard *g = data;
	struct violation v = {
		.op = VIOLATION_write, .source = VIOLATION_BY_guard, .object = path, .rule = rule
	};

	violations_add(run_violations(g->run), &v);
}

static void told(void *data, struct str path, const char *kept, int why)
{
	struct guard *g = data;
	bool restorable = kept && quarantine_holds(&g->sentry.quarantine, kept);

	run_result_add_quarantined(
		g->result, g->arena, path,
		(struct run_quarantined){ .kept = kept, .restorable = restorable, .why = why });
}

static void allowed(void *data, enum violation_op op, struct str object)
{
	accesses_add(data, op, object);
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct guard *g = part->data;

	g->run = run;
	return sentry_begin(&g->sentry, g->arena, run_loop(run), g->plan, err);
}

static int took(struct run_part *part, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct guard *g = part->data;

	(void)kind;
	return notify_open(&g->notify, run_loop(g->run), fd, err);
}

static void end(struct run_part *part, struct run_result *result)
{
	struct guard *g = part->data;

	notify_close(&g->notify);
	git_rewrite_end(&g->unset, run_violations(g->run));
	g->result = result;
	sentry_end(&g->sentry);
	result->more_quarantined += g->sentry.lost;
	result->more_left += g->sentry.lost;
	fd_close(&g->view.root);
}

int guard_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err)
{
	struct guard *g;
	int r;

	if (in->launch->brokered || !(in->launch->hands_over & HANDOVER_BIT(LISTENER)))
		return 0;
	g = arena_new(a, struct guard);
	if (!g)
		return err_nomem(err, "guard");
	g->policy = in->plan->policy;
	g->view.root = -1;
	g->arena = a;
	g->plan = in->plan;
	g->egress = *in->egress;
	g->sentry.caught = caught;
	g->sentry.told = told;
	g->sentry.data = g;
	g->sentry.quarantine = (struct quarantine){ .home = in->situation->places.cordon_home.p,
						    .workdir = in->situation->places.workdir,
						    .held = -1 };
	g->launch = in->launch;
	g->guards = policy_number(g->policy, KEY_PROTECT) != PROTECT_OFF;
	g->observes = policy_number(g->policy, KEY_REPORT) >= REPORT_WRITES;
	g->sees_reads = policy_number(g->policy, KEY_REPORT) >= REPORT_ALL;
	/* A read-only mount says EROFS, Landlock EACCES. */
	g->refusal = strcmp(in->plan->backend, "landlock") == 0 ? EACCES : EROFS;
	g->notify = (struct notify){ .judge = judge, .broke = broke, .data = g };
	g->part = (struct run_part){ .name = "guard",
				     .takes = HANDOVER_BIT(LISTENER),
				     .begin = begin,
				     .took = took,
				     .end = end,
				     .data = g };
	if (!observer_init(&g->observer, a, in->plan, in->launch))
		return err_nomem(err, "guard");
	if (*in->unrouted)
		unrouted_feed(*in->unrouted, &g->observer, &g->notify);
	g->observer.strictly = in->options && in->options->strictly;
	if (in->options && in->options->accesses) {
		g->observer.allowed = allowed;
		g->observer.data = in->options->accesses;
	}
	r = selection_from_plan(a, in->plan, &g->selection, err);
	if (r == 0)
		*ret = &g->part;
	return r;
}
