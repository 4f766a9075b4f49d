/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: from a waiting call to its answer. */
#include "run/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/fd.h"
#include "policy/rename.h"
#include "report/violation.h"
#include "run/guard_tree.h"
#include "run/notify.h"
#include "run/observe.h"
#include "run/selection.h"
#include "run/sentry.h"
#include "run/situation.h"
#include "run/supervise.h"
#include "run/target.h"

#define NONE (-1)

enum call_kind {
	CALL_OPEN,
	CALL_OPENAT2,
	CALL_CREAT,
	CALL_MKDIR,
	CALL_MAKE,
	CALL_LINK,
	CALL_RENAME,
	CALL_BIND
};

struct call_row {
	int nr;
	enum call_kind kind;
	int dirfd, path, from_dirfd, from_path, flags;
};

static const struct call_row rows[] = {
#define GUARDED_CALL(name, kind, ...) { __NR_##name, CALL_##kind, __VA_ARGS__ },
#include "run/calls.def"
#undef GUARDED_CALL
};

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
	struct run_quarantined quarantined[RUN_QUARANTINED_MAX];
	size_t n_quarantined;
	bool observes;
	int refusal; /* what a refused call fails with: as the kernel's own rules here */
	/* Of the call at hand. */
	char path[PATH_MAX], from[PATH_MAX];
	bool told; /* it is a violation already */
};

