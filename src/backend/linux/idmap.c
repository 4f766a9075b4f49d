/* SPDX-License-Identifier: Apache-2.0 */
/* Copying the caller's id maps into the child's user namespace. */
#include "backend/linux/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/num.h"

#define MAP_BYTES_MAX 65536

bool idmap_by_parent(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uint32_t needed = 1u << CAP_SETUID | 1u << CAP_SETGID;

	if (geteuid() != 0 || syscall(SYS_capget, &header, data) < 0)
		return false;
	return (data[0].effective & needed) == needed;
}

static struct str next_field(struct str *line)
{
	struct str field;

	*line = str_trim(*line);
	str_cut(*line, ' ', &field, line);
	return field;
}

/* "inside outside count" becomes "inside inside count": what is an id to the caller is
 * the same id to the command. */
static int same_map(struct str map, struct buf *out)
{
	while (map.n) {
		struct str line, inside, outside, count;
		uint64_t ignored;

		str_cut(map, '\n', &line, &map);
		inside = next_field(&line);
		outside = next_field(&line);
		count = next_field(&line);
		if (!num_parse_u64(inside, UINT32_MAX, &ignored) ||
		    !num_parse_u64(outside, UINT32_MAX, &ignored) ||
		    !num_parse_u64(count, UINT32_MAX, &ignored))
			return -1;
		buf_addf(out, "%.*s %.*s %.*s\n", STR_ARG(inside), STR_ARG(inside), STR_ARG(count));
	}
	return out->failed ? -1 : 0;
}

/* The text for the process's map, and the map. */
static int open_map(pid_t pid, const char *name, struct buf *text, int *ret_fd,
		    struct cordon_error *err)
{
	autoarena struct arena a = { .max = 2 * MAP_BYTES_MAX };
	char own[64], theirs[64];
	struct str map;
	int fd, r;

	snprintf(own, sizeof(own), "/proc/self/%s", name);
	snprintf(theirs, sizeof(theirs), "/proc/%d/%s", pid, name);
	r = fd_read_file(&a, own, MAP_BYTES_MAX, &map, err);
	if (r < 0)
		return r;
	if (same_map(map, text) < 0)
		return err_set(err, CORDON_E_INIT, 0, "namespaces", "%s: not a map of ids", own);
	fd = open(theirs, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, CORDON_E_INIT, errno, "namespaces", "cannot open %s", theirs);
	*ret_fd = fd;
	return 0;
}

/* The kernel takes a map once, and in one write only. */
static int write_map(int fd, const char *name, const struct buf *text, struct cordon_error *err)
{
	if (write(fd, text->p, text->n) == (ssize_t)text->n)
		return 0;
	return err_set(err, CORDON_E_INIT, errno, "namespaces", "cannot write the %s", name);
}

/* Both are open before one is written. The process may end at any moment, and from then on
 * only the system's root can open them; what is open can be written all the same. */
int idmap_write(void *data, pid_t pid, struct cordon_error *err)
{
	autobuf struct buf uids = buf_make(MAP_BYTES_MAX), gids = buf_make(MAP_BYTES_MAX);
	autoclose int uid_map = -1, gid_map = -1;
	int r = open_map(pid, "uid_map", &uids, &uid_map, err);

	(void)data;
	if (r == 0)
		r = open_map(pid, "gid_map", &gids, &gid_map, err);
	if (r == 0)
		r = write_map(uid_map, "uid_map", &uids, err);
	return r < 0 ? r : write_map(gid_map, "gid_map", &gids, err);
}
