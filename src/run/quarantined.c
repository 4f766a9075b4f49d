/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in quarantine: listing, giving back, removing. An id is only ever compared with
 * what a directory lists, never made into a path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "fmt/json.h"
#include "run/move.h"
#include "run/quarantine.h"
#include "run/subdirs.h"

#define stage "quarantine"
#define RECORD_MAX ((size_t)64 << 10)

/* The path as it may be printed: a name in it can be anybody's. */
static int cannot(struct cordon_error *err, int errnum, const char *what, struct str path)
{
	autobuf struct buf b = buf_make((size_t)32 << 10);

	buf_add_escaped(&b, path);
	return err_set(err, CORDON_E_IO, errnum, stage, "%s %s", what, b.p);
}

/* --- listing ------------------------------------------------------------------------ */

static void read_record(struct arena *a, struct quarantined *q)
{
	const char *path = arena_printf(a, "%s.json", q->path);
	struct cordon_error ignored;
	json_t *record = NULL;
	struct str text;

	if (!path || fd_read_file(a, path, RECORD_MAX, &text, &ignored) < 0 ||
	    json_read(text, path, RECORD_MAX, &record, &ignored) < 0)
		return;
	if (!json_get_text(record, "from", a, &q->from) || !path_is_normal(q->from) ||
	    !path_last(q->from).n || memchr(q->from.p, '\0', q->from.n))
		q->from = (struct str){ 0 };
	if (!json_get_text(record, "workdir", a, &q->workdir))
		q->workdir = (struct str){ 0 };
	if (json_is_integer(json_object_get(record, "time")))
		q->time = json_integer_value(json_object_get(record, "time"));
	json_decref(record);
}

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "directory";
	if (S_ISLNK(mode))
		return "link";
	return S_ISREG(mode) ? "file" : "other";
}

static int add(struct arena *a, struct quarantined_list *list, int dir, const char *run_path,
	       struct str name, struct cordon_error *err)
{
	struct quarantined *q = vec_push(&list->items, a);
	struct stat st;

