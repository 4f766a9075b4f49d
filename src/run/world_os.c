/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system of this machine, as the policy asks for it. Directories that were
 * found to be real ones are remembered: rules share most of their parents, and a start
 * should cost about one system call a rule.
 */
#include "run/situation.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/vec.h"
#include "run/folds.h"

#define LINKS_MAX 40
#define KNOWN_SLOTS 512 /* a power of two */
#define PROBES 8
#define NAME_BITS 4096
#define NAMES_MAX 4096

/* The names in a directory, as a set that may hold more than there are. */
struct listing {
	struct str dir;
	bool anything; /* could not be read, or there is no telling */
	uint64_t bits[NAME_BITS / 64];
};

struct directory {
	struct str path;
	uint64_t dev;
	bool absent; /* nothing there, or no directory */
	bool asked, folds;
};

struct known {
	struct directory slots[KNOWN_SLOTS]; /* without symlinks in their paths */
	struct filesystems filesystems;
	VEC(struct listing) listings;
	bool inside;
};

static uint64_t hash(uint64_t h, uint8_t c)
{
	return (h ^ c) * 1099511628211u;
}
#define HASH_START 14695981039346656037u

/* The slot that holds the path, or the one where it belongs: two paths in constant use
 * must not drive each other out. */
static struct directory *slot_of(struct known *known, struct str path)
{
	uint64_t h = HASH_START;
	size_t first;

	for (size_t i = 0; i < path.n; i++)
		h = hash(h, (uint8_t)path.p[i]);
	first = h ^ h >> 32;
	for (size_t i = first; i < first + PROBES; i++) {
		struct directory *d = &known->slots[i & (KNOWN_SLOTS - 1)];

		if (!d->path.n || str_eq(d->path, path))
			return d;
	}
	return &known->slots[first & (KNOWN_SLOTS - 1)];
}

static bool is_known(struct known *known, struct str path)
{
	const struct directory *d = slot_of(known, path);

	return str_eq(d->path, path) && !d->absent;
}

/* st: NULL when there is nothing. */
static void remember(struct known *known, struct arena *a, struct str path, const struct stat *st)
{
	bool absent = !st || !S_ISDIR(st->st_mode);
	char *copy = arena_dup(a, path);

	if (copy)
		*slot_of(known, path) = (struct directory){
			.path = { copy, path.n },
			.dev = absent ? 0 : st->st_dev,
			.absent = absent,
		};
}

static enum node_type type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return NODE_FILE;
	case S_IFDIR:
		return NODE_DIR;
	case S_IFLNK:
		return NODE_SYMLINK;
	case S_IFSOCK:
		return NODE_SOCKET;
	}
	return NODE_OTHER;
}

/* The walk: `done` holds what is resolved, `todo` what is left to walk. */
struct walk {
	struct arena *arena;
	struct known *known;
	struct str path; /* as asked for, for messages */
	char done[PATH_BYTES_MAX + 1];
	size_t n;
	struct str todo;
	unsigned links;
	struct node node;
	bool stale; /* node is not that of `done` */
	struct cordon_error *err;
};

static int too_long(struct walk *w)
{
	return err_set(w->err, CORDON_E_PATH, ENAMETOOLONG, "resolve", "%s", w->path.p);
}

static bool append(struct walk *w, struct str part)
{
	if (w->n + 1 + part.n > PATH_BYTES_MAX)
		return false;
	w->done[w->n++] = '/';
	memcpy(w->done + w->n, part.p, part.n);
	w->n += part.n;
	w->done[w->n] = '\0';
	return true;
}

static void drop_last(struct walk *w)
{
	while (w->n && w->done[--w->n] != '/')
		;
	w->done[w->n] = '\0';
}

/* Puts the target of the link in front of what is left to walk. */
static int follow(struct walk *w)
{
	char target[PATH_BYTES_MAX + 1];
	ssize_t n = readlink(w->done, target, sizeof(target));
	char *joined;

	if (n < 0)
		return err_set(w->err, CORDON_E_PATH, errno, "resolve", "%s", w->path.p);
	if (++w->links > LINKS_MAX)
		return err_set(w->err, CORDON_E_PATH, ELOOP, "resolve", "%s", w->path.p);
	if (n == sizeof(target))
		return too_long(w);
	joined = arena_printf(w->arena, "%.*s/%.*s", (int)n, target, STR_ARG(w->todo));
	if (!joined)
		return err_nomem(w->err, "resolve");
	w->todo = str_of(joined);
	if (target[0] == '/')
		w->n = 0;
	else
		drop_last(w);
	w->done[w->n] = '\0';
	return 0;
}

/* From a missing component on, the rest is taken as spelled. */
static int keep_rest(struct walk *w)
{
	struct str part;

	w->node = (struct node){ .type = NODE_ABSENT };
	w->stale = false;
	while (path_next(&w->todo, &part)) {
		if (str_eq(part, STR(".")))
			continue;
		if (str_eq(part, STR("..")))
			drop_last(w);
		else if (!append(w, part))
			return too_long(w);
	}
	return 0;
}

/* One component: returns 1 when the walk is over, 0 to go on. */
static int step(struct walk *w, struct str part)
{
	struct stat st;

	w->stale = true;
	if (str_eq(part, STR(".")))
		return 0;
	if (str_eq(part, STR(".."))) {
		drop_last(w);
		return 0;
	}
	if (!append(w, part))
		return too_long(w);
	if (w->todo.n > 1 && is_known(w->known, (struct str){ w->done, w->n }))
		return 0;
	if (lstat(w->done, &st) < 0) {
		if (errno != ENOENT && errno != ENOTDIR && !(errno == EACCES && w->known->inside))
			return err_set(w->err, CORDON_E_PATH, errno, "resolve", "%s", w->path.p);
		remember(w->known, w->arena, (struct str){ w->done, w->n }, NULL);
		return keep_rest(w) < 0 ? -CORDON_E_PATH : 1;
	}
	w->node = (struct node){ type_of(st.st_mode), st.st_dev, st.st_ino };
	w->stale = false;
	if (w->node.type == NODE_SYMLINK) {
		w->stale = true;
		return follow(w);
	}
	if (w->node.type == NODE_DIR)
		remember(w->known, w->arena, (struct str){ w->done, w->n }, &st);
	return 0;
}

