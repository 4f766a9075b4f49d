/* SPDX-License-Identifier: Apache-2.0 */
/* Seeing refusals in advance; see observe.h for what is left out. */
#include "run/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/unmounted.h"
#include "base/fd.h"
#include "base/path.h"
#include "run/observe_host.h"
#include "run/remote.h"

/* How often what is known of a place is used before it is looked up again. */
#define USES_MAX 64
#define DIRFD_USES_MAX 16

/* One path of a call. */
struct sight {
	enum observed what;
	const struct target *target;
	int dirfd;
	const char *path;
	bool follow;
};

static bool identify(int dir, const char *name, struct observed_stream *ret)
{
	struct statx st;

	if (statx(dir, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC,
		  STATX_INO | STATX_TYPE | STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID) || !S_ISREG(st.stx_mode))
		return false;
	*ret = (struct observed_stream){ st.stx_mnt_id, st.stx_ino, st.stx_dev_major,
					 st.stx_dev_minor };
	return true;
}

/* Those that may be opened again for writing: see rights_of in backend/linux/landlock.c. */
static void note_streams(struct observer *o)
{
	for (int fd = 0; fd < OBSERVED_STREAMS; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags >= 0 && !(flags & (O_PATH | O_APPEND)) && fd_mode_writes(flags))
			identify(fd, "", &o->streams[fd]);
	}
}

/* The mount tells it from the same file by its name, which the sandbox may show
 * read-only. */
static bool is_stream(const struct observer *o, const struct target_place *place)
{
	struct observed_stream found;

	if (!identify(place->dir, place->name, &found))
		return false;
	for (int i = 0; i < OBSERVED_STREAMS; i++) {
		const struct observed_stream *s = &o->streams[i];

		if (s->inode && s->inode == found.inode && s->mount == found.mount &&
		    s->major == found.major && s->minor == found.minor)
			return true;
	}
	return false;
}

void observer_now(struct timespec *ret)
{
	if (clock_gettime(CLOCK_REALTIME_COARSE, ret) < 0)
		*ret = (struct timespec){ .tv_sec = INT64_MAX };
}

bool observer_init(struct observer *o, struct arena *a, const struct plan *plan,
		   const struct launch *launch)
{
	const char *tmp = unmounted_tmp(plan, launch);

	o->plan = plan;
	o->policy = plan->policy;
	o->arena = a;
	o->own_view = strcmp(plan->backend, "landlock") != 0;
	o->tmp = tmp ? str_of(tmp) : STR("");
	o->limits_exec = plan->enforced[GUARANTEE_EXEC];
	o->limits_hosts = policy_net_mode(plan->policy) != NET_ON;
	observer_now(&o->since);
	note_streams(o);
	/* What the backend does not do shapes nothing. */
	vec_each(op, &plan->ops) {
		if (op_rows[op->kind].view != VIEW_NONE && !op->lost &&
		    !map_put(&o->shown, a, op->path, op))
			return false;
	}
	return true;
}

/* Without mounts the run has a directory of the host's in the place of a /tmp of its own; what
 * the policy says of where that lies is not about it. */
static bool is_own_tmp(const struct observer *o, struct str path)
{
	return !o->own_view && o->tmp.n && path_below(path, o->tmp);
}

/* The host's own is closed, but for that part. */
static bool is_closed(const struct observer *o, const struct op *op, struct str path)
{
	return op && plan_closes(o->plan, op) && !is_own_tmp(o, path);
}

bool observer_writable(const struct observer *o, struct str path)
{
	const struct op *op = map_nearest(&o->shown, path);

	return op && !is_closed(o, op, path) &&
	       (op_view_of(op) == VIEW_WRITE || op_view_of(op) == VIEW_OWN);
}

bool observer_private(const struct observer *o, struct str path)
{
	const struct op *op = o->own_view ? map_nearest(&o->shown, path) : NULL;

	return op && op_view_of(op) == VIEW_OWN;
}

bool observer_born_since(const struct statx *st, const struct timespec *since)
{
	const struct statx_timestamp *born = &st->stx_btime;

	return st->stx_mask & STATX_BTIME &&
	       (born->tv_sec > since->tv_sec ||
		(born->tv_sec == since->tv_sec && born->tv_nsec >= (uint64_t)since->tv_nsec));
}

static bool is_younger(const struct observer *o, const struct target_place *place)
{
	const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
	struct statx st;

	return statx(place->dir, place->name, flags, STATX_BTIME, &st) == 0 &&
	       observer_born_since(&st, &o->since);
}

