/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system of this machine, as the policy asks for it. Directories that were
 * found to be real ones are remembered: rules share most of their parents, and a start
 * should cost about one system call a rule.
 */
#include "run/situation.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/vec.h"
#include "run/aliases.h"
#include "run/folds.h"
#include "run/mountinfo.h"

#define LINKS_MAX 40
#define KNOWN_SLOTS 512 /* a power of two */
#define PROBES 8
#define NAME_BITS 4096
#define NAMES_MAX 1024
/* Reading a directory costs as much as this many looks at a name in it. */
#define LOOKS_BEFORE_LISTING 12

/* The names in a directory, as a set that may hold more than there are. */
struct listing {
	bool anything; /* could not be read, or there is no telling */
	uint64_t bits[NAME_BITS / 64];
};

struct directory {
	struct str path;
	uint64_t dev;
	bool absent; /* nothing there, or no directory */
	bool asked, folds;
	unsigned looks;		 /* at names in it */
	struct listing *listing; /* NULL: not read yet */
};

struct known {
	struct directory slots[KNOWN_SLOTS]; /* without symlinks in their paths */
	struct filesystems filesystems;
	struct aliases aliases;
	bool read_mounts; /* aliases is filled */
	bool inside;
};

/* The slot that holds the path, or the one where it belongs: two paths in constant use
 * must not drive each other out. */
static struct directory *slot_of(struct known *known, struct str path)
{
	size_t first = str_hash(path, 0);

	for (size_t i = first; i < first + PROBES; i++) {
		struct directory *d = &known->slots[i & (KNOWN_SLOTS - 1)];

		if (!d->path.n || str_eq(d->path, path))
			return d;
	}
	return &known->slots[first & (KNOWN_SLOTS - 1)];
}

/* The directory, where it is known to be one; else NULL. */
static struct directory *known_at(struct known *known, struct str path)
{
	struct directory *d = slot_of(known, path);

	return str_eq(d->path, path) && !d->absent ? d : NULL;
}

/* st: NULL when there is nothing. */
static void remember(struct known *known, struct arena *a, struct str path, const struct stat *st)
{
	bool absent = !st || !S_ISDIR(st->st_mode);
	struct directory *d = slot_of(known, path);
	char *copy = str_eq(d->path, path) ? (char *)d->path.p : arena_dup(a, path);

	if (copy)
		*d = (struct directory){
			.path = { copy, path.n },
			.dev = absent ? 0 : st->st_dev,
			.absent = absent,
		};
}

enum node_type node_type_of(mode_t mode)
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

/* Some file systems take .SSH for .ssh, so letters count in either case. */
static size_t name_bit(struct str name)
{
	char lower[NAME_MAX];
	size_t n = name.n < NAME_MAX ? name.n : NAME_MAX;

	for (size_t i = 0; i < n; i++)
		lower[i] = name.p[i] | 0x20;
	return str_hash((struct str){ lower, n }, 0) % NAME_BITS;
}

static bool is_ascii(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if ((uint8_t)name.p[i] >= 0x80)
			return false;
	return true;
}

static void list(struct listing *l, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	unsigned n = 0;

	l->anything = !dir || !directory_lists_all(dirfd(dir));
	while (!l->anything && (entry = fd_next_entry(dir))) {
		size_t bit = name_bit(str_of(entry->d_name));

		l->bits[bit / 64] |= (uint64_t)1 << bit % 64;
		/* Letters beyond ASCII fold in ways of the file system's own. */
		l->anything = ++n > NAMES_MAX || !is_ascii(str_of(entry->d_name));
	}
	/* What cannot be read to its end is not known to be empty. */
	l->anything |= errno != 0;
	if (dir)
		closedir(dir);
}

/* One reading of the directory instead of a look at each of many names. */
static bool holds(struct directory *d, struct arena *a, struct str name)
{
	size_t bit = name_bit(name);

	if (!is_ascii(name))
		return true;
	if (!d->listing) {
		d->listing = arena_new(a, struct listing);
		if (!d->listing)
			return true;
		list(d->listing, d->path.p);
	}
	return d->listing->anything || d->listing->bits[bit / 64] >> bit % 64 & 1;
}