/* The walk ended on "/", ".", ".." or a directory that was known. */
static int look_again(struct walk *w)
{
	struct stat st;

	if (lstat(w->done, &st) < 0)
		return err_set(w->err, CORDON_E_PATH, errno, "resolve", "%s", w->path.p);
	w->node = (struct node){ type_of(st.st_mode), st.st_dev, st.st_ino };
	return 0;
}

static int resolve(const struct world *world, struct arena *a, struct str path,
		   struct str *ret_real, struct node *ret_node, struct cordon_error *err)
{
	struct walk w = {
		.arena = a,
		.known = world->data,
		.path = path,
		.todo = path,
		.stale = true,
		.err = err,
	};
	struct str part;
	int r = 0;

	while (r == 0 && path_next(&w.todo, &part))
		r = step(&w, part);
	if (r < 0)
		return r;
	if (!w.n) {
		w.done[w.n++] = '/';
		w.done[w.n] = '\0';
	}
	if (w.stale) {
		r = look_again(&w);
		if (r < 0)
			return r;
	}
	ret_real->p = arena_dup(a, (struct str){ w.done, w.n });
	ret_real->n = w.n;
	*ret_node = w.node;
	return ret_real->p ? 0 : err_nomem(err, "resolve");
}

/* Some file systems take .SSH for .ssh, so letters count in either case. */
static size_t name_bit(struct str name)
{
	uint64_t h = HASH_START;

	for (size_t i = 0; i < name.n; i++)
		h = hash(h, (uint8_t)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] | 0x20
									   : name.p[i]));
	return (h ^ h >> 32) % NAME_BITS;
}

static bool is_ascii(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if ((uint8_t)name.p[i] >= 0x80)
			return false;
	return true;
}

static void list(struct listing *l)
{
	DIR *dir = opendir(l->dir.p);
	const struct dirent *entry = NULL;
	unsigned n = 0;

	while (dir && n++ < NAMES_MAX && (entry = readdir(dir))) {
		size_t bit = name_bit(str_of(entry->d_name));

		l->bits[bit / 64] |= (uint64_t)1 << bit % 64;
		/* Letters beyond ASCII fold in ways of the file system's own. */
		l->anything |= !is_ascii(str_of(entry->d_name));
	}
	l->anything |= !dir || entry;
	if (dir)
		closedir(dir);
}

/* One reading of a directory instead of a look at each of many names. */
static bool may_hold(const struct world *world, struct arena *a, struct str dir, struct str name)
{
	struct known *known = world->data;
	size_t bit = name_bit(name);
	struct listing *l = NULL;

	vec_each(old, &known->listings)
		if (str_eq(old->dir, dir))
			l = old;
	if (!l) {
		char *copy = arena_dup(a, dir);

		l = copy ? vec_push(&known->listings, a) : NULL;
		if (!l)
			return true;
		l->dir = str_of(copy);
		list(l);
	}
	return l->anything || l->bits[bit / 64] >> bit % 64 & 1;
}

/* The directory at the path; NULL when there is none, or no memory to say so. Rules were
 * resolved before, so most are known. */
static struct directory *directory_at(struct known *known, struct arena *a, struct str path)
{
	struct directory *d = slot_of(known, path);
	char name[PATH_BYTES_MAX + 1];
	struct stat st;

	if (!str_eq(d->path, path)) {
		if (path.n > PATH_BYTES_MAX)
			return NULL;
		memcpy(name, path.p, path.n);
		name[path.n] = '\0';
		remember(known, a, path, lstat(name, &st) < 0 ? NULL : &st);
	}
	return is_known(known, path) ? d : NULL;
}

/* The longest beginning of the path that is a directory. */
static struct str nearest(struct known *known, struct arena *a, struct str path)
{
	struct str rest = path, part;
	size_t end = 1;

	while (path_next(&rest, &part)) {
		size_t next = (size_t)(part.p + part.n - path.p);

		if (!directory_at(known, a, str_take(path, next)))
			break;
		end = next;
	}
	return str_take(path, end);
}

static bool directory_at_folds(struct known *known, struct arena *a, struct str path)
{
	struct directory *d = directory_at(known, a, path);

	if (!d)
		return false;
	if (!d->asked)
		d->folds = directory_folds(&known->filesystems, a, d->path.p, d->dev);
	d->asked = true;
	return d->folds;
}

static bool folds(const struct world *world, struct arena *a, struct str dir, struct str *ret_top)
{
	struct known *known = world->data;

	dir = nearest(known, a, dir);
	if (!directory_at_folds(known, a, dir))
		return false;
	while (dir.n > 1 && directory_at_folds(known, a, path_parent(dir)))
		dir = path_parent(dir);
	*ret_top = dir;
	return true;
}

int world_os_init(struct arena *a, struct world *ret, struct cordon_error *err)
{
	struct known *known = arena_new(a, struct known);

	if (!known)
		return err_nomem(err, "resolve");
	*ret = (struct world){
		.resolve = resolve,
		.may_hold = may_hold,
		.folds = folds,
		.data = known,
	};
	return 0;
}

void world_os_inside(struct world *world)
{
	struct known *known = world->data;

	known->inside = true;
}
