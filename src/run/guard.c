/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: from a waiting call to its answer. */
#include "run/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/fd.h"
#include "policy/rename.h"
#include "report/violation.h"
#include "run/egress.h"
#include "run/execute.h"
#include "run/git_rewrite.h"
#include "run/guard_tree.h"
#include "run/notify.h"
#include "run/observe.h"
#include "run/refused.h"
#include "run/request.h"
#include "run/selection.h"
#include "run/sentry.h"
#include "run/situation.h"
#include "run/supervise.h"
#include "run/target.h"
#include "run/unrouted.h"

struct guard {
	struct run_part part;
	struct run *run;
	const struct policy *policy;
	struct selection selection;
	struct notify notify;
	struct target_view view;
	struct observer observer;
	struct sentry sentry;
	struct arena *arena;
	const struct plan *plan;
	struct egress *egress; /* NULL: no host is listed */
	struct git_unset unset;
	struct run_result *result; /* in the end */
	bool observes, sees_reads, guards;
	int refusal;		/* what a refused call fails with: as the kernel's own rules here */
	struct request request; /* the call at hand */
	bool told;		/* it is a violation already */
	const struct launch *launch;
};

/* An object in the sandbox's view. */
struct object {
	struct target_place place;
	char text[PATH_MAX + NAME_MAX + 2];
	struct str path; /* empty: it has no path, like a file without a name */
};

static void close_object(struct object *o)
{
	fd_close(&o->place.dir);
}
#define autoobject __attribute__((cleanup(close_object))) struct object

/* --- resolving ------------------------------------------------------------------ */

static int find(const struct request *q, int dirfd, const char *path, bool follow,
		struct object *ret)
{
	ret->place.dir = -1;
	ret->path = (struct str){ ret->text, 0 };
	return target_resolve(&q->target, dirfd, path, follow, &ret->place);
}

static int name(struct object *ret)
{
	ssize_t n = target_path_of(ret->place.dir, ret->text);

	/* Nothing can be made in a directory that was removed; a file without a name is
	 * judged by the name it gets. */
	if (n < 0)
		return *ret->place.name ? (int)n : 0;
	if (*ret->place.name) {
		size_t length = strlen(ret->place.name);

		if (n > 1)
			ret->text[n++] = '/';
		memcpy(ret->text + n, ret->place.name, length + 1);
		n += (ssize_t)length;
	}
	ret->path.n = (size_t)n;
	/* No path of a rule is longer than this, nor can the kernel open one. */
	return n > PATH_BYTES_MAX ? -ENAMETOOLONG : 0;
}

static int resolve(const struct request *q, int dirfd, const char *path, bool follow,
		   struct object *ret)
{
	int r = find(q, dirfd, path, follow, ret);

	return r < 0 ? r : name(ret);
}

/* The type bits of a mode; 0: nothing is there. */
static mode_t type_of(const struct object *o)
{
	struct stat st;

	if (fstatat(o->place.dir, o->place.name, &st,
		    AT_SYMLINK_NOFOLLOW | (*o->place.name ? 0 : AT_EMPTY_PATH)) < 0)
		return 0;
	return st.st_mode & S_IFMT;
}

/* --- judging -------------------------------------------------------------------- */

static void report(struct guard *g, const struct seccomp_notif *call, struct violation *v)
{
	g->told = true;
	notify_calm(&g->notify);
	/* What was read belonged to somebody who is gone. */
	if (!notify_waits(&g->notify, call))
		return;
	v->pid = (int)call->pid;
	target_program(v->pid, v->program, sizeof(v->program));
	v->inner = v->op == VIOLATION_call && target_is_own(v->pid);
	violations_add(run_violations(g->run), v);
}

/* Whatever it names, nobody can tell whether that is allowed. */
static int refuse_closed(struct guard *g, const struct request *q)
{
	struct violation v = { .source = VIOLATION_BY_guard };

	refused_closed(q->call->data.nr, &v);
	report(g, q->call, &v);
	return EACCES;
}

