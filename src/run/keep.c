/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that stay between runs: making, holding, listing and removing them. */
#include "run/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/path.h"
#include "base/scratch.h"
#include "fmt/located.h"
#include "run/subdirs.h"

#define stage "keep"
/* In a project's directory: the workdir it belongs to. */
#define OWNER_FILE "project"
/* Beside the projects': what is being removed. */
#define GONE ".gone-"
#define DEPTH_MAX 256
/* Below cordon's home. */
#define PROJECTS "cache/project"
#define SHARED "tmp"

static int cannot(struct cordon_error *err, const char *what, const char *path)
{
	return err_set(err, CORDON_E_IO, errno, stage, "%s %s", what, path);
}

/* The missing part of a path below cordon's home, which is the caller's alone, and that
 * home; not what it lies in, such as the home of a user who has none. */
static int make_path(struct arena *a, struct str home, struct str path, mode_t mode,
		     struct cordon_error *err)
{
	for (size_t n = home.n; n <= path.n; n++) {
		const char *part;

		if (n < path.n && path.p[n] != '/')
			continue;
		part = arena_dup(a, str_take(path, n));
		if (!part)
			return err_nomem(err, stage);
		if (mkdir(part, n == path.n ? mode : 0700) == 0) {
			/* Whatever the umask says: a shared /tmp is for every user inside. */
			if (n == path.n && chmod(part, mode) < 0)
				return cannot(err, "cannot set the mode of", part);
		} else if (errno != EEXIST) {
			return cannot(err, "cannot make", part);
		}
	}
	return 0;
}

static int make_one(struct arena *a, struct str home, const struct cache *c, mode_t mode,
		    bool *made, struct cordon_error *err)
{
	if (!c->source.n || c->node.type == NODE_DIR)
		return 0;
	if (c->node.type != NODE_ABSENT)
		return err_set(err, CORDON_E_IO, ENOTDIR, stage, "%s", c->source.p);
	*made = true;
	return make_path(a, home, c->source, mode, err);
}

/* Whole or not at all: another run may read it at any moment. */
static int write_owner(struct arena *a, const char *path, struct str workdir,
		       struct cordon_error *err)
{
	const char *fresh = arena_printf(a, "%s.%d", path, (int)getpid());
	autoclose int fd = -1;
	int r;

	if (!fresh)
		return err_nomem(err, stage);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return cannot(err, "cannot write", fresh);
	r = fd_write_all(fd, workdir.p, workdir.n);
	if (r == 0 && rename(fresh, path) == 0)
		return 0;
	if (r < 0)
		errno = -r;
	r = cannot(err, "cannot write", path);
	unlink(fresh);
	return r;
}

/* Two workdirs whose names hash to the same directory must not share it. */
static int check_owner(struct arena *a, const struct policy *policy, struct cordon_error *err)
{
	struct str workdir = policy->places.workdir, text;
	const char *path = arena_printf(a, "%s/" OWNER_FILE, policy->cache_dir.p);
	struct cordon_error ignored;

	if (!path)
		return err_nomem(err, stage);
	if (fd_read_file(a, path, PATH_BYTES_MAX, &text, &ignored) < 0)
		return write_owner(a, path, workdir, err);
	if (str_eq(text, workdir))
		return 0;
	err_set(err, CORDON_E_IO, 0, stage, "%s belongs to another project", policy->cache_dir.p);
	return err_hint(err, "'cordon cache clear --workdir %s' removes it", quote(text).text);
}

/* What a failure left of a project's directory, as long as it is empty. */
static void unmake(struct arena *a, const struct policy *policy)
{
	const char *path = policy->cache_dir.p;

	if (policy->cache_own.source.n)
		rmdir(policy->cache_own.source.p);
	vec_each(c, &policy->caches)
		if (c->source.n)
			rmdir(c->source.p);
	/* cache/project/NAME */
	for (unsigned i = 0; i < 3 && path; i++) {
		rmdir(path);
		path = arena_dup(a, path_parent(str_of(path)));
	}
}

int keep_make_tmp(struct arena *a, const struct policy *policy, bool *made,
		  struct cordon_error *err)
{
	return make_one(a, policy->places.cordon_home, &policy->shared_tmp, 01777, made, err);
}

int keep_make(struct arena *a, const struct policy *policy, bool *ret_made,
	      struct cordon_error *err)
{
	struct str home = policy->places.cordon_home;
	bool made = false;
	int r = make_one(a, home, &policy->cache_own, 0700, &made, err);

