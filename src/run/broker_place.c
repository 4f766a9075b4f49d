/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of the call before, for who makes one file after the other there: it is held, so
 * that it need not be walked to, opened and looked at for each of them.
 *
 * It is used again only if nothing can have changed in between. Whatever moves or removes names,
 * makes links or changes who may search a directory is a call of the command's that is carried
 * out here, and ends it (place_drop); the directory that the caller's path starts in is compared
 * each time, by what it is; and so is the path that the held one has now, which is what is
 * judged. What somebody on the host does to the rights of a directory on the way is seen after
 * KEPT_NS at the latest.
 */
#include "run/broker_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#define KEPT_NS 10000000

/* Others name links below /proc from where we are. */
static void leave(struct broker_place *p)
{
	if (p->entered && fchdir(BROKER_FD_PROC) < 0)
		_exit(1);
	p->entered = false;
}

void place_drop(struct broker *b)
{
	leave(&b->place);
	fd_close(&b->place.base);
	fd_close(&b->place.dir);
}

/* Only these leave every name and directory that there is as it was. None may name what it changes
 * by a link alone (truncate, chmod and their like do): that begins at our working directory. */
static bool is_harmless(const struct call *c)
{
	broker_fn *how = c->row ? c->row->how : NULL;

	/* No file, nor a link, was on the way. */
	if (how == broker_unlink)
		return !((uint32_t)call_argument(c, c->row->x) & AT_REMOVEDIR);
	return how == broker_open || how == broker_creat || how == broker_mkdir ||
	       how == broker_fchmod || how == broker_fchown || how == broker_utimensat;
}

void place_begin(struct call *c)
{
	struct broker *b = c->broker;

	c->keeps_place = is_harmless(c);
	if (b->place.dir >= 0 && (!c->keeps_place || b->pace.at - b->place.since > KEPT_NS))
		place_drop(b);
}

static bool is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_mask & b->stx_mask & STATX_MNT_ID && a->stx_mnt_id == b->stx_mnt_id &&
	       a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

/* The path that it has now. While it is our working directory the kernel says so at a quarter of
 * what a link below /proc takes. Its length, or -errno. */
static ssize_t path_now(struct broker_place *p, char text[PATH_MAX])
{
	long n;

	p->entered = p->entered || fchdir(p->dir) == 0;
	if (!p->entered)
		return target_name_of(p->dir, text);
	n = syscall(SYS_getcwd, text, PATH_MAX);
	/* It counts the end. */
	return n < 0 ? -errno : n - 1;
}

/* The directory that the text starts in, as the caller has it now. */
static bool starts_there(struct call *c, const struct broker_place *p)
{
	struct statx now;
	int fd, r;

	if (p->number == AT_FDCWD)
		return call_look_at_cwd(c, &now) == 0 && is_same(&now, &p->base_is);
	fd = call_take_fd(c, p->number);
	r = fd < 0 ? -1 : statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &now);
	fd_close(&fd);
	return r == 0 && is_same(&now, &p->base_is);
}

bool place_recall(struct call *c, int dirfd, bool absolute, struct str parent, struct object *ret)
{
	struct broker_place *p = &c->broker->place;
	ssize_t n;

	if (p->dir < 0 || !c->keeps_place || p->absolute != absolute ||
	    (!absolute && p->number != dirfd) || p->text_n != parent.n ||
	    memcmp(p->text, parent.p, parent.n) != 0 || (!absolute && !starts_there(c, p)))
		return false;
	n = path_now(p, ret->text);
	if (n < 0 || (size_t)n != p->path_n || memcmp(ret->text, p->path, p->path_n) != 0)
		return false;
	/* It stays the place's: object_close leaves a borrowed one open, and nobody drops the
	 * place before the next call begins. */
	ret->place.dir = p->dir;
	ret->borrowed = true;
	ret->outside = p->outside;
	return true;
}

/* A descriptor of the caller's own would keep its locks. */
static int open_anew(int dir)
{
	return openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Takes the object's directory, and the caller's working directory, over. */
void place_remember(struct call *c, const struct place_found *f, struct object *o)
{
	struct broker_place *p = &c->broker->place;
	bool numbered = !f->absolute && f->dirfd != AT_FDCWD;
	int base = f->parent.n ? f->base : o->place.dir, held = -1;

	if (!c->keeps_place || o->borrowed || (!f->absolute && base < 0) ||
	    f->path_n >= sizeof(p->path) || f->parent.n >= sizeof(p->text))
		return;
	place_drop(c->broker);
	if (!f->absolute &&
	    statx(base, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &p->base_is) < 0)
		return;
	if (numbered && (held = open_anew(base)) < 0)
		return;
	if (numbered && !f->parent.n) {
		fd_close(&o->place.dir);
		o->place.dir = steal_fd(&held);
	}
	/* As long as it is held, no other file gets its number. */
	p->base = numbered ? held : !f->absolute && f->parent.n ? steal_fd(&c->cwd) : -1;
	p->dir = o->place.dir;
	o->borrowed = true;
	p->absolute = f->absolute;
	p->number = f->dirfd;
	memcpy(p->text, f->parent.p, f->parent.n);
	p->text_n = f->parent.n;
	memcpy(p->path, o->text, f->path_n);
	p->path_n = f->path_n;
	p->outside = o->outside;
	p->since = c->broker->pace.at;
}
