/* SPDX-License-Identifier: Apache-2.0 */
/* Which mounts are served by somebody else, from /proc/self/mountinfo. */
#include "run/remote.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"

#define MOUNTINFO_MAX ((size_t)4 << 20)
#define MOUNT_POINT 4 /* its field */

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

static bool is_octal(struct str s)
{
	return s.n >= 4 && s.p[0] == '\\' && s.p[1] >= '0' && s.p[1] <= '3' && s.p[2] >= '0' &&
	       s.p[2] <= '7' && s.p[3] >= '0' && s.p[3] <= '7';
}

/* Blanks and backslashes are written as \040. NULL: out of memory. */
static const char *unescape(struct arena *a, struct str s)
{
	char *text = arena_dup(a, s), *to = text;

	for (; text && s.n; s = str_skip(s, 1)) {
		*to = s.p[0];
		if (is_octal(s)) {
			*to = (char)((s.p[1] - '0') << 6 | (s.p[2] - '0') << 3 | (s.p[3] - '0'));
			s = str_skip(s, 3);
		}
		to++;
	}
	if (text)
		*to = '\0';
	return text;
}

/* "36 35 98:0 /root /point options optional - type source options" */
static bool read_line(struct map *mounts, struct arena *a, struct str line)
{
	struct str field = { 0 }, point = { 0 };
	const char *path;

	for (unsigned i = 0; line.n && !str_eq(field, STR("-")); i++) {
		str_cut(line, ' ', &field, &line);
		if (i == MOUNT_POINT)
			point = field;
	}
	str_cut(line, ' ', &field, &line);
	if (!point.n)
		return true;
	path = unescape(a, point);
	return path && map_put(mounts, a, str_of(path),
			       is_remote(field) && point.n > 1 ? remote : local);
}

bool remote_read(struct map *mounts, struct arena *a, struct str mountinfo)
{
	struct str line;

	while (mountinfo.n) {
		str_cut(mountinfo, '\n', &line, &mountinfo);
		if (!read_line(mounts, a, line))
			return false;
	}
	return true;
}

static bool read_mounts(struct map *mounts, struct arena *a)
{
	autoclose int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	autobuf struct buf b = buf_make(MOUNTINFO_MAX);
	char chunk[16384];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(&b, (struct str){ chunk, (size_t)n });
	return n == 0 && !b.failed && remote_read(mounts, a, buf_str(&b));
}

bool remote_is_below(struct map *mounts, struct arena *a, struct str path)
{
	if (!mounts->used && !read_mounts(mounts, a)) {
		*mounts = (struct map){ 0 };
		return true;
	}
	return map_nearest(mounts, path) != local;
}