/* Does anything but what is told rest on a call of this kind? */
static bool is_guarded(const struct guard *g, const struct request *q)
{
	if (q->row->kind == CALL_CONNECT && g->egress)
		return true;
	return g->guards || g->selection.every;
}

static int judge_closed(struct guard *g, const struct request *q)
{
	return is_guarded(g, q) ? refuse_closed(g, q) : 0;
}

static bool is_closed(const struct request *q, int r)
{
	return r == -EACCES && target_is_closed(q->target.tid);
}

static int refuse(struct guard *g, const struct request *q, struct str object,
		  const struct decision *d)
{
	struct violation v = {
		.op = VIOLATION_write,
		.source = VIOLATION_BY_guard,
		.object = object,
		.rule = d->data_rule,
		.directory = q->row->kind == CALL_MKDIR,
		.removes = q->row->kind == CALL_REMOVE,
		.errnum = g->refusal,
		.links = q->row->kind == CALL_LINK,
	};

	report(g, q->call, &v);
	return g->refusal;
}

/* What is there already cannot be made again, and answering that here leaves no time in
 * which it could be taken away. What was there at the start is protected by the kernel,
 * so a file was made meanwhile, and it is not opened for writing either. */
static int answer_existing(struct guard *g, const struct request *q, mode_t type,
			   const struct object *o, const struct decision *d)
{
	switch (q->row->kind) {
	case CALL_MKDIR:
	case CALL_MAKE:
	case CALL_LINK:
		return EEXIST;
	case CALL_BIND:
		return EADDRINUSE;
	case CALL_OPEN:
		if (q->flags & O_CREAT && q->flags & O_EXCL)
			return EEXIST;
		break;
	case CALL_OPENAT2:
	case CALL_CREAT:
	case CALL_RENAME:
	case CALL_REMOVE:
	case CALL_CHANGE:
	case CALL_CHANGE_LINK:
	case CALL_CHANGE_OPEN:
	case CALL_EXEC:
	case CALL_CHDIR:
	case CALL_CONNECT:
		break;
	}
	return type == S_IFDIR ? EISDIR : refuse(g, q, o->path, d);
}

/* Where the kernel refuses it anyway, it does so in its own words. */
static bool is_ours(const struct guard *g, const struct object *o)
{
	return o->path.n && *o->place.name && observer_writable(&g->observer, o->path);
}

static enum policy_op op_of(const struct request *q)
{
	bool plain = q->row->kind == CALL_OPEN && !(q->flags & O_CREAT);

	return plain || q->row->kind == CALL_MKDIR ? POLICY_WRITE : POLICY_CREATE;
}

/* mkdir, mknod, symlink, bind, and open for writing. */
static int judge_new(struct guard *g, const struct request *q)
{
	struct decision d;
	autoobject o = { .place.dir = -1 };
	int r = resolve(q, q->dirfd, q->path, request_follows(q), &o);
	mode_t type;

	if (r < 0)
		return -r;
	/* A link led to a name of its own. */
	if (!selection_has(&g->selection, o.path) || !is_ours(g, &o) ||
	    policy_allows(g->policy, op_of(q), o.path, &d))
		return 0;
	type = type_of(&o);
	return type ? answer_existing(g, q, type, &o, &d) : refuse(g, q, o.path, &d);
}