bool observer_owns_socket(const struct observer *o, struct str path,
			  const struct target_place *place)
{
	vec_each(op, &o->plan->ops)
		if (op->kind == OP_SOCKET && str_eq(op->path, path))
			return true;
	return observer_private(o, path) ||
	       (observer_writable(o, path) && is_younger(o, place));
}

bool observer_covers_socket(const struct observer *o, struct str path)
{
	vec_each(op, &o->plan->ops)
		if (op->kind == OP_HIDE_FILE && op->node.type == NODE_SOCKET && !op->lost &&
		    str_eq(op->path, path))
			return true;
	return false;
}

static bool is_readable(const struct observer *o, struct str path)
{
	const struct op *op = map_nearest(&o->shown, path);

	return op && !is_closed(o, op, path) && op_view_of(op) != VIEW_HIDDEN &&
	       op->kind != OP_ROOT_EMPTY;
}

static enum policy_op policy_op_of(enum observed what)
{
	if (what == OBSERVED_READ)
		return POLICY_READ;
	return what == OBSERVED_EXEC ? POLICY_EXEC : POLICY_WRITE;
}

static bool is_allowed(const struct observer *o, enum observed what, struct str path)
{
	struct decision d;

	if (what != OBSERVED_EXEC && is_own_tmp(o, path))
		return true;
	if (what == OBSERVED_EXEC)
		return path_is_normal(path) && policy_allows(o->policy, POLICY_EXEC, path, &d);
	return what == OBSERVED_READ ? is_readable(o, path) : observer_writable(o, path);
}

/* --- where ---------------------------------------------------------------------- */

static bool may_look(struct observer *o, const char *path)
{
	return o->inside || !remote_is_below(&o->mounts, o->arena, str_of(path));
}

/* Who removes a tree opens one directory after the other, with the same few numbers. */
static bool may_be_another(const struct observer *o, const struct sight *s)
{
	return o->strictly || (s->what == OBSERVED_REMOVE && s->dirfd != AT_FDCWD);
}

static const struct observed_base *base_of(struct observer *o, const struct sight *s)
{
	size_t slot = ((size_t)s->target->tid + (size_t)s->dirfd * 7) & (OBSERVED_BASES - 1);
	struct observed_base *b = &o->bases[slot];

	if (!o->base_uses[slot] || may_be_another(o, s) || b->tid != s->target->tid ||
	    b->dirfd != s->dirfd) {
		b->tid = s->target->tid;
		b->dirfd = s->dirfd;
		/* A working directory changes in a call that is seen; a descriptor does not. */
		o->base_uses[slot] = s->dirfd == AT_FDCWD ? USES_MAX : DIRFD_USES_MAX;
		b->n = target_base_path(s->target, s->dirfd, b->path);
	}
	o->base_uses[slot]--;
	return b;
}

void observer_forget_bases(struct observer *o)
{
	memset(o->base_uses, 0, sizeof(o->base_uses));
}

enum known {
	KNOWN_STRAIGHT_DIR, /* no link leads to what is in this directory */
	KNOWN_STRAIGHT,	    /* no link leads to it, nor is it one */
	KNOWN_READ,	    /* reading it is nothing to be noted */
};

static bool is_known(struct observer *o, enum known what, struct str text)
{
	uint64_t hash = str_hash(text, what);
	struct observed_known *k = &o->known[hash % OBSERVED_KNOWN];

	if (k->tag != (uint32_t)(hash >> 32) || !k->uses || o->strictly)
		return false;
	k->uses--;
	return true;
}

/* In the place of what was known by the same number. */
static void now_known(struct observer *o, enum known what, struct str text)
{
	uint64_t hash = str_hash(text, what);

	o->known[hash % OBSERVED_KNOWN] = (struct observed_known){
		.tag = (uint32_t)(hash >> 32),
		.uses = USES_MAX,
	};
}

/* Does the text say where it is, or does a link lead elsewhere? */
static bool is_straight(struct observer *o, const struct sight *s, struct str text)
{
	bool writes_through = s->follow && policy_op_of(s->what) == POLICY_WRITE;
	enum known what = s->follow ? KNOWN_STRAIGHT : KNOWN_STRAIGHT_DIR;
	struct str object = s->follow ? text : path_parent(text);

	/* Of a path whose last component is not followed, only the directory matters. */
	if (!s->follow && !strchr(s->path, '/'))
		return true;
	if (!writes_through && is_known(o, what, object))
		return true;
	if (may_look(o, text.p) && !target_has_no_links(s->target, s->dirfd, s->path))
		return false;
	if (s->what != OBSERVED_READ)
		now_known(o, what, object);
	return true;
}