/* One call, its arguments taken apart. */
struct request {
	const struct seccomp_notif *call;
	const struct call_row *row;
	struct target target;
	int dirfd, from_dirfd;
	uint64_t flags;
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

static const struct call_row *row_of(int nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

static uint64_t argument(const struct seccomp_notif *call, int i)
{
	return i == NONE ? 0 : call->data.args[i];
}

/* The kernel takes the low word of a descriptor. */
static int dirfd_argument(const struct seccomp_notif *call, int i)
{
	return i == NONE ? AT_FDCWD : (int)(uint32_t)call->data.args[i];
}

/* --- reading -------------------------------------------------------------------- */

/* The path of a unix socket. Returns its length, 0 when it is no such thing. */
static ssize_t read_address(const struct request *q, char path[PATH_MAX])
{
	struct sockaddr_un address = { 0 };
	size_t n = q->flags, most = sizeof(address.sun_path);
	int r;

	if (n > sizeof(address))
		return 0;
	r = target_read(q->target.tid, argument(q->call, q->row->path), &address, n);
	if (r < 0)
		return r;
	if (n <= offsetof(struct sockaddr_un, sun_path) || address.sun_family != AF_UNIX ||
	    !address.sun_path[0])
		return 0;
	n = strnlen(address.sun_path, most);
	memcpy(path, address.sun_path, n);
	path[n] = '\0';
	return (ssize_t)n;
}

/* Lengths, or errors of the kind that target_read_string returns; no old name is 0. */
static void read_paths(struct guard *g, const struct request *q, ssize_t *path, ssize_t *from)
{
	bool two = q->row->from_path != NONE;
	struct target_string strings[TARGET_STRINGS_MAX] = {
		{ argument(q->call, q->row->path), g->path, 0 },
		{ argument(q->call, q->row->from_path), g->from, 0 },
	};

	if (q->row->kind == CALL_BIND)
		strings[0].n = read_address(q, g->path);
	else
		target_read_strings(q->target.tid, strings, two ? 2 : 1);
	*path = strings[0].n;
	*from = strings[1].n;
}

/* O_TMPFILE names a directory in which a file without a name is made. */
static bool is_nameless(const struct request *q)
{
	return q->row->kind == CALL_OPEN && (q->flags & O_TMPFILE) == O_TMPFILE;
}

/* Does it go through a link in the last place? */
static bool follows(const struct request *q)
{
	if (q->row->kind == CALL_CREAT)
		return true;
	return q->row->kind == CALL_OPEN && !(q->flags & O_NOFOLLOW) &&
	       !(q->flags & O_CREAT && q->flags & O_EXCL);
}

/* Such an open makes what a link in the last place leads to. */
static bool creates_through_link(const struct request *q)
{
	return follows(q) && (q->row->kind == CALL_CREAT || q->flags & O_CREAT);
}

/* openat2 for reading goes on. For anything else it is a call that this kernel does not
 * have, upon which programs use openat: its ways of resolving a path are not known here. */
static int judge_openat2(const struct request *q)
{
	struct open_how how;
	int r;

	if (q->flags < sizeof(how))
		return EINVAL;
	r = target_read(q->target.tid, argument(q->call, 2), &how, sizeof(how));
	if (r < 0)
		return -r;
	if (how.flags & O_PATH || !(how.flags & (O_ACCMODE | O_CREAT | O_TRUNC)))
		return 0;
	return ENOSYS;
}

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

static void report(struct guard *g, const struct request *q, enum violation_source source,
		   struct str object, const struct decision *d, int errnum)
{
	struct violation v = {
		.op = VIOLATION_write,
		.source = source,
		.object = object,
		.rule = d->data_rule,
		.pid = q->target.tid,
		.errnum = errnum,
	};

	g->told = true;
	/* What was read belonged to somebody who is gone. */
	if (!notify_waits(&g->notify, q->call))
		return;
	target_program(q->target.tid, v.program, sizeof(v.program));
	violations_add(run_violations(g->run), &v);
}

static int refuse(struct guard *g, const struct request *q, struct str object,
		  const struct decision *d)
{
	report(g, q, VIOLATION_BY_guard, object, d, g->refusal);
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
	autoobject o;
	int r = resolve(q, q->dirfd, g->path, follows(q), &o);
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
	bool by_fd = !*g->from && q->flags & AT_EMPTY_PATH;
	struct rename_decision d;
	struct decision plain;
	autoobject to;
	autoobject from = { .place.dir = -1, .path = { "", 0 } };
	int r = resolve(q, q->dirfd, g->path, false, &to);

	if (r == 0 && !by_fd)
		r = resolve(q, q->from_dirfd, g->from, q->flags & AT_SYMLINK_FOLLOW, &from);
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
	autoobject to;
	autoobject from = { .place.dir = -1, .path = { "", 0 } };
	int r = resolve(q, q->dirfd, g->path, false, &to);

	if (r == 0)
		r = resolve(q, q->from_dirfd, g->from, false, &from);
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

static int judge_selected(struct guard *g, const struct request *q)
{
	switch (q->row->kind) {
	case CALL_OPEN:
		return is_nameless(q) ? 0 : judge_new(g, q);
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
	}
	return EPERM;
}

/* --- observing ------------------------------------------------------------------ */

static enum observed observed_kind(const struct request *q)
{
	switch (q->row->kind) {
	case CALL_OPEN:
		return q->flags & O_CREAT && q->flags & O_EXCL ? OBSERVED_MAKE : OBSERVED_OPEN;
	case CALL_OPENAT2:
	case CALL_CREAT:
		return OBSERVED_OPEN;
	case CALL_RENAME:
		return OBSERVED_MOVE;
	case CALL_MKDIR:
	case CALL_MAKE:
	case CALL_LINK:
	case CALL_BIND:
		return OBSERVED_MAKE;
	}
	return OBSERVED_MOVE;
}

static void observe(struct guard *g, const struct request *q)
{
	bool follow = q->row->kind == CALL_CREAT ||
		      (q->row->kind == CALL_OPEN && !(q->flags & O_NOFOLLOW));
	char text[2 * PATH_MAX];
	struct decision d;
	struct str object;

	if (is_nameless(q))
		return;
	if (observe_write(&g->observer, &q->target, observed_kind(q), q->dirfd, g->path, follow,
			  text, &object, &d) ||
	    (q->row->kind == CALL_RENAME &&
	     observe_write(&g->observer, &q->target, OBSERVED_MOVE, q->from_dirfd, g->from, false,
			   text, &object, &d)))
		report(g, q, VIOLATION_BY_notify, object, &d, 0);
}

/* --- the answer ----------------------------------------------------------------- */

static enum inflight_kind made_by(enum call_kind kind)
{
	switch (kind) {
	case CALL_MKDIR:
		return INFLIGHT_DIR;
	case CALL_LINK:
	case CALL_RENAME:
		return INFLIGHT_MOVE;
	case CALL_OPEN:
	case CALL_OPENAT2:
	case CALL_CREAT:
		return INFLIGHT_FILE;
	case CALL_MAKE:
	case CALL_BIND:
		return INFLIGHT_NODE;
	}
	return INFLIGHT_MOVE;
}

static void let_go_on(struct guard *g, const struct request *q)
{
	sentry_saw(&g->sentry, q->target.tid, q->call->data.nr, made_by(q->row->kind));
}

/* Whatever cannot be read is refused as the kernel would: going on would read it again,
 * and then perhaps find something. */
static int judge(void *data, const struct seccomp_notif *call)
{
	struct guard *g = data;
	const struct call_row *row = row_of(call->data.nr);
	struct request q = { .call = call,
			     .row = row,
			     .target = { .view = &g->view, .tid = (pid_t)call->pid } };
	bool had_root = g->view.root >= 0;
	ssize_t n, from;
	int verdict = 0;

	if (!row)
		return ENOSYS;
	g->told = false;
	q.dirfd = dirfd_argument(call, row->dirfd);
	q.from_dirfd = dirfd_argument(call, row->from_dirfd);
	q.flags = (uint32_t)argument(call, row->flags);
	if (row->kind == CALL_OPENAT2) {
		let_go_on(g, &q);
		return judge_openat2(&q);
	}
	read_paths(g, &q, &n, &from);
	if (n < 0 || from < 0)
		return (int)-(n < 0 ? n : from);
	if (row->kind == CALL_BIND && n == 0) {
		let_go_on(g, &q);
		return 0;
	}
	/* Below what somebody made on the host every name is as guarded as it is. */
	g->selection.every |= g->sentry.foreign;
	if (selection_has(&g->selection, (struct str){ g->path, (size_t)n }) ||
	    (from && selection_has(&g->selection, (struct str){ g->from, (size_t)from })) ||
	    (creates_through_link(&q) && !target_has_no_links(&q.target, q.dirfd, g->path)))
		verdict = judge_selected(g, &q);
	if (g->observes && !g->told)
		observe(g, &q);
	/* A root that is kept must be the sandbox's: the call was not over when it was
	 * opened. */
	if (!had_root && g->view.root >= 0 && !notify_waits(&g->notify, call))
		fd_close(&g->view.root);
	if (!verdict)
		let_go_on(g, &q);
	return verdict;
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
	struct run_quarantined *q = &g->quarantined[g->n_quarantined];

	if (g->n_quarantined == RUN_QUARANTINED_MAX)
		return;
	*q = (struct run_quarantined){ .object = arena_dup(g->arena, path),
				       .kept = kept ? arena_dup(g->arena, str_of(kept)) : NULL,
				       .restorable = kept &&
						     quarantine_holds(&g->sentry.quarantine, kept),
				       .why = why };
	g->n_quarantined += q->object && (q->kept || !kept);
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
	sentry_end(&g->sentry);
	memcpy(result->quarantined, g->quarantined, sizeof(g->quarantined));
	result->n_quarantined = g->n_quarantined;
	fd_close(&g->view.root);
}

int guard_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	       struct cordon_error *err)
{
	struct guard *g;
	int r;

	if (!(in->launch->hands_over & HANDOVER_BIT(LISTENER)))
		return 0;
	g = arena_new(a, struct guard);
	if (!g)
		return err_nomem(err, "guard");
	g->policy = in->plan->policy;
	g->view.root = -1;
	g->arena = a;
	g->plan = in->plan;
	g->sentry.caught = caught;
	g->sentry.told = told;
	g->sentry.data = g;
	g->sentry.quarantine = (struct quarantine){ .home = in->situation->places.cordon_home.p,
						    .workdir = in->situation->places.workdir,
						    .held = -1 };
	g->observes = policy_number(g->policy, KEY_REPORT) >= REPORT_WRITES;
	/* A read-only mount says EROFS, Landlock EACCES. */
	g->refusal = strcmp(in->plan->backend, "landlock") == 0 ? EACCES : EROFS;
	g->notify = (struct notify){ .judge = judge, .broke = broke, .data = g };
	g->part = (struct run_part){ .name = "guard",
				     .takes = HANDOVER_BIT(LISTENER),
				     .begin = begin,
				     .took = took,
				     .end = end,
				     .data = g };
	if (!observer_init(&g->observer, a, in->plan))
		return err_nomem(err, "guard");
	r = selection_from_plan(a, in->plan, &g->selection, err);
	if (r == 0)
		*ret = &g->part;
	return r;
}
