/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a directory that is about to be moved, through the sandbox's root. */
#include "run/guard_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "run/situation.h"

/* Each level holds a descriptor. */
#define DEPTH_MAX 128

static int open_below(int root, struct str path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	char text[PATH_BYTES_MAX + 1];

	if (path.n > PATH_BYTES_MAX)
		return -1;
	memcpy(text, path.p, path.n);
	text[path.n] = '\0';
	return (int)syscall(SYS_openat2, root, text, &how, sizeof(how));
}

static enum node_type type_at(const struct tree *tree, struct str path)
{
	autoclose int fd = open_below(*(int *)tree->data, path, O_PATH);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? node_type_of(st.st_mode) : NODE_ABSENT;
}

struct visit {
	tree_visit_fn *fn;
	void *data;
	struct buf below; /* the path so far, without a slash at its end */
	unsigned depth;
};

static bool walk_open(int dir, struct visit *v);

/* True when the walk may go on. */
static bool walk_entry(int dir, const char *name, struct visit *v)
{
	size_t before = v->below.n;
	struct stat st;
	bool fine = false;
	enum tree_next next;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (before)
		buf_addc(&v->below, '/');
	buf_adds(&v->below, name);
	if (!v->below.failed) {
		next = v->fn(v->data, buf_str(&v->below), node_type_of(st.st_mode));
		fine = next == TREE_PAST || (next == TREE_INTO && !S_ISDIR(st.st_mode));
		if (next == TREE_INTO && S_ISDIR(st.st_mode)) {
			fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			fine = fd >= 0 && walk_open(fd, v);
		}
		v->below.n = before;
		v->below.p[before] = '\0';
	}
	return fine;
}

/* Closes dir. */
static bool walk_open(int dir, struct visit *v)
{
	DIR *stream = fdopendir(dir);
	struct dirent *entry;
	bool fine = stream && ++v->depth < DEPTH_MAX;

	if (!stream) {
		fd_close(&dir);
		return false;
	}
	while (fine) {
		errno = 0;
		entry = readdir(stream);
		if (!entry) {
			fine = errno == 0;
			break;
		}
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			fine = walk_entry(dirfd(stream), entry->d_name, v);
	}
	v->depth--;
	closedir(stream);
	return fine;
}

static bool walk_at(const struct tree *tree, struct str path, tree_visit_fn *fn, void *data)
{
	struct visit v = { .fn = fn, .data = data, .below = buf_make(PATH_BYTES_MAX) };
	int dir = open_below(*(int *)tree->data, path, O_RDONLY | O_DIRECTORY);
	bool fine = dir >= 0 && walk_open(dir, &v);

	buf_free(&v.below);
	return fine;
}

struct tree guard_tree(int *root)
{
	return (struct tree){ .type = type_at, .walk = walk_at, .data = root };
}
