/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and reading the record of the last run. */
#include "cli/last_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fmt/json.h"

#define NAME "last-run.json"

static int open_home(const char *home)
{
	int fd = fd_enter(AT_FDCWD, home);

	if (fd >= 0 || errno != ENOENT || mkdir(home, 0700) < 0)
		return fd;
	return fd_enter(AT_FDCWD, home);
}

/* A file of that name can only be what an earlier cordon of the same number left. */
static int open_new(int dir, const char *name)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, name, flags, 0600);

	if (fd >= 0 || errno != EEXIST || unlinkat(dir, name, 0) < 0)
		return fd;
	return openat(dir, name, flags, 0600);
}

/* As much as fits: the later half of the violations goes until it does. */
static bool print(struct buf *b, json_t *run)
{
	json_t *list = json_object_get(run, "violations");
	json_int_t dropped = json_integer_value(json_object_get(run, "violations_dropped"));

	for (;;) {
		size_t n = json_array_size(list);

		json_print(b, run, true);
		if (!b->failed || !n)
			return !b->failed;
		for (size_t i = n; i > n / 2; i--)
			json_array_remove(list, i - 1);
		dropped += (json_int_t)(n - n / 2);
		json_object_set_new(run, "violations_dropped", json_integer(dropped));
		buf_free(b);
		buf_init(b, LAST_RUN_BYTES_MAX);
	}
}

int last_run_write(const char *home, json_t *run)
{
	autobuf struct buf text = buf_make(LAST_RUN_BYTES_MAX);
	autoclose int dir = -1, fd = -1;
	char name[64];
	int r;

	if (!run || !print(&text, run))
		return -ENOMEM;
	dir = open_home(home);
	if (dir < 0)
		return -errno;
	snprintf(name, sizeof(name), "." NAME ".%ld", (long)getpid());
	fd = open_new(dir, name);
	r = fd < 0 ? -errno : fd_write_all(fd, text.p, text.n);
	if (r == 0 && renameat(dir, name, dir, NAME) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir, name, 0);
	return r;
}

int last_run_read(struct arena *a, const char *home, json_t **ret, struct cordon_error *err)
{
	const char *path = arena_printf(a, "%s/" NAME, home);
	struct str text;
	int r;

	if (!path)
		return err_nomem(err, "explain");
	*ret = NULL;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = fd_read_file(a, path, LAST_RUN_BYTES_MAX, &text, err);
	return r < 0 ? r : json_read(text, path, LAST_RUN_BYTES_MAX, ret, err);
}
