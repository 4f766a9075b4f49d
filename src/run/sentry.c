/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the places of guarded names, from the root down. */
#include "run/sentry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "run/whose.h"

#define LOOK_MS 20
#define LAST_LOOK_MS 2000
/* How soon it is asked whether a call is over: until then whatever appears may be its doing. Not
 * while one follows the other, and not all the time. */
#define SETTLE_US 100
#define SETTLE_AGAIN_US 500
#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* --- one place ------------------------------------------------------------------ */

/* Once in a look: the mode is put back at its end. */
static bool open_up(struct sentry_place *dir)
{
	if (dir->opened_up)
		return false;
	dir->opened_up = fd_open_up(dir->fd, &dir->former) == 0;
	return dir->opened_up;
}

int sentry_stat(struct sentry_place *dir, const char *name, struct statx *ret)
{
	unsigned mask = STATX_BASIC_STATS | STATX_BTIME;

	do
		if (statx(dir->fd, name, AT_SYMLINK_NOFOLLOW, mask, ret) == 0)
			return 0;
	while (errno == EACCES && open_up(dir));
	return -errno;
}

/* The same directory as one that is held, which is closed in its favour, or now held itself;
 * -1: neither. */
static int hold_dir(struct sentry *s, int fd)
{
	struct stat st, held;
	bool known = fstat(fd, &st) == 0;

	for (size_t i = 0; known && i < s->n_dirs; i++)
		if (fstat(s->dirs[i], &held) == 0 && held.st_ino == st.st_ino &&
		    held.st_dev == st.st_dev) {
			fd_close(&fd);
			return s->dirs[i];
		}
	if (s->n_dirs < SENTRY_DIRS_MAX)
		return s->dirs[s->n_dirs++] = fd;
	fd_close(&fd);
	return -1;
}

static void keep_ticket(struct sentry *s, const struct sentry_place *p, struct quarantine_ticket *t)
{
	struct sentry_taken *one = NULL;

	t->dir = hold_dir(s, t->dir);
	if (t->dir >= 0 && s->taken.n < SENTRY_TAKEN_MAX)
		one = vec_push(&s->taken, s->arena);
	if (one)
		*one = (struct sentry_taken){ .path = p->path, .ticket = *t };
	else
		s->lost++;
}

static int take(struct sentry *s, struct sentry_place *p, struct sentry_place *dir)
{
	struct quarantine_ticket t;
	int r;

	do
		r = quarantine_take(&s->quarantine, dir->fd, p->name, str_of(p->path), &t);
	while (r == -EACCES && open_up(dir));
	if (r == 0)
		keep_ticket(s, p, &t);
	return r;
}

static void fine(const struct sentry *s, struct sentry_place *p)
{
	p->stuck = false;
	p->why = 0;
	p->fine_at = s->looks;
	p->fine_files = s->looks_files;
}

/* What could not be taken is tried again, and is one violation. */
static void take_away(struct sentry *s, struct sentry_place *p, struct sentry_place *dir,
		      const struct sentry_id *id)
{
	bool again = p->stuck && whose_same(id, &p->prey);
	int r = take(s, p, dir);

	if (r == -ENOENT)
		return;
	if (p->known && whose_same(id, &p->left))
		p->known = p->told = false;
	p->stuck = r < 0;
	p->prey = *id;
	p->why = -r;
	if (!again)
		s->caught(s->data, str_of(p->path), p->rule);
}

/* Something that should not be there. */
static void seize(struct sentry *s, struct sentry_place *p, struct sentry_place *dir,
		  const struct statx *st)
{
	struct sentry_id id = whose_id(st);
	bool again = p->stuck && whose_same(&id, &p->prey);

	if (again || whose_inside(s, p, dir, st)) {
		take_away(s, p, dir, &id);
		return;
	}
	p->told = s->foreign = true;
	whose_leave(s, p, dir->fd, st);
	fine(s, p);
}

