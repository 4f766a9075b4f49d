/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: what a waiting call names, and what the policy says of that. */
#include "run/guard_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/rename.h"
#include "run/guard_tree.h"
#include "run/refused.h"
#include "run/supervise.h"

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

void guard_report(struct guard *g, const struct seccomp_notif *call, struct violation *v)
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
int guard_refuse_closed(struct guard *g, const struct request *q)
{
	struct violation v = { .source = VIOLATION_BY_guard };

	refused_closed(q->call->data.nr, &v);
	guard_report(g, q->call, &v);
	return EACCES;
}

/* Does anything but what is told rest on a call of this kind? */
static bool is_guarded(const struct guard *g, const struct request *q)
{
	if (q->row->kind == CALL_CONNECT && g->egress)
		return true;
	return g->guards || g->selection.every;
}

int guard_judge_closed(struct guard *g, const struct request *q)
{
	return is_guarded(g, q) ? guard_refuse_closed(g, q) : 0;
}

bool guard_is_closed(const struct request *q, int r)
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

	guard_report(g, q->call, &v);
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
int guard_judge_removal(struct guard *g, const struct request *q)
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
int guard_judge_git_config(struct guard *g, const struct request *q)
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

int guard_judge_selected(struct guard *g, const struct request *q)
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
		guard_report(g, q->call, &v);
}

int guard_judge_connect(struct guard *g, const struct request *q)
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
		guard_report(g, q->call, &v);
		return EACCES;
	}
	if (observer_covers_socket(&g->observer, o.path)) {
		v.source = VIOLATION_BY_notify;
		v.errnum = ECONNREFUSED;
		guard_report(g, q->call, &v);
	}
	return 0;
}
