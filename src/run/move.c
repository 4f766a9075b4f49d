/* SPDX-License-Identifier: Apache-2.0 */
/* Moving names, by renaming or by a copy. */
#include "run/move.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/scratch.h"

#define DEPTH_MAX 64

/* A file can have another name, under which it is somebody's: its mode is put back. */
static int open_to_read(int dir, const char *name, mode_t type)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	int fd = openat(dir, name, flags);
	mode_t former;

	if (fd < 0 && errno == EACCES && fd_give_rights(dir, name, type, &former) == 0) {
		fd = openat(dir, name, flags);
		if (fd >= 0 && type == S_IFREG)
			fchmod(fd, former);
	}
	return fd < 0 ? -errno : fd;
}

/* What may still be copied. */
struct copying {
	uint64_t bytes, entries;
};

static int copy_entry(struct copying *c, int from, const char *name, int to, const char *as,
		      unsigned depth);

static int copy_data(struct copying *c, int in, int out, off_t from, off_t to)
{
	ssize_t n;

	if ((uint64_t)(to - from) > c->bytes)
		return -EFBIG;
	c->bytes -= (uint64_t)(to - from);
	if (lseek(out, from, SEEK_SET) < 0)
		return -errno;
	while (from < to) {
		n = fd_copy(out, in, &from, (size_t)(to - from));
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

/* A file system without holes says that all is data. */
static int copy_contents(struct copying *c, int in, int out)
{
	off_t at = 0, data, hole;
	struct stat st;
	int r = fstat(in, &st) < 0 ? -errno : 0;

	while (r == 0 && at < st.st_size) {
		data = lseek(in, at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		hole = data < 0 ? -1 : lseek(in, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		hole = hole < st.st_size ? hole : st.st_size;
		r = copy_data(c, in, out, data, hole);
		at = hole;
	}
	return r == 0 && ftruncate(out, st.st_size) < 0 ? -errno : r;
}

static int copy_file(struct copying *c, int from, const char *name, int to, const char *as,
		     mode_t mode)
{
	autoclose int in = open_to_read(from, name, S_IFREG);
	autoclose int out = -1;
	int r;

	if (in < 0)
		return in;
	out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = copy_contents(c, in, out);
	return r == 0 && fchmod(out, mode) < 0 ? -errno : r;
}

static int copy_link(int from, const char *name, int to, const char *as)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return symlinkat(text, to, as) < 0 ? -errno : 0;
}

static int copy_all(struct copying *c, DIR *dir, int into, unsigned depth)
{
	const struct dirent *e;
	int r = 0;

	for (errno = 0; r == 0 && (e = readdir(dir)); errno = 0)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = copy_entry(c, dirfd(dir), e->d_name, into, e->d_name, depth);
	/* A list that broke off is no whole copy, and the original would be removed. */
	return r == 0 ? -errno : r;
}

static int copy_dir(struct copying *c, int from, const char *name, int to, const char *as,
		    mode_t mode, unsigned depth)
{
	autoclose int fd = depth < DEPTH_MAX ? open_to_read(from, name, S_IFDIR) : -ELOOP;
	autoclose int into = -1;
	DIR *dir;
	int r;

	if (fd < 0)
		return fd;
	if (mkdirat(to, as, 0700) < 0)
		return -errno;
	into = openat(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = into < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return -errno;
	(void)steal_fd(&fd);
	r = copy_all(c, dir, into, depth + 1);
	closedir(dir);
	return r == 0 && fchmod(into, mode) < 0 ? -errno : r;
}

static int copy_entry(struct copying *c, int from, const char *name, int to, const char *as,
		      unsigned depth)
{
	struct stat st;
	mode_t mode;

	if (!c->entries)
		return -EFBIG;
	c->entries--;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	mode = st.st_mode & 0777;
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, name, to, as, mode);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, name, to, as);
	if (S_ISDIR(st.st_mode))
		return copy_dir(c, from, name, to, as, mode, depth);
	/* A socket or a pipe has a name and no contents. */
	return mknodat(to, as, (st.st_mode & S_IFMT) | mode, st.st_rdev) < 0 ? -errno : 0;
}

int move_nowhere(int dir, const char *name)
{
	char path[64 + NAME_MAX];

	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	return scratch_remove(path);
}

static int rename_name(int from, const char *name, int to, const char *as)
{
	int r = fd_rename_new(from, name, to, as);
	mode_t former;

	/* A directory is written when it moves: its ".." changes. */
	if (r == -EACCES && fd_give_rights(from, name, S_IFDIR, &former) == 0)
		r = fd_rename_new(from, name, to, as);
	return r;
}

/* In a directory of its own first, so that nobody sees half of it in its place and what
 * a failure leaves is ours to remove. */
static int copy_across(struct copying *c, int from, const char *name, int to, const char *as)
{
	autoclose int own = -1;
	char part[64];
	int r;

	if (faccessat(to, as, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	snprintf(part, sizeof(part), ".cordon-moving-%d", (int)getpid());
	if (mkdirat(to, part, 0700) < 0)
		return errno == EEXIST ? -EBUSY : -errno;
	own = openat(to, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = own < 0 ? -errno : copy_entry(c, from, name, own, "copy", 0);
	if (r == 0)
		r = fd_sync_all(own);
	if (r == 0)
		r = rename_name(own, "copy", to, as);
	(void)move_nowhere(to, part);
	return r < 0 ? r : move_nowhere(from, name);
}

int move_name(int from, const char *name, int to, const char *as, enum move_across across)
{
	struct copying c = { MOVE_BYTES_MAX, MOVE_ENTRIES_MAX };
	int r = rename_name(from, name, to, as);

	if (r != -EXDEV || across == MOVE_NOT_ACROSS)
		return r;
	if (across == MOVE_ALL)
		c = (struct copying){ UINT64_MAX, UINT64_MAX };
	return copy_across(&c, from, name, to, as);
}

static bool has_other_names(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_nlink > 1;
}

int move_apart(int from, const char *name, int to, const char *as, struct move_spent *spent)
{
	struct copying c = { MOVE_BYTES_MAX - spent->bytes, MOVE_ENTRIES_MAX - spent->entries };
	int r = -1;

	if (has_other_names(from, name))
		r = copy_across(&c, from, name, to, as);
	if (r < 0)
		r = rename_name(from, name, to, as);
	if (r == -EXDEV)
		r = copy_across(&c, from, name, to, as);
	spent->bytes = MOVE_BYTES_MAX - c.bytes;
	spent->entries = MOVE_ENTRIES_MAX - c.entries;
	return r;
}

int move_aside(int dir, const char *name, char ret_name[NAME_MAX + 1])
{
	uint64_t random[2];

	if (getentropy(random, sizeof(random)) < 0)
		return -EIO;
	snprintf(ret_name, NAME_MAX + 1, ".cordon-taken-%016llx%016llx",
		 (unsigned long long)random[0], (unsigned long long)random[1]);
	return rename_name(dir, name, dir, ret_name);
}
