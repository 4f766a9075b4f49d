/* SPDX-License-Identifier: Apache-2.0 */
/* Taking calls apart. */
#include "run/request.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/linux_compat.h"

#define NONE (-1)

static const struct call_row rows[] = {
#define GUARDED_CALL(name, kind, ...) { __NR_##name, #name, CALL_##kind, __VA_ARGS__ },
#include "run/calls.def"
#undef GUARDED_CALL
};

uint64_t request_argument(const struct request *q, int i)
{
	return i == NONE ? 0 : q->call->data.args[i];
}

/* The kernel takes the low word of a descriptor. */
static int dirfd_argument(const struct request *q, int i)
{
	return i == NONE ? AT_FDCWD : (int)(uint32_t)q->call->data.args[i];
}

static const struct call_row *row_of(int nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

const char *request_call_name(int nr)
{
	const struct call_row *row = row_of(nr);

	return row ? row->name : "a system call";
}

bool request_init(struct request *q, const struct seccomp_notif *call, struct target_view *view)
{
	const struct call_row *row = row_of(call->data.nr);

	if (!row)
		return false;
	q->call = call;
	q->row = row;
	q->target = (struct target){ .view = view, .tid = (pid_t)call->pid };
	q->dirfd = dirfd_argument(q, row->dirfd);
	q->from_dirfd = dirfd_argument(q, row->from_dirfd);
	q->flags = (uint32_t)request_argument(q, row->flags);
	q->path_n = q->from_n = 0;
	return true;
}

void request_is_open(struct request *q, uint64_t flags)
{
	q->row = row_of(SYS_openat);
	q->flags = flags;
}

/* The path of a unix socket. Returns its length, 0 when it is no such thing. */
static ssize_t read_address(const struct request *q, char path[PATH_MAX])
{
	struct sockaddr_un address = { 0 };
	size_t n = q->flags, most = sizeof(address.sun_path);
	int r;

	if (n > sizeof(address))
		return 0;
	r = target_read(q->target.tid, request_argument(q, q->row->path), &address, n);
	if (r < 0)
		return r;
	if (n <= offsetof(struct sockaddr_un, sun_path) || address.sun_family != AF_UNIX ||
	    !address.sun_path[0])
		return 0;
	n = strnlen(address.sun_path, most);
	memcpy(path, address.sun_path, n);
	path[n] = '\0';
	return (ssize_t)n;
}

/* Times of an open file are changed by a call whose path is NULL. */
static bool has_no_path(const struct request *q)
{
	return (q->row->kind == CALL_CHANGE || q->row->kind == CALL_CHANGE_OPEN) &&
	       !request_argument(q, q->row->path);
}

bool request_is_by_descriptor(const struct request *q)
{
	return has_no_path(q) ||
	       (q->row->kind == CALL_CHANGE && !q->path_n && q->flags & AT_EMPTY_PATH);
}

int request_read(struct request *q)
{
	struct target_string strings[TARGET_STRINGS_MAX] = {
		{ request_argument(q, q->row->path), q->path, 0 },
		{ request_argument(q, q->row->from_path), q->from, 0 },
	};

	q->path[0] = '\0';
	if (has_no_path(q))
		return 0;
	if (q->row->kind == CALL_BIND || q->row->kind == CALL_CONNECT)
		strings[0].n = read_address(q, q->path);
	else
		target_read_strings(q->target.tid, strings, q->row->from_path == NONE ? 1 : 2);
	if (strings[0].n < 0 || strings[1].n < 0)
		return (int)(strings[0].n < 0 ? strings[0].n : strings[1].n);
	q->path_n = (size_t)strings[0].n;
	q->from_n = (size_t)strings[1].n;
	return 0;
}

static bool has_dots(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2)
		if ((at == path || at[-1] == '/') && (at[2] == '/' || !at[2]))
			return true;
	return false;
}

bool request_resolves_plainly(struct request *q, uint64_t resolve)
{
	bool below = resolve & (RESOLVE_IN_ROOT | RESOLVE_BENEATH);
	size_t slashes = resolve & RESOLVE_IN_ROOT ? strspn(q->path, "/") : 0;
	int r;

	if (!below && !(resolve & RESOLVE_NO_SYMLINKS))
		return true;
	q->path_n -= slashes;
	memmove(q->path, q->path + slashes, q->path_n + 1);
	if (below && (q->path[0] == '/' || has_dots(q->path)))
		return false;
	r = target_walk_without_links(&q->target, q->dirfd, q->path);
	/* Where something covers the rest there was no link until then. */
	return r == 0 || r == -ENOENT || r == -EACCES;
}

bool request_is_watched(const struct request *q)
{
	if (q->row->kind == CALL_OPEN)
		return !(q->flags & (O_ACCMODE | O_CREAT | O_TRUNC));
	return q->row->kind >= CALL_REMOVE;
}

bool request_is_nameless(const struct request *q)
{
	return q->row->kind == CALL_OPEN && (q->flags & O_TMPFILE) == O_TMPFILE;
}

bool request_follows(const struct request *q)
{
	switch (q->row->kind) {
	case CALL_OPEN:
		return !(q->flags & O_NOFOLLOW) && !(q->flags & O_CREAT && q->flags & O_EXCL);
	case CALL_CHANGE:
	case CALL_EXEC:
		return !(q->flags & AT_SYMLINK_NOFOLLOW);
	case CALL_CREAT:
	case CALL_CONNECT:
		return true;
	case CALL_OPENAT2:
	case CALL_MKDIR:
	case CALL_MAKE:
	case CALL_LINK:
	case CALL_RENAME:
	case CALL_BIND:
	case CALL_REMOVE:
	case CALL_CHANGE_LINK:
	case CALL_CHANGE_OPEN:
	case CALL_CHDIR:
		return false;
	}
	return false;
}

bool request_creates_through_link(const struct request *q)
{
	return q->row->kind == CALL_CREAT ||
	       (q->row->kind == CALL_OPEN && q->flags & O_CREAT && request_follows(q));
}

/* Numbers cannot be changed behind our back, other than what a pointer leads to, as the flags of
 * openat2: what an open does not make by its flags it does not make. Only those that write get
 * here otherwise. */
bool request_makes(const struct request *q, enum inflight_kind *ret)
{
	switch (q->row->kind) {
	case CALL_MKDIR:
		*ret = INFLIGHT_DIR;
		return true;
	case CALL_LINK:
	case CALL_RENAME:
		*ret = INFLIGHT_MOVE;
		return true;
	case CALL_OPEN:
		*ret = q->flags & O_CREAT || q->call->data.nr == SYS_openat2 ? INFLIGHT_FILE
									     : INFLIGHT_OPEN;
		return true;
	case CALL_OPENAT2:
	case CALL_CREAT:
		*ret = INFLIGHT_FILE;
		return true;
	case CALL_MAKE:
	case CALL_BIND:
		*ret = INFLIGHT_NODE;
		return true;
	case CALL_REMOVE:
	case CALL_CHANGE:
	case CALL_CHANGE_LINK:
	case CALL_CHANGE_OPEN:
	case CALL_EXEC:
	case CALL_CHDIR:
	case CALL_CONNECT:
		break;
	}
	return false;
}
