/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of the call before, for who makes one file after the other there: it is held, so
 * that it need not be walked to, opened and looked at for each of them.
 *
 * It is used again only if nothing can have changed in between. Whatever moves or removes names,
 * makes links or changes who may search a directory is a call of the command's that is carried
 * out here, and ends it (place_drop); the caller's working directory is compared each time, by
 * what it is; and so is the path that the held directory has now, which is what is judged. What
 * somebody on the host does to the rights of a directory on the way is seen after KEPT_NS at
 * the latest.
 */
#include "run/broker_in.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"

#define KEPT_NS 10000000

void place_drop(struct broker *b)
{
	fd_close(&b->place.base);
	fd_close(&b->place.dir);
}

/* Only these leave every name and directory that there is as it was. */
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

bool place_recall(struct call *c, int dirfd, bool absolute, struct str parent, struct object *ret)
{
	const struct broker_place *p = &c->broker->place;
	struct statx now;
	ssize_t n;

	if (p->dir < 0 || !c->keeps_place || p->absolute != absolute ||
	    (!absolute && dirfd != AT_FDCWD) || p->text_n != parent.n ||
	    memcmp(p->text, parent.p, parent.n) != 0)
		return false;
	if (!absolute && (call_look_at_cwd(c, &now) < 0 || !is_same(&now, &p->base_is)))
		return false;
	n = target_name_of(p->dir, ret->text);
	if (n < 0 || (size_t)n != p->path_n || memcmp(ret->text, p->path, p->path_n) != 0)
		return false;
	/* It stays the place's: object_close leaves a borrowed one open, and nobody drops the
	 * place before the next call begins. */
	ret->place.dir = p->dir;
	ret->borrowed = true;
	ret->outside = p->outside;
	return true;
}

/* Takes the object's directory, and the caller's working directory, over. */
void place_remember(struct call *c, int dirfd, bool absolute, struct str parent, struct object *o,
		    size_t path_n)
{
	struct broker_place *p = &c->broker->place;
	int base = parent.n ? c->cwd : o->place.dir;

	if (!c->keeps_place || o->borrowed || (!absolute && (dirfd != AT_FDCWD || base < 0)) ||
	    path_n >= sizeof(p->path) || parent.n >= sizeof(p->text))
		return;
	place_drop(c->broker);
	if (!absolute && statx(base, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &p->base_is) < 0)
		return;
	/* As long as it is held, no other file gets its number. */
	p->base = !absolute && parent.n ? steal_fd(&c->cwd) : -1;
	p->dir = o->place.dir;
	o->borrowed = true;
	p->absolute = absolute;
	memcpy(p->text, parent.p, parent.n);
	p->text_n = parent.n;
	memcpy(p->path, o->text, path_n);
	p->path_n = path_n;
	p->outside = o->outside;
	p->since = c->broker->pace.at;
}