/* The walk: `done` holds what is resolved, `todo` what is left to walk. */
struct walk {
	struct arena *arena;
	struct known *known;
	struct str path; /* as asked for, for messages */
	char done[PATH_BYTES_MAX + 1];
	size_t n;
	struct str todo;
	struct directory *at; /* what `done` is known to be; or NULL */
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

/* lstat of `done`, a name in the directory d; not where d is known not to hold it. */
static int look_at(struct walk *w, struct directory *d, struct str part, struct stat *ret)
{
	if (d && d->looks++ >= LOOKS_BEFORE_LISTING && !holds(d, w->arena, part)) {
		errno = ENOENT;
		return -1;
	}
	return lstat(w->done, ret);
}

/* The component that was just appended, in the directory d. Returns 1 when the walk is
 * over, 0 to go on. */
static int enter(struct walk *w, struct directory *d, struct str part)
{
	struct str path = { w->done, w->n };
	struct stat st;

	if (look_at(w, d, part, &st) < 0) {
		if (errno != ENOENT && errno != ENOTDIR && !(errno == EACCES && w->known->inside))
			return err_set(w->err, CORDON_E_PATH, errno, "resolve", "%s", w->path.p);
		remember(w->known, w->arena, path, NULL);
		return keep_rest(w) < 0 ? -CORDON_E_PATH : 1;
	}
	w->node = (struct node){ node_type_of(st.st_mode), st.st_dev, st.st_ino };
	if (w->node.type == NODE_SYMLINK)
		return follow(w);
	w->stale = false;
	if (w->node.type == NODE_DIR) {
		remember(w->known, w->arena, path, &st);
		w->at = known_at(w->known, path);
	}
	return 0;
}

/* One component: returns 1 when the walk is over, 0 to go on. */
static int step(struct walk *w, struct str part)
{
	struct directory *before = w->at;

	w->stale = true;
	if (str_eq(part, STR(".")))
		return 0;
	w->at = NULL;
	if (str_eq(part, STR(".."))) {
		drop_last(w);
		return 0;
	}
	if (!append(w, part))
		return too_long(w);
	if (w->todo.n > 1)
		w->at = known_at(w->known, (struct str){ w->done, w->n });
	return w->at ? 0 : enter(w, before, part);
}

/* The walk ended on "/", ".", ".." or a directory that was known. */
static int look_again(struct walk *w)
{
	struct stat st;

	if (lstat(w->done, &st) < 0)
		return err_set(w->err, CORDON_E_PATH, errno, "resolve", "%s", w->path.p);
	w->node = (struct node){ node_type_of(st.st_mode), st.st_dev, st.st_ino };
	return 0;
}

/* Field by field: `done` is large and needs no zeros. */
static void walk_start(struct walk *w, const struct world *world, struct arena *a, struct str path,
		       struct cordon_error *err)
{
	w->arena = a;
	w->known = world->data;
	w->path = w->todo = path;
	w->done[0] = '\0';
	w->n = 0;
	w->at = NULL;
	w->links = 0;
	w->node = (struct node){ 0 };
	w->stale = true;
	w->err = err;
}

/* A directory whose path has no symlink in it need not be walked to again. */
static void start_at_parent(struct walk *w)
{
	struct str parent = path_parent(w->path);
	struct directory *d = known_at(w->known, parent);

	if (!d || parent.n == 1 || !path_is_normal(w->path))
		return;
	memcpy(w->done, parent.p, parent.n);
	w->n = parent.n;
	w->done[w->n] = '\0';
	w->at = d;
	w->todo = str_skip(w->path, parent.n);
}

static int resolve(const struct world *world, struct arena *a, struct str path,
		   struct str *ret_real, struct node *ret_node, struct cordon_error *err)
{
	struct walk w;
	struct str part;
	int r = 0;

	walk_start(&w, world, a, path, err);
	start_at_parent(&w);
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
	return known_at(known, path);
}

static bool may_hold(const struct world *world, struct arena *a, struct str dir, struct str name)
{
	struct directory *d = directory_at(world->data, a, dir);

	return !d || holds(d, a, name);
}

/* The longest beginning of the path that is a directory. */
static struct str nearest(struct known *known, struct arena *a, struct str path)
{
	struct str rest = path, part;
	size_t end = 1;

	if (known_at(known, path))
		return path;
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

static bool is_served(struct known *known, struct arena *a, struct str path)
{
	struct directory *d = directory_at(known, a, path);

	return d && directory_is_served(&known->filesystems, a, d->path.p, d->dev);
}

/* Letters become those of the other case; false: there are none. */
static bool respell(char *name, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		bool letter = (name[i] | 32) >= 'a' && (name[i] | 32) <= 'z';

		name[i] ^= letter ? 32 : 0;
		any |= letter;
	}
	return any;
}

/* One component after the other: a server may fold in some directories only. */
static bool has_twin(const struct world *world, struct arena *a, struct str path)
{
	char text[PATH_BYTES_MAX + 1];
	struct str dir, at = path;
	struct stat st;

	if (path.n > PATH_BYTES_MAX)
		return true;
	memcpy(text, path.p, path.n);
	text[path.n] = '\0';
	for (; at.n > 1; at = dir) {
		char *name;
		size_t n;

		dir = path_parent(at);
		name = text + dir.n + (dir.n > 1);
		n = (size_t)(text + at.n - name);
		if (!is_served(world->data, a, dir))
			return false;
		/* Of other letters' case nothing is known here. */
		if (!is_ascii((struct str){ name, n }) ||
		    (respell(name, n) && lstat(text, &st) == 0))
			return true;
		respell(name, n);
	}
	return false;
}

/* Whoever may not change its mode cannot make it one. */
static bool is_executable(const struct world *world, struct str path)
{
	char text[PATH_BYTES_MAX + 1];
	struct stat st;

	(void)world;
	if (path.n > PATH_BYTES_MAX)
		return true;
	memcpy(text, path.p, path.n);
	text[path.n] = '\0';
	return lstat(text, &st) < 0 || S_ISDIR(st.st_mode) || st.st_mode & 0111;
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

static int read_mounts(struct known *known, struct arena *a, struct cordon_error *err)
{
	autobuf struct buf b = buf_make(MOUNTINFO_MAX);
	const char *text;

	if (!mountinfo_read(&b))
		return err_set(err, CORDON_E_SYSTEM, errno, "resolve",
			       "cannot read /proc/self/mountinfo");
	/* The table points into the text. */
	text = arena_dup(a, buf_str(&b));
	if (!text || !aliases_parse(&known->aliases, a, str_of(text)))
		return err_nomem(err, "resolve");
	known->read_mounts = true;
	return 0;
}

static int find_aliases(const struct world *world, struct arena *a, struct str path,
			struct world_paths *ret, struct cordon_error *err)
{
	struct known *known = world->data;
	int r = known->read_mounts ? 0 : read_mounts(known, a, err);

	if (r == 0 && !aliases_of(&known->aliases, a, path, ret))
		return err_nomem(err, "resolve");
	return r;
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
		.has_twin = has_twin,
		.is_executable = is_executable,
		.aliases = find_aliases,
		.data = known,
	};
	return 0;
}

void world_os_inside(struct world *world)
{
	struct known *known = world->data;

	known->inside = true;
}
