/* SPDX-License-Identifier: Apache-2.0 */
/* The result file: unnamed while the command runs, renamed into place at the end. */
#include "cli/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/path.h"
#include "base/testing.h"
#include "fmt/located.h"

#define stage "result"

void result_file_init(struct result_file *f)
{
	*f = (struct result_file){ .fd = -1, .dir = -1 };
}

static int cannot(const struct result_file *f, int errnum, const char *what,
		  struct cordon_error *err)
{
	err_set(err, CORDON_E_IO, errnum, stage, "--result %s: %s", quote(str_of(f->shown)).text,
		what);
	return -err->code;
}

static int open_descriptor(struct result_file *f, struct str number, struct cordon_error *err)
{
	uint64_t n;
	int mode;

	if (!num_parse_u64(number, INT_MAX, &n))
		return err_set(err, CORDON_E_USAGE, 0, stage,
			       "--result %s: wanted fd: and a number",
			       quote(str_of(f->shown)).text);
	mode = fcntl((int)n, F_GETFL);
	if (mode < 0)
		return cannot(f, errno, "no such descriptor", err);
	if (!fd_mode_writes(mode))
		return cannot(f, 0, "the descriptor is not open for writing", err);
	f->fd = (int)n;
	f->borrowed = true;
	return 0;
}

/* A name nobody else has or can foresee, beside the file. */
static const char *random_name(struct arena *a)
{
	uint64_t bits[2];

	if (getentropy(bits, sizeof(bits)) < 0)
		return NULL;
	return arena_printf(a, ".cordon-result-%016" PRIx64 "%016" PRIx64, bits[0], bits[1]);
}