/* The path from the root on, as the call says it. Empty: it is not known where it starts. */
static struct str say(struct observer *o, const struct sight *s, char text[OBSERVED_TEXT])
{
	const struct observed_base *base;
	size_t n = strlen(s->path), base_n = 0;

	if (s->path[0] != '/') {
		base = base_of(o, s);
		if (!base->n)
			return (struct str){ text, 0 };
		memcpy(text, base->path, base->n);
		text[base->n] = '/';
		base_n = base->n + 1;
	}
	memcpy(text + base_n, s->path, n + 1);
	return (struct str){ text, base_n + n };
}

/* Is it, going by the text, in a tree where it is allowed? */
static bool is_ordinary(struct observer *o, const struct sight *s, struct str said)
{
	return !strstr(s->path, "..") && is_allowed(o, s->what, said) && is_straight(o, s, said);
}

/* As the text says, without looking at any file. */
static bool spell(const struct sight *s, char *text)
{
	autoarena struct arena a = { 0 };
	char base[PATH_MAX] = "/";
	size_t n = s->path[0] == '/' ? 1 : target_base_path(s->target, s->dirfd, base);
	char *normal;

	if (!n)
		return false;
	arena_init(&a, (size_t)64 << 10);
	normal = path_normalise(&a, (struct str){ base, n }, str_of(s->path));
	if (normal)
		memcpy(text, normal, strlen(normal) + 1);
	return normal;
}

/* A write to what the command was given to write to. */
static bool is_given(const struct observer *o, const struct sight *s,
		     const struct target_place *place)
{
	return (s->what == OBSERVED_OPEN || s->what == OBSERVED_CHANGE) && is_stream(o, place);
}

/* What hides a directory inside is closed to us, too, unless we are root: a link that leads
 * there is followed on the host, where what is hidden was meant. Only as far as the kernel
 * knows the way already: where the link leads is the command's choice, and a file system that
 * answers slowly would hold up the whole run. */
static void follow_outside(const struct observer *o, const struct sight *s, char *text)
{
	const struct op *op = map_nearest(&o->shown, str_of(text));
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS };
	char found[PATH_MAX];
	autoclose int fd = -1;

	if (o->inside || !s->follow || !op || op_view_of(op) == VIEW_OWN)
		return;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, text, &how, sizeof(how));
	if (fd >= 0 && target_path_of(fd, found) > 0)
		memcpy(text, found, strlen(found) + 1);
}

/* Where it really is; text stays where the sandbox shows nothing that could be resolved.
 * False: nothing that could be refused. */
