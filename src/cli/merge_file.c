/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing a configuration file by the amended one. */
#include "cli/merge_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "fmt/located.h"
#include "policy/config.h"

#define stage "merge"

static int failed(const char *file, int error, struct cordon_error *err)
{
	return err_set(err, CORDON_E_IO, error, stage, "%s", quote(str_of(file)).text);
}

/* *ret_mode: 0 when it is not there. */
static int read_old(struct arena *a, const char *file, struct str *ret, mode_t *ret_mode,
		    struct cordon_error *err)
{
	struct stat st;

	*ret = (struct str){ "", 0 };
	*ret_mode = 0;
	if (lstat(file, &st) < 0)
		return errno == ENOENT ? 0 : failed(file, errno, err);
	if (S_ISLNK(st.st_mode)) {
		err_set(err, CORDON_E_PATH, 0, stage, "%s is a symbolic link",
			quote(str_of(file)).text);
		return err_hint(err, "name the file that it leads to");
	}
	*ret_mode = st.st_mode & 07777;
	return fd_read_file(a, file, CONFIG_BYTES_MAX, ret, err);
}

static int write_new(const char *temporary, mode_t mode, const struct buf *text)
{
	autoclose int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				0600);
	int r = fd < 0 ? -errno : fd_write_all(fd, text->p, text->n);

	if (r == 0 && mode && fchmod(fd, mode) < 0)
		r = -errno;
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r;
}

/* Nobody else's change is lost but one of the moment between looking and replacing. */
static int replace(struct arena *a, const char *file, struct str before, mode_t mode,
		   const struct buf *text, struct cordon_error *err)
{
	const char *temporary = arena_printf(a, "%s.cordon-%ld", file, (long)getpid());
	struct str now;
	mode_t mode_now;
	int r;

	if (!temporary)
		return err_nomem(err, stage);
	r = write_new(temporary, mode, text);
	if (r < 0) {
		if (r != -EEXIST)
			unlink(temporary);
		return failed(temporary, -r, err);
	}
	r = read_old(a, file, &now, &mode_now, err);
	if (r == 0 && !str_eq(now, before))
		r = err_set(err, CORDON_E_IO, 0, stage, "%s was changed meanwhile",
			    quote(str_of(file)).text);
	if (r == 0 && rename(temporary, file) < 0)
		r = failed(file, errno, err);
	if (r < 0)
		unlink(temporary);
	return r;
}

int merge_file(struct arena *a, const char *file, const char *profile, const char *extends,
	       const struct amendment *items, size_t n, struct cordon_error *err)
{
	autobuf struct buf b = buf_make(2 * CONFIG_BYTES_MAX);
	struct str before;
	mode_t mode;
	int r = read_old(a, file, &before, &mode, err);

	if (r == 0)
		r = config_amend(a, before, file, profile, extends, items, n, &b, err);
	if (r < 0)
		return r;
	return b.failed ? err_nomem(err, stage) : replace(a, file, before, mode, &b, err);
}