static int create_named(struct arena *a, struct result_file *f, struct cordon_error *err)
{
	f->temporary = random_name(a);
	if (!f->temporary)
		return err_nomem(err, stage);
	f->fd = openat(f->dir, f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (f->fd >= 0)
		return 0;
	f->temporary = NULL;
	return cannot(f, errno, "cannot be created", err);
}

/* Where there are no unnamed files: a look whether one can be made, and nothing that the
 * command could find and replace. It is made when the command is gone. */
static int open_late(struct arena *a, struct result_file *f, struct cordon_error *err)
{
	int r = create_named(a, f, err);

	if (r < 0)
		return r;
	unlinkat(f->dir, f->temporary, 0);
	f->temporary = NULL;
	f->late = true;
	return 0;
}

/* The directory at a real path: a link in it was put there meanwhile. */
static int open_real_dir(const char *path)
{
	int fd = fd_open_directory(path, false);

	return fd < 0 && errno == ENOSYS ? fd_enter(AT_FDCWD, path) : fd;
}

static int open_beside(struct arena *a, struct result_file *f, struct str real,
		       struct cordon_error *err)
{
	const char *dir = arena_dup(a, path_parent(real));

	if (!dir)
		return err_nomem(err, stage);
	f->name = path_last(real).p;
	f->dir = open_real_dir(dir);
	if (f->dir < 0)
		return cannot(f, errno, "its directory", err);
	if (!testing_value("CORDON_NO_TMPFILE"))
		f->fd = fd_unnamed(f->dir, 0666);
	return f->fd >= 0 ? 0 : open_late(a, f, err);
}

/* realpath, in the arena. */
static int follow(struct arena *a, const struct result_file *f, const char *path, const char *what,
		  struct str *ret, struct cordon_error *err)
{
	char *real = realpath(path, NULL);
	char *copy = real ? arena_dup(a, str_of(real)) : NULL;
	int r = real ? 0 : cannot(f, errno, what, err);

	free(real);
	*ret = str_of(copy);
	return r < 0 || copy ? r : err_nomem(err, stage);
}

/* Where the file is to be, links followed once, now: a file they name is replaced, not the
 * link. */
static int find_real(struct arena *a, const struct result_file *f, struct stat *ret_st,
		     struct str *ret, struct cordon_error *err)
{
	const char *slash = strrchr(f->shown, '/'), *name = slash ? slash + 1 : f->shown, *path;
	const char *dir = slash ? arena_dup(a, (struct str){ f->shown,
							     (size_t)(slash - f->shown) + 1 })
				: ".";
	struct str parent;
	int r;

	*ret_st = (struct stat){ .st_mode = S_IFREG };
	if (!dir)
		return err_nomem(err, stage);
	if (!*name)
		return cannot(f, 0, "names a directory", err);
	if (lstat(f->shown, ret_st) == 0) {
		r = follow(a, f, f->shown, "cannot be followed", ret, err);
		return r == 0 && stat(ret->p, ret_st) < 0
			       ? cannot(f, errno, "cannot be followed", err)
			       : r;
	}
	if (errno != ENOENT)
		return cannot(f, errno, "cannot be looked at", err);
	r = follow(a, f, dir, "its directory", &parent, err);
	if (r < 0)
		return r;
	path = arena_printf(a, "%s/%s", parent.n == 1 ? "" : parent.p, name);
	*ret = str_of(path);
	return path ? 0 : err_nomem(err, stage);
}

/* A name in the workdir may have been made a link by a command that ran there before: it
 * must not lead the result out, to where that command could not write. */
static int check_kept_in(struct arena *a, const struct result_file *f, const char *workdir,
			 struct str real, struct cordon_error *err)
{
	struct str cwd = STR("/"), tree;
	char *spelled;
	int r = f->shown[0] == '/' ? 0 : follow(a, f, ".", "the current directory", &cwd, err);

	if (r < 0)
		return r;
	/* Without one nothing will run. */
	if (follow(a, f, workdir, "the workdir", &tree, err) < 0)
		return 0;
	spelled = path_normalise(a, cwd, str_of(f->shown));
	if (!spelled)
		return err_nomem(err, stage);
	if (!path_below(str_of(spelled), tree) || path_below(real, tree))
		return 0;
	cannot(f, 0, "a link in the workdir leads out of it", err);
	return err_hint(err, "name %s, if that is meant", quote(real).text);
}

static int open_path(struct arena *a, struct result_file *f, const char *workdir,
		     struct cordon_error *err)
{
	struct stat st;
	struct str real;
	int r = find_real(a, f, &st, &real, err);

	if (r == 0)
		r = check_kept_in(a, f, workdir, real, err);
	if (r < 0)
		return r;
	if (S_ISDIR(st.st_mode))
		return cannot(f, EISDIR, "cannot be written", err);
	if (S_ISREG(st.st_mode))
		return open_beside(a, f, real, err);
	/* A device or FIFO is written to; it cannot be replaced. */
	f->fd = open(real.p, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return f->fd >= 0 ? 0 : cannot(f, errno, "cannot be opened", err);
}

int result_file_open(struct arena *a, const char *spec, const char *workdir,
		     struct result_file *ret, struct cordon_error *err)
{
	int r;

	result_file_init(ret);
	ret->shown = spec;
	if (str_starts(str_of(spec), STR("fd:")))
		return open_descriptor(ret, str_of(spec + 3), err);
	if (strcmp(spec, "-") == 0) {
		err_set(err, CORDON_E_USAGE, 0, stage, "--result -: '-' names no file here");
		return err_hint(err, "--json prints the result; --result fd:1 puts it behind the "
				     "command's output, --result ./- into a file of that name");
	}
	r = open_path(a, ret, workdir ? workdir : ".", err);
	if (r < 0)
		result_file_close(ret);
	return r;
}

/* Gives the finished, unnamed file a name to be renamed from. */
static int name_it(struct arena *a, struct result_file *f, struct cordon_error *err)
{
	const char *self = arena_printf(a, "/proc/self/fd/%d", f->fd);
	const char *name = random_name(a);

	if (!self || !name)
		return err_nomem(err, stage);
	if (linkat(AT_FDCWD, self, f->dir, name, AT_SYMLINK_FOLLOW) < 0)
		return cannot(f, errno, "cannot be given its name", err);
	f->temporary = name;
	return 0;
}

int result_file_write(struct arena *a, struct result_file *f, const struct buf *text,
		      struct cordon_error *err)
{
	int r;

	if (f->fd < 0)
		return 0;
	if (text->failed)
		return err_nomem(err, stage);
	if (f->late) {
		fd_close(&f->fd);
		r = create_named(a, f, err);
		if (r < 0)
			return r;
	}
	r = fd_write_all(f->fd, text->p, text->n);
	if (r < 0)
		return cannot(f, -r, "cannot be written", err);
	if (f->dir < 0)
		return 0;
	if (!f->temporary) {
		r = name_it(a, f, err);
		if (r < 0)
			return r;
	}
	if (renameat(f->dir, f->temporary, f->dir, f->name) < 0)
		return cannot(f, errno, "cannot be put in place", err);
	f->temporary = NULL;
	return 0;
}

void result_file_close(struct result_file *f)
{
	if (f->temporary)
		unlinkat(f->dir, f->temporary, 0);
	f->temporary = NULL;
	if (!f->borrowed)
		fd_close(&f->fd);
	fd_close(&f->dir);
}
