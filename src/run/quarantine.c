/* SPDX-License-Identifier: Apache-2.0 */
/* Moving names out of the way. */
#include "run/quarantine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/scratch.h"

#define DEPTH_MAX 64

static int make_dir(struct quarantine *q)
{
	char above[PATH_MAX];
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];
	int n;

	if (q->dir[0])
		return 0;
	n = snprintf(above, sizeof(above), "%s/quarantine", q->home);
	if (n >= (int)sizeof(above) - 64)
		return -ENAMETOOLONG;
	if (mkdir(q->home, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (mkdir(above, 0700) < 0 && errno != EEXIST)
		return -errno;
	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	snprintf(q->dir, sizeof(q->dir), "%.*s/%s-%d", n, above, stamp, (int)getpid());
	if (mkdir(q->dir, 0700) == 0 || errno == EEXIST)
		return 0;
	n = -errno;
	q->dir[0] = '\0';
	return n;
}

static int copy_entry(int from, const char *name, int to, const char *as, unsigned depth);

static int copy_file(int from, const char *name, int to, const char *as)
{
	autoclose int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	autoclose int out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t n;

	if (in < 0 || out < 0)
		return -errno;
	while ((n = sendfile(out, in, NULL, (size_t)1 << 20)) > 0)
		;
	return n < 0 ? -errno : 0;
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

static int copy_dir(int from, const char *name, int to, const char *as, unsigned depth)
{
	int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	autoclose int into = -1;
	struct dirent *e;
	int r = dir && depth < DEPTH_MAX && mkdirat(to, as, 0700) == 0 ? 0 : -EIO;

	if (r == 0)
		into = openat(to, as, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	while (r == 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = copy_entry(dirfd(dir), e->d_name, into, e->d_name, depth + 1);
	if (dir)
		closedir(dir);
	else
		fd_close(&fd);
	return r;
}

/* Sockets, pipes and devices have no contents to keep. */
static int copy_entry(int from, const char *name, int to, const char *as, unsigned depth)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return copy_file(from, name, to, as);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, name, to, as);
	return S_ISDIR(st.st_mode) ? copy_dir(from, name, to, as, depth) : 0;
}

static int copy_and_remove(int dir, const char *name, const char *to)
{
	char from[64 + NAME_MAX];
	struct stat st;
	int r = copy_entry(dir, name, AT_FDCWD, to, 0);

	if (r < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return r;
	if (!S_ISDIR(st.st_mode))
		return unlinkat(dir, name, 0) < 0 ? -errno : 0;
	snprintf(from, sizeof(from), "/proc/self/fd/%d/%s", dir, name);
	return scratch_remove(from);
}

int quarantine_take(struct quarantine *q, int dir, const char *name, bool quiet,
		    char ret_path[PATH_MAX])
{
	int n, r = make_dir(q);

	if (r < 0)
		return r;
	n = snprintf(ret_path, PATH_MAX, "%s/%u-%s", q->dir, q->taken, name);
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	if (renameat2(dir, name, AT_FDCWD, ret_path, RENAME_NOREPLACE) < 0)
		r = errno == EXDEV && quiet ? copy_and_remove(dir, name, ret_path) : -errno;
	if (r == 0)
		q->taken++;
	return r;
}