	vec_each(c, &policy->caches)
		if (r == 0)
			r = make_one(a, home, c, 0700, &made, err);
	if (r == 0 && policy->caches.n)
		r = check_owner(a, policy, err);
	if (r == 0)
		*ret_made = made;
	else if (made && policy->cache_dir.n)
		unmake(a, policy);
	return r;
}

static bool is_still(const char *path, int fd)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_ino == there.st_ino &&
	       here.st_dev == there.st_dev;
}

/* Whoever clears it has it alone and moves it away first. */
int keep_hold(const struct policy *policy, int *ret_fd, struct cordon_error *err)
{
	const char *path = policy->cache_dir.p;
	autoclose int fd = -1;

	if (!policy->caches.n)
		return 0;
	/* Not there: it was never made, or whoever mounts it will say so. */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 || !is_still(path, fd)) {
		err_set(err, CORDON_E_IO, 0, stage,
			"the private caches of this project are being cleared: %s", path);
		return err_hint(err, "try again when that has ended");
	}
	futimens(fd, NULL);
	*ret_fd = steal_fd(&fd);
	return 0;
}

/* What the files in a directory take on disk; nothing is followed, and what goes away
 * meanwhile does not count. */
static uint64_t disk_bytes(int dir, unsigned depth)
{
	DIR *d = depth ? fdopendir(dir) : NULL;
	const struct dirent *entry;
	uint64_t sum = 0;

	if (!d) {
		close(dir);
		return 0;
	}
	while ((entry = readdir(d))) {
		struct stat st;
		int below;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		sum += (uint64_t)st.st_blocks * 512;
		if (!S_ISDIR(st.st_mode))
			continue;
		below = openat(dirfd(d), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			sum += disk_bytes(below, depth - 1);
	}
	closedir(d);
	return sum;
}

/* --- a shared /tmp ------------------------------------------------------------------ */

static const char *tmp_lock(struct arena *a, struct str dir)
{
	return arena_printf(a, "%.*s/.lock-%.*s", STR_ARG(path_parent(dir)),
			    STR_ARG(path_last(dir)));
}

/* What is locked of something that is kept. */
static int open_lock(struct arena *a, const struct kept *kept)
{
	const char *path = kept->shared.n ? tmp_lock(a, str_of(kept->path)) : kept->path;

	if (!path) {
		errno = ENOMEM;
		return -1;
	}
	return kept->shared.n ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)
			      : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int check_tmp_size(const struct policy *policy, struct cordon_error *err)
{
	const char *path = policy->shared_tmp.source.p;
	uint64_t most = policy_number(policy, KEY_TMP_SIZE), bytes;
	autobuf struct buf holds = buf_make(64), may = buf_make(64);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || !most) {
		fd_close(&fd);
		return 0;
	}
	bytes = disk_bytes(fd, DEPTH_MAX);
	if (bytes <= most)
		return 0;
	num_print_size(&holds, bytes);
	num_print_size(&may, most);
	err_set(err, CORDON_E_LIMIT, 0, stage, "%s, the shared /tmp, holds %s, and tmp_size is %s",
		path, holds.p, may.p);
	return err_hint(err,
			"'cordon cache clear --shared %.*s' empties it; --tmp-size allows more",
			STR_ARG(path_last(policy->shared_tmp.source)));
}

int keep_hold_tmp(struct arena *a, const struct policy *policy, int *ret_fd,
		  struct cordon_error *err)
{
	struct str dir = policy->shared_tmp.source;
	struct kept tmp = { .path = dir.p, .shared = path_last(dir) };
	autoclose int fd = -1;
	int r;

	if (!dir.n)
		return 0;
	fd = open_lock(a, &tmp);
	if (fd < 0)
		return cannot(err, "cannot lock", dir.p);
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 || !is_still(tmp_lock(a, dir), fd)) {
		err_set(err, CORDON_E_IO, 0, stage, "the shared /tmp is being cleared: %s", dir.p);
		return err_hint(err, "try again when that has ended");
	}
	futimens(fd, NULL);
	r = check_tmp_size(policy, err);
	if (r == 0)
		*ret_fd = steal_fd(&fd);
	return r;
}

/* --- listing ------------------------------------------------------------------------ */

