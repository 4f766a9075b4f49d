/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the places of guarded names. */
#include "run/sentry.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

#define NS ((int64_t)1000000000)
/* Times of files come from a clock that ticks slowly. */
#define SLACK (NS / 50)
/* How long a call that goes on may take to make its name, on a busy machine. */
#define PATIENCE (2 * NS)
#define LOOK_MS 20
#define LAST_LOOK_MS 2000

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* The directory itself, through no link: the command may have put one in its place. */
static int open_dir(const struct sentry_name *n)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };

	return (int)syscall(SYS_openat2, AT_FDCWD, n->dir, &how, sizeof(how));
}

static int64_t time_of(const struct statx_timestamp *t)
{
	return t->tv_sec * NS + t->tv_nsec;
}

static bool called(const struct sentry *s, int64_t when, enum sentry_call call)
{
	size_t n = s->n_calls < SENTRY_CALLS ? s->n_calls : SENTRY_CALLS;

	for (size_t i = 0; i < n; i++)
		if (s->calls[i].call == call && when >= s->calls[i].time - SLACK &&
		    when <= s->calls[i].time + PATIENCE)
			return true;
	return false;
}

/* Moving gives a name without making an object; that shows as a change only. */
static bool made_inside(const struct sentry *s, const struct statx *st)
{
	bool dir = S_ISDIR(st->stx_mode);
	int64_t changed = time_of(&st->stx_ctime);
	int64_t born = st->stx_mask & STATX_BTIME ? time_of(&st->stx_btime) : changed;

	if (born < s->started - SLACK)
		return false;
	return called(s, born, dir ? SENTRY_DIR : SENTRY_FILE) || called(s, changed, SENTRY_MOVE);
}

static void look_at(struct sentry *s, struct sentry_name *n, bool quiet)
{
	autoclose int dir = open_dir(n);
	char kept[PATH_MAX];
	struct statx st;
	bool told = n->told;
	int r = -EPERM;

	if (dir < 0)
		return;
	if (statx(dir, n->name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st) < 0) {
		n->there = false;
		return;
	}
	if (n->there)
		return;
	if (made_inside(s, &st))
		r = quarantine_take(&s->quarantine, dir, n->name, n->op->path, quiet, kept);
	/* It is gone again, or will be copied in the last look. */
	if (r == -ENOENT || (r == -EXDEV && !quiet))
		return;
	/* What could not be moved is tried again, and told once. */
	n->told = r < 0;
	if (r == 0 || !told)
		s->found(s->data, n->op, r < 0 ? NULL : kept);
}

/* A call that went on may take its time: the looks become rare, but do not end at once. */
static void look_again(void *data)
{
	struct sentry *s = data;

	vec_each(n, &s->names)
		look_at(s, n, false);
	s->pause *= 2;
	if (s->pause <= LAST_LOOK_MS)
		loop_set_timer(s->loop, &s->timer, s->pause);
}

static void first_look(struct sentry *s)
{
	vec_each(n, &s->names) {
		autoclose int dir = open_dir(n);
		struct stat st;

		n->there = dir >= 0 && fstatat(dir, n->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	}
}

void sentry_saw(struct sentry *s, enum sentry_call call)
{
	size_t i = s->n_calls++ & (SENTRY_CALLS - 1);

	if (s->n_calls == 1)
		first_look(s);
	s->calls[i].time = now();
	s->calls[i].call = call;
	if (s->pause == LOOK_MS && s->timer.set)
		return;
	s->pause = LOOK_MS;
	loop_set_timer(s->loop, &s->timer, LOOK_MS);
}

static int add_name(struct sentry *s, struct arena *a, const struct op *op)
{
	struct sentry_name n = { .op = op,
				 .dir = arena_dup(a, path_parent(op->path)),
				 .name = arena_dup(a, path_last(op->path)) };
	struct sentry_name *slot = n.dir && n.name ? vec_push(&s->names, a) : NULL;

	if (!slot)
		return -1;
	*slot = n;
	return 0;
}

int sentry_begin(struct sentry *s, struct arena *a, struct loop *loop, const struct plan *plan,
		 struct cordon_error *err)
{
	s->started = now();
	s->loop = loop;
	s->timer = (struct loop_timer){ .fired = look_again, .data = s };
	vec_each(op, &plan->ops)
		if (op->kind == OP_GUARD_NAME && add_name(s, a, op) < 0)
			return err_nomem(err, "sentry");
	return 0;
}

void sentry_end(struct sentry *s)
{
	if (!s->loop)
		return;
	loop_clear_timer(s->loop, &s->timer);
	vec_each(n, &s->names)
		look_at(s, n, true);
	quarantine_release(&s->quarantine);
	s->loop = NULL;
}