/* Which directory that is, is asked of the one that was opened. */
static void recognise(const struct sentry *s, struct sentry_place *p)
{
	struct statx st;
	struct sentry_id id;

	if (statx(p->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0) {
		p->here_since = INT64_MAX;
		return;
	}
	id = whose_id(&st);
	if (!whose_same(&id, &p->here) || p->here_since == INT64_MAX)
		p->here_since = s->looks;
	p->here = id;
}

static void enter(struct sentry *s, struct sentry_place *p, struct sentry_place *dir,
		  const struct statx *st)
{
	if (!p->leads || !S_ISDIR(st->stx_mode))
		return;
	p->fd = openat(dir->fd, p->name, DIR_FLAGS);
	/* Replaced just now, as a rule, and seen the next time. */
	if (p->fd < 0)
		p->why = errno;
	else
		recognise(s, p);
	if (p->fd >= 0 && p->holds)
		witness_watch(&s->witness, p->fd);
}

static void look_at(struct sentry *s, struct sentry_place *p, struct sentry_place *dir)
{
	struct sentry_id id;
	struct statx st;
	bool left;
	int r = sentry_stat(dir, p->name, &st);

	if (r == -ENOENT || r == -ENOTDIR) {
		fine(s, p);
	} else if (r < 0) {
		/* What is hidden may be anything. */
		p->why = p->blind ? 0 : -r;
	} else {
		id = whose_id(&st);
		left = p->known && whose_same(&id, &p->left);
		if (left && !whose_untouched(s, p, dir, &st)) {
			take_away(s, p, dir, &id);
		} else if (!left && (p->guarded || !S_ISDIR(st.stx_mode))) {
			seize(s, p, dir, &st);
		} else {
			fine(s, p);
			enter(s, p, dir, &st);
		}
	}
}

static void first_look_at(struct sentry *s, struct sentry_place *p, struct sentry_place *dir)
{
	struct statx st;
	int r = sentry_stat(dir, p->name, &st);

	fine(s, p);
	p->known = r == 0;
	p->blind = r < 0 && r != -ENOENT && r != -ENOTDIR;
	if (!p->known)
		return;
	whose_leave(s, p, dir->fd, &st);
	/* Nothing was opened for writing yet. */
	p->in_reach = false;
	enter(s, p, dir, &st);
}

/* Of calls that were over when nothing was wrong anywhere nothing is asked any more. */
static void forget(struct sentry *s)
{
	int64_t fine_at = INT64_MAX;

	for (size_t i = 1; i < s->places.n; i++)
		if (s->places.at[i].fine_at < fine_at)
			fine_at = s->places.at[i].fine_at;
	inflight_forget(&s->inflight, fine_at);
}

/* --- all of them ---------------------------------------------------------------- */

/* What is remembered does not tell before from after when the clock was set back. */
static void see_time(struct sentry *s)
{
	int64_t now = inflight_now();

	if (now < s->looks) {
		inflight_doubt(&s->inflight);
		vec_each(p, &s->places)
			p->fine_at = INT64_MIN / 2;
	}
	s->looks = now;
}

static void leave_dir(struct sentry_place *dir)
{
	if (dir->opened_up)
		fd_set_mode(dir->fd, dir->former);
	dir->opened_up = false;
	fd_close(&dir->fd);
}

/* Of directories only those are held that lead to the place at hand. */
static void step_back(struct sentry *s, size_t from, size_t to)
{
	for (; from != to; from = s->places.at[from].above)
		leave_dir(&s->places.at[from]);
}

static void look(struct sentry *s,
		 void (*at)(struct sentry *s, struct sentry_place *p, struct sentry_place *dir))
{
	struct sentry_place *all = s->places.at;

	if (!s->places.n)
		return;
	s->looks_files = file_clock_step(&s->inflight.clock);
	see_time(s);
	/* Before it is forgotten who was at work. */
	witness_listen(&s->witness);
	all[0].fd = open("/", DIR_FLAGS);
	all[0].why = all[0].fd < 0 ? errno : 0;
	all[0].unseen = all[0].fd < 0;
	for (size_t i = 1; i < s->places.n; i++) {
		struct sentry_place *dir = &all[all[i].above];

		step_back(s, i - 1, all[i].above);
		if (dir->fd >= 0)
			at(s, &all[i], dir);
		else if (!dir->unseen)
			fine(s, &all[i]);
		all[i].unseen = dir->fd < 0 ? dir->unseen : all[i].why != 0;
		/* What is away may come back with more in it. */
		if (all[i].fd < 0)
			all[i].here_since = INT64_MAX;
	}
	step_back(s, s->places.n - 1, 0);
	leave_dir(&all[0]);
	forget(s);
}

/* A call that went on may take its time: the looks become rare, but do not end at once. */
static void look_again(void *data)
{
	struct sentry *s = data;

	inflight_settle(&s->inflight);
	witness_begin(&s->witness);
	look(s, look_at);
	s->pause *= 2;
	if (s->pause > LAST_LOOK_MS && s->inflight.n_open)
		s->pause = LAST_LOOK_MS;
	if (s->pause <= LAST_LOOK_MS)
		loop_set_timer(s->loop, &s->timer, s->pause);
}

static void settle(void *data)
{
	struct sentry *s = data;
	int64_t since = inflight_since(&s->inflight);

	/* Negative: the clock was set back. */
	if (since >= 0 && since < (int64_t)SETTLE_US * 1000) {
		loop_set_timer_us(s->loop, &s->settler, SETTLE_US);
		return;
	}
	inflight_settle(&s->inflight);
	s->settled = inflight_now();
	s->patience *= 2;
	if (s->inflight.n_open && s->patience < LOOK_MS * 1000)
		loop_set_timer_us(s->loop, &s->settler, s->patience);
}

static void settle_soon(struct sentry *s)
{
	int64_t since = (inflight_now() - s->settled) / 1000;
	bool lately = since >= 0 && since < SETTLE_AGAIN_US - SETTLE_US;

	s->patience = SETTLE_US;
	loop_set_timer_us(s->loop, &s->settler,
			  lately ? (uint64_t)(SETTLE_AGAIN_US - since) : SETTLE_US);
}

void sentry_saw(struct sentry *s, pid_t tid, int nr, enum inflight_kind kind)
{
	if (!s->began)
		look(s, first_look_at);
	s->began = true;
	s->opens |= kind != INFLIGHT_DIR && kind != INFLIGHT_NODE;
	inflight_add(&s->inflight, tid, nr, kind);
	if (!s->settler.set)
		settle_soon(s);
	if (s->pause == LOOK_MS && s->timer.set)
		return;
	s->pause = LOOK_MS;
	loop_set_timer(s->loop, &s->timer, LOOK_MS);
}

/* --- begin and end -------------------------------------------------------------- */

static size_t add_place(struct sentry *s, struct str path, size_t above)
{
	struct sentry_place *p = vec_push(&s->places, s->arena);

	if (!p)
		return SIZE_MAX;
	*p = (struct sentry_place){ .path = arena_dup(s->arena, path), .above = above, .fd = -1 };
	if (!p->path)
		return SIZE_MAX;
	p->name = strrchr(p->path, '/') + 1;
	return s->places.n - 1;
}

/* The number of the place, made where it is missing; SIZE_MAX without memory. Names come in the
 * order of a walk: if it is there, nothing was added to the directory after it. */
static size_t place_in(struct sentry *s, size_t above, struct str path)
{
	size_t latest = s->places.at[above].latest;

	if (latest && str_eq(str_of(s->places.at[latest].path), path))
		return latest;
	latest = add_place(s, path, above);
	s->places.at[above].leads = true;
	s->places.at[above].latest = latest;
	return latest;
}

static int add_name(struct sentry *s, const struct op *op)
{
	struct str rest = op->path, part;
	size_t at = s->places.n ? 0 : add_place(s, STR("/"), 0);

	while (at != SIZE_MAX && path_next(&rest, &part)) {
		at = place_in(s, at,
			      str_take(op->path, (size_t)(part.p - op->path.p) + part.n));
		if (at != SIZE_MAX && !s->places.at[at].rule)
			s->places.at[at].rule = op->rule;
	}
	if (at == SIZE_MAX)
		return -1;
	s->places.at[at].guarded = true;
	s->places.at[s->places.at[at].above].holds = true;
	s->places.at[at].rule = op->rule;
	return 0;
}

static int in_order(const void *x, const void *y)
{
	const struct op *const *a = x, *const *b = y;

	return path_order((*a)->path, (*b)->path);
}

static int add_names(struct sentry *s, const struct plan *plan)
{
	VEC(const struct op *) names = { 0 };

	vec_each(op, &plan->ops) {
		const struct op **slot =
			op->kind == OP_GUARD_NAME ? vec_push(&names, s->arena) : NULL;

		if (slot)
			*slot = op;
		else if (op->kind == OP_GUARD_NAME)
			return -1;
	}
	if (names.n)
		qsort(names.at, names.n, sizeof(names.at[0]), in_order);
	vec_each(at, &names)
		if (add_name(s, *at) < 0)
			return -1;
	return 0;
}

static const char *guarded_name(void *data, const char *name)
{
	const struct sentry *s = data;

	vec_each(p, &s->places)
		if (p->guarded && strcmp(p->name, name) == 0)
			return p->name;
	return NULL;
}

static bool may_be_ours(void *data, pid_t tid)
{
	const struct sentry *s = data;

	/* Whoever is outside of our pid namespace has no number here; the command never is. */
	return tid && inflight_was_by(&s->inflight, tid);
}

int sentry_begin(struct sentry *s, struct arena *a, struct loop *loop, const struct plan *plan,
		 struct cordon_error *err)
{
	s->loop = loop;
	s->arena = a;
	s->witness.knows = guarded_name;
	s->witness.ours = may_be_ours;
	s->witness.data = s;
	s->timer = (struct loop_timer){ .fired = look_again, .data = s };
	s->settler = (struct loop_timer){ .fired = settle, .data = s };
	return add_names(s, plan) < 0 ? err_nomem(err, "sentry") : 0;
}

/* Why it may be there still: it could not be taken, or not looked at, or what leads to it not. */
static int why_there(const struct sentry *s, const struct sentry_place *p)
{
	if (!p->guarded)
		return p->stuck ? p->why : 0;
	while (!p->why && p->unseen)
		p = &s->places.at[p->above];
	return p->why;
}

/* What is still there comes first: not everything may be named. */
static void tell(struct sentry *s)
{
	char kept[PATH_MAX];

	vec_each(p, &s->places) {
		int why = why_there(s, p);

		if (p->told || why)
			s->told(s->data, str_of(p->path), NULL, why);
	}
	vec_each(one, &s->taken)
		if (quarantine_finish(&s->quarantine, &one->ticket, kept) == 0)
			s->told(s->data, str_of(one->path), kept, 0);
	while (s->n_dirs)
		fd_close(&s->dirs[--s->n_dirs]);
}

void sentry_end(struct sentry *s)
{
	if (!s->loop)
		return;
	loop_clear_timer(s->loop, &s->timer);
	loop_clear_timer(s->loop, &s->settler);
	if (s->began) {
		look(s, look_at);
		tell(s);
	}
	inflight_end(&s->inflight);
	witness_end(&s->witness);
	quarantine_release(&s->quarantine);
	s->loop = NULL;
}