static bool resolve(const struct observer *o, const struct sight *s, char *text, bool *ret_there)
{
	struct target_place place;
	struct stat st;
	bool given;
	ssize_t n;
	int r = target_resolve(s->target, s->dirfd, s->path, s->follow, &place);

	*ret_there = false;
	if (r == -EACCES)
		follow_outside(o, s, text);
	if (r < 0)
		return true;
	*ret_there = !*place.name || fstatat(place.dir, place.name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	given = is_given(o, s, &place);
	n = target_path_of(place.dir, text);
	fd_close(&place.dir);
	if (given || n <= 0 || n + 1 + (ssize_t)strlen(place.name) > PATH_BYTES_MAX)
		return false;
	if (*place.name)
		snprintf(text + n, OBSERVED_TEXT - (size_t)n, "%s%s", n > 1 ? "/" : "", place.name);
	return true;
}

/* --- what would have been ------------------------------------------------------- */

static bool permits(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* Would the caller's own permissions allow it? Asked on the host, where nothing is
 * covered. */
static bool would_work(enum observed what, const char *path)
{
	char parent[PATH_MAX];
	struct str up = path_parent(str_of(path));
	struct stat st;
	bool there = lstat(path, &st) == 0, makes;

	memcpy(parent, up.p, up.n);
	parent[up.n] = '\0';
	makes = permits(parent, W_OK | X_OK);
	switch (what) {
	case OBSERVED_OPEN:
		return there ? !S_ISDIR(st.st_mode) && permits(path, W_OK) : makes;
	case OBSERVED_OPEN_NEW:
	case OBSERVED_MAKE:
	case OBSERVED_MKDIR:
		return !there && makes;
	case OBSERVED_MOVE:
		return makes;
	case OBSERVED_REMOVE:
		return there && makes;
	case OBSERVED_CHANGE:
		return there && (st.st_uid == geteuid() || geteuid() == 0);
	case OBSERVED_READ:
		return there && permits(path, R_OK);
	case OBSERVED_EXEC:
		return stat(path, &st) == 0 && S_ISREG(st.st_mode) && permits(path, X_OK);
	case OBSERVED_HOST:
	case OBSERVED_SENDS:
	case OBSERVED_ASKS:
	case OBSERVED_SOCKET:
	case OBSERVED_COUNT:
		break;
	}
	return false;
}

/* The sandbox's own devices and processes are nobody's files. */
static bool is_own(struct str path)
{
	return path_below(path, STR("/proc")) || path_below(path, STR("/dev")) ||
	       path_below(path, STR("/sys"));
}

/* Directories that only lead to what is shown belong to the sandbox, and can be read. */
static bool is_served(const struct observer *o, enum observed what, struct str path)
{
	const struct op *op = map_nearest(&o->shown, path);

	return what == OBSERVED_READ && o->own_view && op && op_view_of(op) != VIEW_HIDDEN;
}

static void note_allowed(struct observer *o, const struct sight *s, struct str object)
{
	static const enum violation_op ops[] = {
		[POLICY_READ] = VIOLATION_read,
		[POLICY_WRITE] = VIOLATION_write,
		[POLICY_EXEC] = VIOLATION_exec,
	};
	struct decision d;

	if (path_is_normal(object) && !is_own(object) &&
	    policy_allows(o->policy, policy_op_of(s->what), object, &d))
		o->allowed(o->data, ops[policy_op_of(s->what)], object);
}

/* Then it is executed all the same. */
static bool is_denied_by_pattern(const struct observer *o, const struct decision *d)
{
	vec_each(op, &o->plan->ops)
		if (op->kind == OP_NOEXEC_GLOB && op->rule == d->exec_rule)
			return true;
	return false;
}

static bool is_refused(const struct observer *o, enum observed what, struct str object,
		       struct decision *ret)
{
	enum policy_op op = policy_op_of(what);

	if (!path_is_normal(object) || is_own(object))
		return false;
	/* Without a backend that limits it, only what is hidden is not executed. */
	if (what == OBSERVED_EXEC && !o->limits_exec && is_readable(o, object))
		return false;
	if (what == OBSERVED_EXEC)
		return !policy_allows(o->policy, op, object, ret) && !is_denied_by_pattern(o, ret);
	/* A rule opens nothing for writing that was not there at the start. */
	return !policy_allows(o->policy, op, object, ret) ||
	       (op == POLICY_WRITE && !observer_writable(o, object)) ||
	       (op == POLICY_READ && is_closed(o, map_nearest(&o->shown, object), object));
}

/* Where it is, and that it is refused there. */
static bool look_closely(struct observer *o, const struct sight *s, struct observed_object *ret)
{
	struct decision d;
	bool there;

	if (!spell(s, ret->text) || !may_look(o, ret->text) || !resolve(o, s, ret->text, &there))
		return false;
	if (o->allowed)
		note_allowed(o, s, str_of(ret->text));
	ret->what = s->what;
	return !(there && is_served(o, s->what, str_of(ret->text))) &&
	       is_refused(o, s->what, str_of(ret->text), &d);
}

static bool look_at(struct observer *o, const struct sight *s, struct observed_object *ret)
{
	char text[OBSERVED_TEXT];
	bool reads = s->what == OBSERVED_READ, noted;
	struct str said;

	if (!*s->path)
		return false;
	/* Whoever is told of everything, or may wait, looks every time. */
	if (o->allowed || o->inside)
		return look_closely(o, s, ret);
	said = say(o, s, text);
	if (reads && said.n && is_known(o, KNOWN_READ, said))
		return false;
	noted = !(said.n && is_ordinary(o, s, said)) && look_closely(o, s, ret);
	if (reads && said.n && !noted)
		now_known(o, KNOWN_READ, said);
	return noted;
}

/* The same for what a descriptor leads to. Where that is can be asked without waiting for the
 * file system. */
static bool look_through(struct observer *o, const struct sight *s, struct observed_object *ret)
{
	size_t n = target_base_path(s->target, s->dirfd, ret->text);
	struct target_place place = { .dir = -1 };
	struct decision d;
	bool given;

	ret->text[n] = '\0';
	ret->what = s->what;
	if (!n || !may_look(o, ret->text))
		return false;
	if (o->allowed)
		note_allowed(o, s, str_of(ret->text));
	if (is_allowed(o, s->what, str_of(ret->text)) ||
	    !is_refused(o, s->what, str_of(ret->text), &d))
		return false;
	place.dir = target_open_descriptor(s->target, s->dirfd);
	given = place.dir < 0 || is_given(o, s, &place);
	fd_close(&place.dir);
	return !given;
}

static bool judge_path(struct observer *o, const struct observed_object *found,
		       struct violation *ret)
{
	struct decision d;

	if (!is_refused(o, found->what, str_of(found->text), &d) || !may_look(o, found->text) ||
	    !would_work(found->what, found->text))
		return false;
	ret->op = found->what == OBSERVED_READ	 ? VIOLATION_read
		  : found->what == OBSERVED_EXEC ? VIOLATION_exec
						 : VIOLATION_write;
	ret->rule = found->what == OBSERVED_EXEC ? d.exec_rule : d.data_rule;
	observed_describe(found->what, ret);
	return true;
}

void observed_describe(enum observed what, struct violation *v)
{
	v->removes = what == OBSERVED_REMOVE;
	v->moves = what == OBSERVED_MOVE;
	v->directory = what == OBSERVED_MKDIR;
	v->opens = what == OBSERVED_OPEN;
	v->opens_new = what == OBSERVED_OPEN_NEW;
}

/* --- calls ---------------------------------------------------------------------- */

static enum observed what_it_does(const struct request *q)
{
	switch (q->row->kind) {
	case CALL_OPEN:
		if (request_is_watched(q))
			return OBSERVED_READ;
		return q->flags & O_CREAT && q->flags & O_EXCL ? OBSERVED_OPEN_NEW : OBSERVED_OPEN;
	case CALL_OPENAT2:
	case CALL_CREAT:
		return OBSERVED_OPEN;
	case CALL_RENAME:
	case CALL_CONNECT:
	case CALL_CHDIR:
		return OBSERVED_MOVE;
	case CALL_MKDIR:
		return OBSERVED_MKDIR;
	case CALL_MAKE:
	case CALL_LINK:
	case CALL_BIND:
		return OBSERVED_MAKE;
	case CALL_REMOVE:
		return OBSERVED_REMOVE;
	case CALL_CHANGE:
	case CALL_CHANGE_LINK:
	case CALL_CHANGE_OPEN:
		return OBSERVED_CHANGE;
	case CALL_EXEC:
		return OBSERVED_EXEC;
	}
	return OBSERVED_MOVE;
}

bool observe_find(struct observer *o, const struct request *q, struct observed_object *ret)
{
	struct sight to = { what_it_does(q), &q->target, q->dirfd, q->path, request_follows(q) };
	struct sight from = { OBSERVED_MOVE, &q->target, q->from_dirfd, q->from, false };

	if (q->row->kind == CALL_CONNECT)
		return o->limits_hosts && !q->path_n && observe_host(o, q, ret);
	/* An address that is no name. */
	if (request_is_nameless(q) || (q->row->kind == CALL_BIND && !q->path_n))
		return false;
	if (request_is_by_descriptor(q))
		return look_through(o, &to, ret);
	return look_at(o, &to, ret) || (q->row->kind == CALL_RENAME && look_at(o, &from, ret));
}

bool observer_spell(const struct request *q, char text[OBSERVED_TEXT], struct str *ret)
{
	struct sight s = { OBSERVED_SOCKET, &q->target, AT_FDCWD, q->path, true };

	if (!spell(&s, text))
		return false;
	*ret = str_of(text);
	return true;
}

/* Asked by the C library in the course of any look-up of a user or a host, which goes on without
 * an answer. */
static bool is_of_lookups(struct str path)
{
	static const struct str names[] = { STR("/nscd"), STR("/avahi-daemon"), STR("/systemd") };
	struct str below = str_starts(path, STR("/var/run/")) ? str_skip(path, 4) : path;

	if (!str_starts(below, STR("/run/")))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (path_below(str_skip(below, 4), names[i]))
			return true;
	return false;
}

bool observer_may_miss_socket(const struct observer *o, struct str path)
{
	return o->own_view && path_is_normal(path) && !is_own(path) && !is_of_lookups(path) &&
	       (observer_private(o, path) || !is_readable(o, path));
}

/* One that was granted is shown, so it is not missed. */
static bool misses_socket(struct observer *o, const struct observed_object *found)
{
	struct stat st;

	return observer_may_miss_socket(o, str_of(found->text)) && may_look(o, found->text) &&
	       stat(found->text, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool observe_judge(struct observer *o, const struct observed_object *found, struct violation *ret)
{
	ret->object = str_of(found->text);
	if (found->what < OBSERVED_HOST)
		return judge_path(o, found, ret);
	ret->op = found->what == OBSERVED_SENDS ? VIOLATION_send : VIOLATION_connect;
	if (found->what != OBSERVED_SOCKET)
		return observe_judge_host(o, found);
	ret->errnum = ECONNREFUSED;
	if (observer_covers_socket(o, ret->object))
		return true;
	ret->errnum = ENOENT;
	return misses_socket(o, found);
}
