/* SPDX-License-Identifier: Apache-2.0 */
/* Which mounts are served by somebody else, from /proc/self/mountinfo. */
#include "run/remote.h"

#include "run/mountinfo.h"

static const struct str types[] = {
	STR("autofs"), STR("nfs"),  STR("nfs4"),   STR("cifs"), STR("smb3"), STR("smbfs"),
	STR("fuse"),   STR("ceph"), STR("afs"),	   STR("9p"),	STR("coda"), STR("lustre"),
	STR("gfs2"),   STR("gpfs"), STR("fuseblk"),
};

static const char remote[] = "remote", local[] = "local";

static bool is_remote(struct str type)
{
	if (str_starts(type, STR("fuse.")))
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (str_eq(type, types[i]))
			return true;
	return false;
}

bool remote_read(struct map *mounts, struct arena *a, struct str mountinfo)
{
	struct mount_row row;
	bool failed = false;

	while (mountinfo_next(&mountinfo, a, &row, &failed))
		if (!map_put(mounts, a, row.point,
			     is_remote(row.type) && row.point.n > 1 ? remote : local))
			return false;
	return !failed;
}

static bool read_mounts(struct map *mounts, struct arena *a)
{
	autobuf struct buf b = buf_make(MOUNTINFO_MAX);

	return mountinfo_read(&b) && remote_read(mounts, a, buf_str(&b));
}

bool remote_is_below(struct map *mounts, struct arena *a, struct str path)
{
	if (!mounts->used && !read_mounts(mounts, a)) {
		*mounts = (struct map){ 0 };
		return true;
	}
	return map_nearest(mounts, path) != local;
}