static int judge_link(struct guard *g, const struct request *q)
{
	bool by_fd = !*q->from && q->flags & AT_EMPTY_PATH;
	struct rename_decision d;
	struct decision plain;
	autoobject to = { .place.dir = -1 };
	autoobject from = { .place.dir = -1, .path = { "", 0 } };
	int r = resolve(q, q->dirfd, q->path, false, &to);

	if (r == 0 && !by_fd)
		r = resolve(q, q->from_dirfd, q->from, q->flags & AT_SYMLINK_FOLLOW, &from);
	if (r < 0)
		return -r;
	if (!is_ours(g, &to))
		return 0;
	if (from.path.n ? policy_allows_link(g->policy, from.path, to.path, &d)
			: policy_allows(g->policy, POLICY_CREATE, to.path, &plain))
		return 0;
	if (type_of(&to))
		return EEXIST;
	return from.path.n ? refuse(g, q, str_of(d.object), &d.decision)
			   : refuse(g, q, to.path, &plain);
}

static int judge_rename(struct guard *g, const struct request *q)
{
	struct rename_decision d;
	struct tree tree;
	autoobject to = { .place.dir = -1 };
	autoobject from = { .place.dir = -1, .path = { "", 0 } };
	int r = resolve(q, q->dirfd, q->path, false, &to);

	if (r == 0)
		r = resolve(q, q->from_dirfd, q->from, false, &from);
	if (r == 0)
		r = target_open_root(&q->target);
	if (r < 0)
		return -r;
	if (!is_ours(g, &to) || !is_ours(g, &from))
		return 0;
	if (!type_of(&from))
		return ENOENT;
	tree = guard_tree(&g->view.root);
	if (policy_decide_rename(g->policy, from.path, to.path, q->flags & RENAME_EXCHANGE, &tree,
				 &d))
		return 0;
	return refuse(g, q, str_of(d.object), &d.decision);
}

/* Taking away what exists is the kernel's to refuse, unless it cannot. */
static int judge_removal(struct guard *g, const struct request *q)
{
	struct decision d;
	autoobject o = { .place.dir = -1 };

	if (!g->selection.unheld || resolve(q, q->dirfd, q->path, false, &o) < 0 ||
	    !is_ours(g, &o) || policy_allows(g->policy, POLICY_WRITE, o.path, &d) || !type_of(&o))
		return 0;
	return refuse(g, q, o.path, &d);
}

/* git puts its lock file in the place of a configuration that is protected. 0: it is not
 * for us, and the kernel refuses it. */
static int judge_git_config(struct guard *g, const struct request *q)
{
	struct str lock = { q->from, q->from_n };
	const struct op *target;
	struct decision d;
	autoobject to = { .place.dir = -1 };
	autoobject from = { .place.dir = -1, .path = { "", 0 } };

	if (!str_ends(lock, STR("config" GIT_REWRITE_LOCK)) || q->flags ||
	    resolve(q, q->dirfd, q->path, false, &to) < 0)
		return 0;
	target = git_rewrite_target(g->plan, to.path);
	if (!target || resolve(q, q->from_dirfd, q->from, false, &from) < 0 ||
	    from.path.n != to.path.n + sizeof(GIT_REWRITE_LOCK) - 1 ||
	    !str_starts(from.path, to.path) ||
	    !policy_allows(g->policy, POLICY_WRITE, from.path, &d) ||
	    !notify_waits(&g->notify, q->call) ||
	    git_rewrite(&g->unset, target, from.place.dir, from.place.name) < 0)
		return 0;
	unlinkat(from.place.dir, from.place.name, 0);
	return NOTIFY_DONE;
}

static int judge_selected(struct guard *g, const struct request *q)
{
	notify_calm(&g->notify);
	switch (q->row->kind) {
	case CALL_OPEN:
		return request_is_nameless(q) ? 0 : judge_new(g, q);
	case CALL_CREAT:
	case CALL_MKDIR:
	case CALL_MAKE:
	case CALL_BIND:
		return judge_new(g, q);
	case CALL_LINK:
		return judge_link(g, q);
	case CALL_RENAME:
		return judge_rename(g, q);
	case CALL_OPENAT2:
		return ENOSYS;
	case CALL_REMOVE:
	case CALL_CHANGE:
	case CALL_CHANGE_LINK:
	case CALL_CHANGE_OPEN:
	case CALL_CHDIR:
	case CALL_EXEC:
	case CALL_CONNECT:
		return 0;
	}
	return EPERM;
}