static void look_at(struct arena *a, struct kept *kept)
{
	autoclose int fd = open(kept->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autoclose int lock = open_lock(a, kept);
	const char *owner = arena_printf(a, "%s/" OWNER_FILE, kept->path);
	struct cordon_error ignored;
	struct stat st;

	/* What is in a shared /tmp is not cordon's. */
	if (kept->shared.n || !owner ||
	    fd_read_file(a, owner, PATH_BYTES_MAX, &kept->project, &ignored) < 0)
		kept->project = (struct str){ 0 };
	if (fd < 0 || lock < 0)
		return;
	if (fstat(lock, &st) == 0)
		kept->used = st.st_mtime;
	/* Not kept while the files are counted: a run that begins would go without its lock. */
	kept->busy = flock(lock, LOCK_EX | LOCK_NB) < 0;
	if (!kept->busy)
		flock(lock, LOCK_UN);
	kept->bytes = disk_bytes(steal_fd(&fd), DEPTH_MAX);
}

struct listing {
	struct arena *arena;
	struct kept_list *ret;
	bool shared;
};

static int add_kept(void *data, int dir, const char *path, const char *name,
		    struct cordon_error *err)
{
	struct listing *l = data;
	struct kept *kept = vec_push(&l->ret->items, l->arena);

	(void)dir, (void)name;
	if (!kept)
		return err_nomem(err, stage);
	kept->path = path;
	if (l->shared)
		kept->shared = path_last(str_of(path));
	look_at(l->arena, kept);
	return 0;
}

int keep_list(struct arena *a, struct str cordon_home, struct kept_list *ret,
	      struct cordon_error *err)
{
	struct listing l = { a, ret, false };
	int r = subdirs_each(a, arena_printf(a, "%.*s/" PROJECTS, STR_ARG(cordon_home)), add_kept,
			     &l, err);

	l.shared = true;
	if (r == 0)
		r = subdirs_each(a, arena_printf(a, "%.*s/" SHARED, STR_ARG(cordon_home)), add_kept,
				 &l, err);
	return r;
}

/* Out of the way first, so that a run that starts meanwhile makes its own. */
int keep_clear(struct arena *a, const struct kept *kept, struct cordon_error *err)
{
	autoclose int fd = open_lock(a, kept);
	struct str top = path_parent(str_of(kept->path)), name = path_last(str_of(kept->path));
	const char *gone = arena_printf(a, "%.*s/" GONE "%.*s-%d", STR_ARG(top), STR_ARG(name),
					(int)getpid());
	int r;

	if (!gone)
		return err_nomem(err, stage);
	if (fd < 0)
		return errno == ENOENT ? 0 : cannot(err, "cannot open", kept->path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err_set(err, CORDON_E_IO, 0, stage, "a run is using %s", kept->path);
		return err_hint(err, "wait until it has ended");
	}
	if (rename(kept->path, gone) < 0)
		return cannot(err, "cannot remove", kept->path);
	/* A run that holds the old file sees that it is gone. */
	if (kept->shared.n)
		unlink(tmp_lock(a, str_of(kept->path)));
	r = scratch_remove(gone);
	if (r == 0)
		return 0;
	errno = -r;
	return cannot(err, "cannot remove", gone);
}

/* What a clearing that is at work holds is its own to remove. */
static int sweep_one(struct arena *a, const char *top, int dir, const char *name,
		     struct cordon_error *err)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *path = arena_printf(a, "%s/%s", top, name);
	int r;

	if (!path)
		return err_nomem(err, stage);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		return 0;
	r = scratch_remove(path);
	if (r == 0 || r == -ENOENT)
		return 0;
	errno = -r;
	return cannot(err, "cannot remove", path);
}

static int sweep(struct arena *a, struct str cordon_home, const char *below,
		 struct cordon_error *err)
{
	const char *top = arena_printf(a, "%.*s/%s", STR_ARG(cordon_home), below);
	DIR *d = top ? opendir(top) : NULL;
	const struct dirent *entry;
	int r = top ? 0 : err_nomem(err, stage);

	while (d && (entry = readdir(d)))
		if (str_starts(str_of(entry->d_name), STR(GONE)))
			r = sweep_one(a, top, dirfd(d), entry->d_name, err);
	if (d)
		closedir(d);
	return r;
}

int keep_sweep(struct arena *a, struct str cordon_home, struct cordon_error *err)
{
	struct cordon_error ignored;
	int r = sweep(a, cordon_home, PROJECTS, err);
	int also = sweep(a, cordon_home, SHARED, r < 0 ? &ignored : err);

	return r < 0 ? r : also;
}
