/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the places of guarded names, from the root down. */
#include "run/sentry.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

#define LOOK_MS 20
#define LAST_LOOK_MS 2000
/* How soon it is asked whether a call is over: until then whatever appears may be its doing. */
#define SETTLE_MS 1
/* What times of files may differ by: those of a server, and those kept in two seconds. */
#define OTHER_CLOCK ((int64_t)20000000)
#define WHOLE_SECONDS ((int64_t)2000000000)
#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* --- one object ----------------------------------------------------------------- */

static int64_t time_of(const struct statx_timestamp *t)
{
	return t->tv_sec * 1000000000 + t->tv_nsec;
}

/* File systems of this machine keep the time of its clock, to the nanosecond unless they say
 * otherwise. */
static int64_t slack_of(int dir, const struct statx *st)
{
	static const uint32_t exact[] = { 0x01021994 /* tmpfs */, 0xef53 /* ext4 */,
					  0x58465342 /* xfs */,	  0x9123683e /* btrfs */,
					  0x794c7630 /* overlay */ };
	struct statfs fs;

	if (st->stx_ctime.tv_nsec == 0 || fstatfs(dir, &fs) < 0)
		return WHOLE_SECONDS;
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if ((uint32_t)fs.f_type == exact[i])
			return 0;
	return OTHER_CLOCK;
}

static struct sentry_id id_of(const struct statx *st)
{
	return (struct sentry_id){ .ino = st->stx_ino,
				   .major = st->stx_dev_major,
				   .minor = st->stx_dev_minor,
				   .born = st->stx_mask & STATX_BTIME ? time_of(&st->stx_btime)
								      : 0 };
}

static bool same(const struct sentry_id *a, const struct sentry_id *b)
{
	return a->ino == b->ino && a->major == b->major && a->minor == b->minor &&
	       a->born == b->born;
}

/* Nobody can set back when an object was made, nor when it was changed last: moving or
 * linking it changes it, after it was made. A file system that does not tell the first leaves
 * the second. */
static bool made_inside(const struct sentry *s, const struct sentry_place *p, int dir,
			const struct statx *st)
{
	const struct inflight *f = &s->inflight;
	int64_t changed = time_of(&st->stx_ctime), fine = p->fine_at, slack = slack_of(dir, st);
	bool dated = st->stx_mask & STATX_BTIME;
	int64_t born = dated ? time_of(&st->stx_btime) : fine;
	int64_t to = dated ? born : changed;

	if (inflight_during(f, INFLIGHT_MOVE, fine, born > fine ? born : fine, changed, slack))
		return true;
	if (S_ISDIR(st->stx_mode))
		return inflight_during(f, INFLIGHT_DIR, fine, born, to, slack);
	return inflight_during(f, INFLIGHT_NODE, fine, born, to, slack) ||
	       (S_ISREG(st->stx_mode) && inflight_during(f, INFLIGHT_FILE, fine, born, to, slack));
}

/* --- one place ------------------------------------------------------------------ */

/* Once in a look: the mode is put back at its end. */
static bool open_up(struct sentry_place *dir)
{
	if (dir->opened_up)
		return false;
	dir->opened_up = fd_open_up(dir->fd, &dir->former) == 0;
	return dir->opened_up;
}

static int stat_in(struct sentry_place *dir, const char *name, struct statx *ret)
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

/* What is in a directory comes with it when that is moved, without a change of its own. One that
 * was there already when nothing was wrong below has brought nothing. */
