/* SPDX-License-Identifier: Apache-2.0 */
/* Listing a directory of directories. */
#include "run/subdirs.h"

#include <dirent.h>
#include <errno.h>

#include "base/buf.h"

#define stage "list"

static int cannot(struct cordon_error *err, int errnum, const char *path)
{
	autobuf struct buf b = buf_make((size_t)32 << 10);

	buf_add_escaped(&b, str_of(path));
	return err_set(err, CORDON_E_IO, errnum, stage, "cannot list %s", b.p);
}

int subdirs_each(struct arena *a, const char *top, subdir_fn *tell, void *data,
		 struct cordon_error *err)
{
	const struct dirent *entry;
	int r = 0;
	DIR *d;

	if (!top)
		return err_nomem(err, stage);
	d = opendir(top);
	if (!d)
		return errno == ENOENT ? 0 : cannot(err, errno, top);
	for (errno = 0; r == 0 && (entry = readdir(d)); errno = 0) {
		const char *path;

		if (entry->d_name[0] == '.')
			continue;
		path = arena_printf(a, "%s/%s", top, entry->d_name);
		r = path ? tell(data, dirfd(d), path, entry->d_name, err) : err_nomem(err, stage);
	}
	if (r == 0 && errno)
		r = cannot(err, errno, top);
	closedir(d);
	return r;
}
