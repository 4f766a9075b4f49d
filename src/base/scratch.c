/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories for one run. Removal does not recurse: the depth is up to whoever filled
 * the directory, so every subdirectory found is moved to the top and emptied there.
 */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

int scratch_make(struct arena *a, const char *parent, const char **ret, struct cordon_error *err)
{
	char *path = arena_printf(a, "%s/cordon-XXXXXX", parent);

	if (!path)
		return err_nomem(err, "scratch");
	if (!mkdtemp(path))
		return err_set(err, CORDON_E_IO, errno, "scratch", "cannot make a directory in %s",
			       parent);
	*ret = path;
	return 0;
}

/* A directory the owner took its own rights from is opened all the same. */
static int open_directory(int at, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	mode_t former;
	int fd = openat(at, name, flags);

	if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IRWXU) == S_IRWXU)
		return fd;
	if (fd_give_rights(at, name, S_IFDIR, &former) < 0)
		return fd;
	fd_close(&fd);
	return openat(at, name, flags);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* To a name at the top that is free. Moving a directory needs write access to it, for
 * its "..", so its mode is set first. */
static int lift(int from, const char *name, int top, unsigned *serial)
{
	char free_name[32];
	int fd = open_directory(from, name);

	fd_close(&fd);
	do
		snprintf(free_name, sizeof(free_name), "%u", (*serial)++);
	while (faccessat(top, free_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	return renameat(from, name, top, free_name) < 0 ? -errno : 0;
}

static int remove_entry(int dir, const char *name, int top, unsigned *serial)
{
	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	return errno == ENOTEMPTY || errno == EEXIST ? lift(dir, name, top, serial) : -errno;
}

/* Empties `dir`: files go, subdirectories with something in them move to `top`. */
static int flatten(int dir, int top, unsigned *serial)
{
	DIR *d = fdopendir(dir);
	const struct dirent *entry;
	int r = d ? 0 : -errno;

	while (r == 0 && (entry = readdir(d)))
		if (!is_dot(entry->d_name))
			r = remove_entry(dir, entry->d_name, top, serial);
	if (d)
		closedir(d);
	else
		close(dir);
	return r;
}

/* One subdirectory of the top, or a file in it. */
static int remove_top_entry(int top, const char *name, unsigned *serial)
{
	int fd, r;

	if (unlinkat(top, name, 0) == 0)
		return 0;
	fd = open_directory(top, name);
	if (fd < 0)
		return -errno;
	r = flatten(fd, top, serial);
	if (r == 0 && unlinkat(top, name, AT_REMOVEDIR) < 0)
		r = -errno;
	return r;
}

/* More levels than any file system holds: somebody goes on filling it. */
#define PASSES_MAX (1u << 20)

/* Passes over the top until nothing was left to do in one. */
int scratch_remove(const char *path)
{
	autoclose int top = open_directory(AT_FDCWD, path);
	unsigned serial = 0;
	bool found = true;
	int r = top < 0 ? -errno : 0;

	for (unsigned pass = 0; found && r == 0; pass++) {
		int again = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *d = again < 0 ? NULL : fdopendir(again);
		const struct dirent *entry;

		if (!d)
			return -errno;
		if (pass == PASSES_MAX)
			r = -EBUSY;
		found = false;
		while (r == 0 && (entry = readdir(d)))
			if (!is_dot(entry->d_name)) {
				found = true;
				r = remove_top_entry(top, entry->d_name, &serial);
			}
		closedir(d);
	}
	return r == 0 && rmdir(path) < 0 ? -errno : r;
}
