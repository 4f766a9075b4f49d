/* SPDX-License-Identifier: Apache-2.0 */
/* Watching the places of guarded names. */
#include "run/sentry.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
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

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

void sentry_saw(struct sentry *s, enum sentry_call call)
{
	size_t i = s->n_calls++ & (SENTRY_CALLS - 1);

	s->calls[i].time = now();
	s->calls[i].call = call;
}

/* The directory itself, through no link: the command may have put one in its place. */
static int open_dir(const struct sentry_name *n)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };
	char text[PATH_BYTES_MAX + 1];

	memcpy(text, n->dir.p, n->dir.n);
	text[n->dir.n] = '\0';
	return (int)syscall(SYS_openat2, AT_FDCWD, text, &how, sizeof(how));
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
	char name[NAME_MAX + 1], kept[PATH_MAX];
	struct statx st;
	int r = -EPERM;

	if (dir < 0 || n->name.n > NAME_MAX)
		return;
	memcpy(name, n->name.p, n->name.n);
	name[n->name.n] = '\0';
	if (statx(dir, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st) < 0) {
		n->there = false;
		return;
	}
	if (n->there || n->done)
		return;
	if (made_inside(s, &st))
		r = quarantine_take(&s->quarantine, dir, name, quiet, kept);
	if (r == -EXDEV && !quiet)
		return;
	n->done = r < 0;
	s->found(s->data, n->op, r < 0 ? NULL : kept);
}

static void watch_dir(struct sentry *s, struct sentry_name *n)
{
	autoclose int dir = open_dir(n);
	char path[64];

	if (dir < 0 || s->watch.fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	n->watch = inotify_add_watch(s->watch.fd, path,
				     IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD);
}

static void handle(struct sentry *s, const struct inotify_event *e)
{
	bool lost = e->mask & IN_Q_OVERFLOW;

	vec_each(n, &s->names) {
		bool look = lost ||
			    (n->watch == e->wd && e->len && str_eq(n->name, str_of(e->name)));

		/* A directory appeared, perhaps one in which a name is guarded. */
		if (n->watch < 0 && (lost || e->mask & IN_ISDIR)) {
			watch_dir(s, n);
			look |= n->watch >= 0;
		}
		if (look)
			look_at(s, n, false);
	}
}

static void events_ready(void *data, uint32_t events)
{
	struct sentry *s = data;
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got = read(s->watch.fd, buffer, sizeof(buffer));

	(void)events;
	for (ssize_t i = 0; i < got;) {
		const struct inotify_event *e = (const void *)(buffer + i);

		handle(s, e);
		i += (ssize_t)(sizeof(*e) + e->len);
	}
}

static int add_name(struct sentry *s, struct arena *a, const struct op *op)
{
	struct sentry_name *n = vec_push(&s->names, a);
	autoclose int dir = -1;
	char name[NAME_MAX + 1];
	struct stat st;

	if (!n)
		return -1;
	*n = (struct sentry_name){
		.op = op, .dir = path_parent(op->path), .name = path_last(op->path), .watch = -1
	};
	dir = n->name.n > NAME_MAX ? -1 : open_dir(n);
	memcpy(name, n->name.p, dir < 0 ? 0 : n->name.n);
	name[dir < 0 ? 0 : n->name.n] = '\0';
	n->there = dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	watch_dir(s, n);
	return 0;
}

int sentry_begin(struct sentry *s, struct arena *a, struct loop *loop, const struct plan *plan,
		 struct cordon_error *err)
{
	s->started = now();
	s->loop = loop;
	s->watch = (struct loop_watch){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC),
					.ready = events_ready,
					.data = s };
	/* Without it, as when the user has too many, the last look remains. */
	if (s->watch.fd >= 0 && loop_watch(loop, &s->watch, EPOLLIN, err) < 0)
		return -err->code;
	vec_each(op, &plan->ops)
		if (op->kind == OP_GUARD_NAME && add_name(s, a, op) < 0)
			return err_nomem(err, "sentry");
	return 0;
}

void sentry_end(struct sentry *s)
{
	if (!s->loop)
		return;
	loop_unwatch(s->loop, &s->watch);
	fd_close(&s->watch.fd);
	vec_each(n, &s->names)
		look_at(s, n, true);
	s->loop = NULL;
}
