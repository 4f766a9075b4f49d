/* SPDX-License-Identifier: Apache-2.0 */
/* Folding directories, as the file system says of each. */
#include "run/folds.h"

#include <string.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <unistd.h>

/* True also where it cannot be told. */
bool directory_folds(struct filesystems *all, struct arena *a, const char *path, uint64_t dev)
{
	(void)all, (void)a, (void)dev;
	return pathconf(path, _PC_CASE_SENSITIVE) != 1;
}

/* There a name has one spelling for the kernel, or as many as for everybody. */
bool directory_is_served(struct filesystems *all, struct arena *a, const char *path, uint64_t dev)
{
	(void)all;
	(void)a;
	(void)path;
	(void)dev;
	return false;
}

bool directory_lists_all(int dir)
{
	static const char *const types[] = { "apfs", "hfs" };
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(fs.f_fstypename, types[i]) == 0)
			return true;
	return false;
}