	if (q)
		q->path = arena_printf(a, "%s/%.*s", run_path, STR_ARG(name));
	if (!q || !q->path)
		return err_nomem(err, stage);
	q->id = quarantine_id(q->path);
	q->run = (struct str){ q->id, str_find(str_of(q->id), '/') };
	q->kind = "missing";
	if (fstatat(dir, path_last(str_of(q->path)).p, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		q->kind = kind_of(st.st_mode);
		q->bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
		q->time = st.st_ctime;
	}
	read_record(a, q);
	return 0;
}

/* "N", or "N.json" when that is all there is; anything else is not the run's. */
static bool is_entry(int dir, const char *text, struct str *ret)
{
	struct str name = str_of(text), suffix = STR(".json");
	bool record = str_ends(name, suffix);
	char object[NAME_MAX + 1];

	if (record)
		name = str_take(name, name.n - suffix.n);
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] < '0' || name.p[i] > '9')
			return false;
	snprintf(object, sizeof(object), "%.*s", STR_ARG(name));
	*ret = name;
	return name.n && !(record && faccessat(dir, object, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

struct listing {
	struct arena *arena;
	struct quarantined_list *ret;
};

static int list_run(void *data, int top, const char *path, const char *run,
		    struct cordon_error *err)
{
	struct listing *l = data;
	int fd = openat(top, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct str name;
	int r = 0;

	if (!d) {
		r = errno;
		fd_close(&fd);
		/* Not a directory: not cordon's. Gone: cleared meanwhile. */
		return r == ENOTDIR || r == ELOOP || r == ENOENT
			       ? 0
			       : cannot(err, r, "cannot list", str_of(path));
	}
	while (r == 0 && (entry = readdir(d)))
		if (is_entry(dirfd(d), entry->d_name, &name))
			r = add(l->arena, l->ret, dirfd(d), path, name, err);
	closedir(d);
	return r;
}

static int by_age(const void *left, const void *right)
{
	const struct quarantined *l = left, *r = right;
	int order = str_cmp(l->run, r->run);
	size_t ln = strlen(l->id), rn = strlen(r->id);

	/* Numbers without leading zeros: the shorter is the smaller. */
	if (order == 0 && ln != rn)
		return ln < rn ? -1 : 1;
	return order ? order : strcmp(l->id, r->id);
}

int quarantine_list(struct arena *a, struct str home, struct quarantined_list *ret,
		    struct cordon_error *err)
{
	struct listing l = { a, ret };
	int r = subdirs_each(a, arena_printf(a, "%.*s/quarantine", STR_ARG(home)), list_run, &l,
			     err);

	if (r == 0 && ret->items.n)
		qsort(ret->items.at, ret->items.n, sizeof(*ret->items.at), by_age);
	return r;
}

/* --- giving back and removing --------------------------------------------------------- */

/* The directory of the run, for us alone. */
static int open_run(const struct quarantined *q, struct cordon_error *err)
{
	struct str run = path_parent(str_of(q->path));
	char path[PATH_MAX];
	autoclose int fd = -1;

	snprintf(path, sizeof(path), "%.*s", STR_ARG(run));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return cannot(err, errno, "cannot open", run);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		cannot(err, 0, "a run, or another cordon, is using", run);
		return err_hint(err, "wait until it has ended");
	}
	return steal_fd(&fd);
}

static const char *name_of(const struct quarantined *q)
{
	return strrchr(q->path, '/') + 1;
}

/* The record, and the directory of the run when that was the last in it. */
static void forget(const struct quarantined *q, int run)
{
	struct str dir = path_parent(str_of(q->path));
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s.json", name_of(q));
	unlinkat(run, text, 0);
	snprintf(text, sizeof(text), "%.*s", STR_ARG(dir));
	rmdir(text);
}

struct destination {
	const char *dir, *name;
	struct str text; /* as it was given */
	bool given;
};

static int read_destination(struct arena *a, const struct quarantined *q, const char *to,
			    struct destination *ret, struct cordon_error *err)
{
	struct str text = to ? str_of(to) : q->from, dir;
	size_t n;

	if (!text.n && !to) {
		err_set(err, CORDON_E_USAGE, 0, stage, "where %s came from is not known", q->id);
		return err_hint(err, "say where to put it: --to PATH");
	}
	while (text.n > 1 && text.p[text.n - 1] == '/')
		text.n--;
	for (n = text.n; n && text.p[n - 1] != '/'; n--)
		;
	dir = n ? str_take(text, n) : STR(".");
	ret->dir = arena_dup(a, dir);
	ret->name = arena_dup(a, str_skip(text, n));
	ret->text = text;
	ret->given = to;
	if (!ret->dir || !ret->name)
		return err_nomem(err, stage);
	if (!*ret->name || strcmp(ret->name, ".") == 0 || strcmp(ret->name, "..") == 0)
		return err_set(err, CORDON_E_USAGE, 0, stage, "--to needs the name it gets");
	return 0;
}

static int cannot_restore(const struct destination *t, int errnum, struct cordon_error *err)
{
	if (errnum == EEXIST) {
		cannot(err, 0, "there is something already at", t->text);
		return err_hint(err, "nothing is overwritten: move it away, or use --to PATH");
	}
	cannot(err, errnum, "cannot restore to", t->text);
	if (errnum == ELOOP)
		return err_hint(err, "a link leads there that was not there; use --to PATH");
	return errnum == ENOENT ? err_hint(err, "make the directory, or use --to PATH")
				: -err->code;
}

static const char *whole_path(struct arena *a, int dir, const char *name)
{
	char text[PATH_MAX];
	ssize_t n = fd_path(dir, text);

	return n <= 0 ? NULL : arena_printf(a, "%s%s%s", text, n > 1 ? "/" : "", name);
}

int quarantine_restore(struct arena *a, const struct quarantined *q, const char *to,
		       const char **ret_path, struct cordon_error *err)
{
	autoclose int run = -1, dir = -1;
	const char *path;
	struct destination t = { 0 };
	int r = read_destination(a, q, to, &t, err);

	if (r < 0)
		return r;
	run = open_run(q, err);
	if (run < 0)
		return run;
	if (faccessat(run, name_of(q), F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return cannot(err, errno, "there is nothing to restore:", str_of(q->path));
	/* Where it came from, through no link: the command may have put one on the way there. A
	 * place the caller names is followed as usual, but for its last name. */
	dir = fd_open_directory(t.dir, t.given);
	if (dir < 0)
		return cannot_restore(&t, errno, err);
	path = whole_path(a, dir, t.name);
	if (!path)
		return err_nomem(err, stage);
	t.text = str_of(path);
	r = move_name(run, name_of(q), dir, t.name, MOVE_ALL);
	if (r < 0)
		return cannot_restore(&t, -r, err);
	forget(q, run);
	*ret_path = path;
	return 0;
}

int quarantine_clear(const struct quarantined *q, struct cordon_error *err)
{
	autoclose int run = open_run(q, err);
	int r;

	if (run < 0)
		return run;
	r = move_nowhere(run, name_of(q));
	if (r < 0 && r != -ENOENT)
		return cannot(err, -r, "cannot remove", str_of(q->path));
	forget(q, run);
	return 0;
}
