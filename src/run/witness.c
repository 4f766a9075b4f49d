/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the records of fanotify. */
#include "run/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_compat.h"

#define MAKES (FAN_CREATE | FAN_MOVED_TO)
#define MATTERS (MAKES | FAN_OPEN | FAN_EVENT_ON_CHILD | FAN_ONDIR)
#define READ_MAX 16384
/* More than the kernel keeps. */
#define READS_MAX 256

bool witness_begin(struct witness *w)
{
	if (!w->began)
		w->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME_TARGET |
					      FAN_REPORT_TID | FAN_CLOEXEC | FAN_NONBLOCK,
				      O_RDONLY | O_CLOEXEC);
	w->began = true;
	return w->fd >= 0;
}

static bool is_there(const struct witness *w)
{
	return w->began && w->fd >= 0;
}

void witness_watch(struct witness *w, int dir)
{
	if (is_there(w))
		fanotify_mark(w->fd, FAN_MARK_ADD | FAN_MARK_ONLYDIR, MATTERS, dir, ".");
}

/* Closing it waits for the kernel, longer than most runs take (8 to 20 ms). A socket that waits
 * in itself together with it is found by nobody but the kernel, which closes both in its own
 * time. */
static void close_later(int *fd)
{
	int ends[2];

	if (*fd >= 0 && fd_pair(ends) == 0) {
		if (fd_send(ends[0], "", 1, ends[1]) > 0)
			fd_send(ends[0], "", 1, *fd);
		fd_close(&ends[0]);
		fd_close(fd);
		fd_close(&ends[1]);
	}
	fd_close(fd);
}

/* --- what was seen ---------------------------------------------------------------- */

static bool take_handle(struct witness_object *ret, const struct file_handle *h)
{
	if (h->handle_bytes > sizeof(ret->bytes))
		return false;
	ret->type = h->handle_type;
	ret->n = h->handle_bytes;
	memcpy(ret->bytes, h->f_handle, h->handle_bytes);
	return true;
}

static bool is_same(const struct witness_object *a, const struct witness_object *b)
{
	return a->type == b->type && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0 &&
	       memcmp(a->fsid, b->fsid, sizeof(a->fsid)) == 0;
}

/* One record of an event: the directory with the name, or the object. */
static void read_record(struct witness *w, const struct fanotify_event_info_fid *fid,
			struct witness_seen *ret, bool *ret_whole)
{
	const struct file_handle *h = (const void *)fid->handle;

	if (fid->hdr.info_type == FAN_EVENT_INFO_TYPE_DFID_NAME) {
		ret->name = w->knows(w->data, (const char *)h->f_handle + h->handle_bytes);
	} else if (fid->hdr.info_type == FAN_EVENT_INFO_TYPE_FID) {
		memcpy(ret->object.fsid, &fid->fsid, sizeof(ret->object.fsid));
		*ret_whole = take_handle(&ret->object, h);
	}
}

static void forget(struct witness *w)
{
	w->n = 0;
}

/* With the records that belong to it, up to `end`. */
static void take_event(struct witness *w, const struct fanotify_event_metadata *event,
		       const char *at, const char *end)
{
	struct witness_seen seen = { .ours = w->ours(w->data, event->pid),
				     .moved = event->mask & FAN_MOVED_TO };
	bool whole = false;

	if (event->mask & FAN_Q_OVERFLOW)
		forget(w);
	while (at < end) {
		const struct fanotify_event_info_fid *fid = (const void *)at;

		read_record(w, fid, &seen, &whole);
		at += fid->hdr.len;
	}
	if (!seen.name || !(seen.ours || event->mask & MAKES))
		return;
	if (!whole || w->n == WITNESS_SEEN_MAX)
		forget(w);
	if (whole)
		w->seen[w->n++] = seen;
}

/* Events follow one another at multiples of four bytes, less than they are aligned to. */
static void take_events(struct witness *w, const char *at, const char *end)
{
	struct fanotify_event_metadata event;

	for (; at < end; at += event.event_len) {
		memcpy(&event, at, sizeof(event));
		take_event(w, &event, at + event.metadata_len, at + event.event_len);
	}
}

/* What is left unread could be what matters, and later nobody knows whose it is. */
void witness_listen(struct witness *w)
{
	_Alignas(struct file_handle) char room[READ_MAX];
	ssize_t n = 1;

	for (int i = 0; is_there(w) && n > 0; i++) {
		n = read(w->fd, room, sizeof(room));
		if (n > 0)
			take_events(w, room, room + n);
		if (n > 0 && i == READS_MAX) {
			close_later(&w->fd);
			forget(w);
		}
	}
}

/* --- who it was ------------------------------------------------------------------- */

/* As fanotify names it. */
static bool identify(int dir, const char *name, struct witness_object *ret)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + WITNESS_HANDLE_MAX];
	} u = { .handle.handle_bytes = WITNESS_HANDLE_MAX };
	struct statfs fs;
	int mount;

	if (fstatfs(dir, &fs) < 0 ||
	    (name_to_handle_at(dir, name, &u.handle, &mount, AT_HANDLE_FID) < 0 &&
	     name_to_handle_at(dir, name, &u.handle, &mount, 0) < 0))
		return false;
	memcpy(ret->fsid, &fs.f_fsid, sizeof(ret->fsid));
	return take_handle(ret, &u.handle);
}

bool witness_saw_others(struct witness *w, int dir, const char *name, bool new)
{
	struct witness_object object = { 0 };
	bool saw = false;

	if (!is_there(w) || !identify(dir, name, &object))
		return false;
	witness_listen(w);
	/* That may have been its end: then nothing is remembered. */
	for (size_t i = 0; i < w->n; i++) {
		if (strcmp(w->seen[i].name, name) != 0 || !is_same(&w->seen[i].object, &object))
			continue;
		if (w->seen[i].ours || (new && w->seen[i].moved))
			return false;
		saw = true;
	}
	return saw;
}

/* --- the end ---------------------------------------------------------------------- */

void witness_end(struct witness *w)
{
	if (w->began)
		close_later(&w->fd);
	w->began = false;
	forget(w);
}