/* A socket of the host that was not known at the start by this name: connecting to it asks
 * neither a mount nor Landlock. */
static bool is_foreign_socket(const struct guard *g, const struct object *o)
{
	return type_of(o) == S_IFSOCK && !observer_owns_socket(&g->observer, o->path, &o->place);
}

/* Nothing is there inside, and what is meant may be on the host. */
static void note_missed_socket(struct guard *g, const struct request *q, const struct object *o)
{
	struct violation v = { .source = VIOLATION_BY_notify };
	struct observed_object found = { .what = OBSERVED_SOCKET };
	struct str path;

	if (o)
		memcpy(found.text, o->text, o->path.n + 1);
	else if (!observer_spell(q, found.text, &path))
		return;
	if (observe_judge(&g->observer, &found, &v))
		report(g, q->call, &v);
}

static int judge_connect(struct guard *g, const struct request *q)
{
	struct violation v = { .op = VIOLATION_connect,
			       .source = VIOLATION_BY_guard,
			       .errnum = EACCES };
	autoobject o = { .place.dir = -1 };
	int r;

	if (!g->guards)
		return 0;
	r = resolve(q, AT_FDCWD, q->path, true, &o);
	if (r < 0 || !type_of(&o)) {
		if (r == 0 || r == -ENOENT)
			note_missed_socket(g, q, r == 0 ? &o : NULL);
		return 0;
	}
	v.object = o.path;
	if (is_foreign_socket(g, &o)) {
		report(g, q->call, &v);
		return EACCES;
	}
	if (observer_covers_socket(&g->observer, o.path)) {
		v.source = VIOLATION_BY_notify;
		v.errnum = ECONNREFUSED;
		report(g, q->call, &v);
	}
	return 0;
}

/* --- observing ------------------------------------------------------------------ */

static void observe(struct guard *g, const struct request *q)
{
	struct violation v = { .source = VIOLATION_BY_notify };
	struct observed_object found;

	if (g->observes && !g->told && observe_find(&g->observer, q, &found) &&
	    observe_judge(&g->observer, &found, &v))
		report(g, q->call, &v);
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
	if (is_closed(q, r))
		return judge_closed(g, q);
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

	if (is_closed(q, r))
		return judge_closed(g, q);
	if (r < 0)
		return -r;
	/* An address that is no name. */
	if (q->row->kind == CALL_BIND && q->path_n == 0)
		return 0;
	if (q->row->kind == CALL_CONNECT && q->path_n)
		return judge_connect(g, q);
	if (q->row->kind == CALL_CONNECT && g->egress) {
		/* It waits for the kernel, which the tick would interrupt. */
		notify_calm(&g->notify);
		egress_expect(g->egress, q);
	}
	if (q->row->kind == CALL_RENAME && g->guards)
		verdict = judge_git_config(g, q);
	if (verdict)
		return verdict;
	/* Below what somebody made on the host every name is as guarded as it is. */
	g->selection.every |= g->sentry.foreign;
	if (is_selected(g, q))
		verdict = judge_selected(g, q);
	observe(g, q);
	return verdict;
}

static int judge_watched(struct guard *g, struct request *q)
{
	bool removes = q->row->kind == CALL_REMOVE;
	int verdict, r = request_read(q);

	if (r < 0)
		return removes && g->selection.unheld && is_closed(q, r) ? refuse_closed(g, q) : 0;
	verdict = removes ? judge_removal(g, q) : 0;
	observe(g, q);
	return verdict;
}

static int judge_refused(struct guard *g, const struct seccomp_notif *call)
{
	struct violation v = { .source = VIOLATION_BY_notify };
	int answer = refused_call(g->launch, call->data.nr, &v);

	if (v.object.n)
		report(g, call, &v);
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
