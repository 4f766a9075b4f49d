/* SPDX-License-Identifier: Apache-2.0 */
/* The times of an object against those of calls, and what the kernel says of who made it. */
#include "run/whose.h"

#include <fcntl.h>
#include <sys/vfs.h>

/* What times of files may differ by: those of a server, by any time, and those kept in two
 * seconds. */
#define OTHER_CLOCK (INT64_MAX / 4)
#define WHOLE_SECONDS ((int64_t)2000000000)
/* What a clock that is not moved shows may stay the same for so long. */
#define TICK ((int64_t)10000000)

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

struct sentry_id whose_id(const struct statx *st)
{
	return (struct sentry_id){ .ino = st->stx_ino,
				   .major = st->stx_dev_major,
				   .minor = st->stx_dev_minor,
				   .born = st->stx_mask & STATX_BTIME ? time_of(&st->stx_btime)
								      : 0 };
}

bool whose_same(const struct sentry_id *a, const struct sentry_id *b)
{
	return a->ino == b->ino && a->major == b->major && a->minor == b->minor &&
	       a->born == b->born;
}

/* Elsewhere, as on tmpfs, what is written through a mapping changes no time. */
static bool tells_writes(int dir)
{
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return false;
	return fs.f_type == 0xef53 /* ext4 */ || fs.f_type == 0x58465342 /* xfs */ ||
	       (uint32_t)fs.f_type == 0x9123683e /* btrfs */;
}

static bool is_born(const struct statx *st)
{
	return st->stx_mask & STATX_BTIME;
}

/* Can a call have opened the file for writing, or given it another name to be opened by? */
static bool got_hold(const struct sentry *s, int64_t after, int64_t from, int64_t to, int64_t slack)
{
	static const enum inflight_kind kinds[] = { INFLIGHT_FILE, INFLIGHT_OPEN, INFLIGHT_MOVE };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (inflight_during(&s->inflight, kinds[i], after, from, to, slack))
			return true;
	return false;
}

/* Nobody can set back when an object was made, nor when it was changed last: moving or
 * linking it changes it, after it was made. A file system that does not tell the first leaves
 * the second. */
static bool made_inside(const struct sentry *s, const struct sentry_place *p, int dir,
			const struct statx *st)
{
	const struct inflight *f = &s->inflight;
	int64_t changed = time_of(&st->stx_ctime), fine = p->fine_at, slack = slack_of(dir, st);
	int64_t born = is_born(st) ? time_of(&st->stx_btime) : fine;
	int64_t to = is_born(st) ? born : changed;
	int64_t written = tells_writes(dir) ? changed : INT64_MAX / 2;

	if (inflight_during(f, INFLIGHT_MOVE, fine, born > fine ? born : fine, changed, slack))
		return true;
	if (S_ISDIR(st->stx_mode))
		return inflight_during(f, INFLIGHT_DIR, fine, born, to, slack);
	/* Whoever has opened it changes it in no call that is seen. */
	return inflight_during(f, INFLIGHT_NODE, fine, born, to, slack) ||
	       (S_ISREG(st->stx_mode) && got_hold(s, fine, born, written, slack));
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

/* --- what is left --------------------------------------------------------------- */

/* By what others made and opened alone. Another name is not seen, nor who opened it by that, and
 * of a directory not what is in it. */
static bool is_of_others(struct sentry *s, const struct sentry_place *p, struct sentry_place *dir,
			 const struct statx *st, bool changed)
{
	int64_t from = is_born(st) ? time_of(&st->stx_btime) : p->fine_at;
	struct sentry_id id = whose_id(st), now;
	struct statx again;

	if (!S_ISREG(st->stx_mode) || st->stx_nlink != 1 || (changed && p->elsewhere) ||
	    inflight_during(&s->inflight, INFLIGHT_MOVE, p->fine_at, from, time_of(&st->stx_ctime),
			    slack_of(dir->fd, st)) ||
	    !witness_saw_others(&s->witness, dir->fd, p->name, changed) ||
	    sentry_stat(dir, p->name, &again) < 0)
		return false;
	/* It was asked of what had that name then. */
	now = whose_id(&again);
	return whose_same(&id, &now) && time_of(&again.stx_ctime) == time_of(&st->stx_ctime);
}

bool whose_inside(struct sentry *s, const struct sentry_place *p, struct sentry_place *dir,
		  const struct statx *st)
{
	return moved_with(s, p, dir) ||
	       (!is_of_others(s, p, dir, st, false) && made_inside(s, p, dir->fd, st));
}

/* By how much the time of a file may differ from that of a later one, or of a later change, without
 * being told apart. From Linux 6.13 on each change of what was looked at has a time of its own. */
static int64_t blur(const struct sentry *s, int dir, const struct statx *st)
{
	const struct file_clock *c = &s->inflight.clock;
	int64_t slack = slack_of(dir, st);

	return slack == 0 && c->began && c->fd >= 0 ? 0 : slack + TICK;
}

static bool shows_changes(const struct sentry *s, int dir, const struct statx *st)
{
	int64_t b = blur(s, dir, st);

	return tells_writes(dir) && (b == 0 || time_of(&st->stx_ctime) + b < s->looks);
}

void whose_leave(struct sentry *s, struct sentry_place *p, int dir, const struct statx *st)
{
	int64_t born = is_born(st) ? time_of(&st->stx_btime) : 0;

	p->left = whose_id(st);
	p->known = true;
	p->changed = time_of(&st->stx_ctime);
	p->shows = shows_changes(s, dir, st);
	p->elsewhere = born < p->fine_files + blur(s, dir, st);
	p->in_reach = (p->elsewhere && s->opens) ||
		      got_hold(s, p->fine_at, born, INT64_MAX / 2, slack_of(dir, st));
}

bool whose_untouched(struct sentry *s, struct sentry_place *p, struct sentry_place *dir,
			 const struct statx *st)
{
	bool changed = time_of(&st->stx_ctime) != p->changed || !p->shows;

	if (!p->guarded || !S_ISREG(st->stx_mode))
		return true;
	p->in_reach |= got_hold(s, p->fine_at, p->fine_at, INT64_MAX / 2, slack_of(dir->fd, st));
	if (changed && p->in_reach && !is_of_others(s, p, dir, st, true))
		return false;
	p->changed = time_of(&st->stx_ctime);
	p->shows = shows_changes(s, dir->fd, st);
	return true;
}