static bool moved_with(const struct sentry *s, const struct sentry_place *p,
		       const struct sentry_place *dir)
{
	struct statx st;

	for (; dir != s->places.at; dir = &s->places.at[dir->above]) {
		if (dir->here_since <= p->fine_at)
			continue;
		if (statx(dir->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0)
			return true;
		if (inflight_during(&s->inflight, INFLIGHT_MOVE, p->fine_at, p->fine_at,
				    time_of(&st.stx_ctime), slack_of(dir->fd, &st)))
			return true;
	}
	return false;
}

/* Something that should not be there. What could not be taken is tried again, and is one
 * violation. */
static void seize(struct sentry *s, struct sentry_place *p, struct sentry_place *dir,
		  const struct statx *st)
{
	struct sentry_id id = id_of(st);
	bool again = p->stuck && same(&id, &p->prey);
	int r;

	if (!again && !made_inside(s, p, dir->fd, st) && !moved_with(s, p, dir)) {
		p->known = p->told = s->foreign = true;
		p->left = id;
		return;
	}
	r = take(s, p, dir);
	if (r == -ENOENT)
		return;
	p->stuck = r < 0;
	p->prey = id;
	p->why = -r;
	if (!again)
		s->caught(s->data, str_of(p->path), p->rule);
}

static void fine(const struct sentry *s, struct sentry_place *p)
{
	p->stuck = false;
	p->why = 0;
	p->fine_at = s->looks;
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
	id = id_of(&st);
	if (!same(&id, &p->here) || p->here_since == INT64_MAX)
		p->here_since = s->looks;
	p->here = id;
}

static void enter(const struct sentry *s, struct sentry_place *p, struct sentry_place *dir,
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
}

static void look_at(struct sentry *s, struct sentry_place *p, struct sentry_place *dir)
{
	struct sentry_id id;
	struct statx st;
	int r = stat_in(dir, p->name, &st);

	if (r == -ENOENT || r == -ENOTDIR) {
		fine(s, p);
	} else if (r < 0) {
		/* What is hidden may be anything. */
		p->why = p->blind ? 0 : -r;
	} else {
		id = id_of(&st);
		if (!(p->known && same(&id, &p->left)) && (p->guarded || !S_ISDIR(st.stx_mode))) {
			seize(s, p, dir, &st);
			return;
		}
		fine(s, p);
		enter(s, p, dir, &st);
	}
}

static void first_look_at(struct sentry *s, struct sentry_place *p, struct sentry_place *dir)
{
	struct statx st;
	int r = stat_in(dir, p->name, &st);

	fine(s, p);
	p->known = r == 0;
	p->blind = r < 0 && r != -ENOENT && r != -ENOTDIR;
	if (!p->known)
		return;
	p->left = id_of(&st);
	enter(s, p, dir, &st);
}

/* --- all of them ---------------------------------------------------------------- */

static void look(struct sentry *s,
		 void (*at)(struct sentry *s, struct sentry_place *p, struct sentry_place *dir))
{
	struct sentry_place *all = s->places.at;

	if (!s->places.n)
		return;
	s->looks = inflight_now();
	all[0].fd = open("/", DIR_FLAGS);
	all[0].why = all[0].fd < 0 ? errno : 0;
	all[0].unseen = all[0].fd < 0;
	for (size_t i = 1; i < s->places.n; i++) {
		struct sentry_place *dir = &all[all[i].above];

		if (dir->fd >= 0)
			at(s, &all[i], dir);
		else if (!dir->unseen)
			fine(s, &all[i]);
		all[i].unseen = dir->fd < 0 ? dir->unseen : all[i].why != 0;
		/* What is away may come back with more in it. */
		if (all[i].fd < 0)
			all[i].here_since = INT64_MAX;
	}
	for (size_t i = s->places.n; i-- > 0;) {
		if (all[i].opened_up)
			fd_set_mode(all[i].fd, all[i].former);
		all[i].opened_up = false;
		fd_close(&all[i].fd);
	}
}

/* A call that went on may take its time: the looks become rare, but do not end at once. */
static void look_again(void *data)
{
	struct sentry *s = data;

	inflight_settle(&s->inflight);
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

	inflight_settle(&s->inflight);
	s->patience *= 2;
	if (s->inflight.n_open && s->patience < LOOK_MS)
		loop_set_timer(s->loop, &s->settler, s->patience);
}

void sentry_saw(struct sentry *s, pid_t tid, int nr, enum inflight_kind kind)
{
	if (!s->began)
		look(s, first_look_at);
	s->began = true;
	inflight_add(&s->inflight, tid, nr, kind);
	s->patience = SETTLE_MS;
	if (!s->settler.set)
		loop_set_timer(s->loop, &s->settler, s->patience);
	if (s->pause == LOOK_MS && s->timer.set)
		return;
	s->pause = LOOK_MS;
	loop_set_timer(s->loop, &s->timer, LOOK_MS);
}

/* --- begin and end -------------------------------------------------------------- */

/* The number of the place, made where it is missing; SIZE_MAX without memory. */
static size_t place_at(struct sentry *s, struct arena *a, struct str path, size_t above)
{
	struct sentry_place *p;

	for (size_t i = s->places.n; i-- > 0;)
		if (str_eq(str_of(s->places.at[i].path), path))
			return i;
	p = vec_push(&s->places, a);
	if (!p)
		return SIZE_MAX;
	*p = (struct sentry_place){ .path = arena_dup(a, path), .above = above, .fd = -1 };
	if (!p->path)
		return SIZE_MAX;
	p->name = strrchr(p->path, '/') + 1;
	return s->places.n - 1;
}

static int add_name(struct sentry *s, struct arena *a, const struct op *op)
{
	struct str rest = op->path, part;
	size_t at = place_at(s, a, STR("/"), 0);

	while (at != SIZE_MAX && path_next(&rest, &part)) {
		struct str path = str_take(op->path, (size_t)(part.p - op->path.p) + part.n);
		size_t above = at;

		s->places.at[above].leads = true;
		at = place_at(s, a, path, above);
		if (at != SIZE_MAX && !s->places.at[at].rule)
			s->places.at[at].rule = op->rule;
	}
	if (at == SIZE_MAX)
		return -1;
	s->places.at[at].guarded = true;
	s->places.at[at].rule = op->rule;
	return 0;
}

int sentry_begin(struct sentry *s, struct arena *a, struct loop *loop, const struct plan *plan,
		 struct cordon_error *err)
{
	s->loop = loop;
	s->arena = a;
	s->timer = (struct loop_timer){ .fired = look_again, .data = s };
	s->settler = (struct loop_timer){ .fired = settle, .data = s };
	vec_each(op, &plan->ops)
		if (op->kind == OP_GUARD_NAME && add_name(s, a, op) < 0)
			return err_nomem(err, "sentry");
	return 0;
}

/* What is still there comes first: not everything may be named. */
static void tell(struct sentry *s)
{
	char kept[PATH_MAX];

	vec_each(p, &s->places)
		if (p->told || p->why)
			s->told(s->data, str_of(p->path), NULL, p->why);
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
	quarantine_release(&s->quarantine);
	s->loop = NULL;
}
