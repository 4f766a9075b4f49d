/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a git configuration for the command. */
#include "run/git_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/git_edit.h"

#define PAGE_BYTES 4096

struct content {
	char bytes[GIT_EDIT_BYTES_MAX + 1];
	size_t n;
};

const struct op *git_rewrite_target(const struct plan *plan, struct str path)
{
	if (!str_ends(path, STR(GIT_REWRITE_NAME)))
		return NULL;
	vec_each(op, &plan->ops)
		if (op->kind == OP_BIND_RO && op->rule && op->rule->set &&
		    op->node.type == NODE_FILE && str_eq(op->path, path) &&
		    str_eq(op->path, op->source))
			return strcmp(op->rule->set, "git-control") == 0 ||
					       strcmp(op->rule->set, "control") == 0
				       ? op
				       : NULL;
	return NULL;
}

static struct str text_of(const struct content *c)
{
	return (struct str){ c->bytes, c->n };
}

static int read_all(int fd, struct content *ret)
{
	ssize_t n = 1;

	for (ret->n = 0; n > 0 && ret->n < sizeof(ret->bytes); ret->n += (size_t)n) {
		n = pread(fd, ret->bytes + ret->n, sizeof(ret->bytes) - ret->n, (off_t)ret->n);
		if (n < 0)
			return -errno;
	}
	return ret->n > GIT_EDIT_BYTES_MAX ? -EPERM : 0;
}

static int read_lock(int dir, const char *name, struct content *ret)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? read_all(fd, ret) : -EPERM;
}

/* At the end and within one page: the length grows after the bytes are there, so whoever
 * reads it meanwhile sees all of it or none. */
static int append(int fd, const struct content *was, struct str added)
{
	ssize_t n;

	if (was->n % PAGE_BYTES + added.n > PAGE_BYTES)
		return -EPERM;
	n = pwrite(fd, added.p, added.n, (off_t)was->n);
	if (n == (ssize_t)added.n)
		return 0;
	return n >= 0 && ftruncate(fd, (off_t)was->n) == 0 ? -ENOSPC : -EIO;
}

/* 0: it is unset and set again as it was, which takes no writing. */
static int unset(struct git_unset *u, const struct op *target, struct str was, struct str wanted)
{
	size_t line;

	switch (git_edit_merge(was, wanted, &line)) {
	case GIT_EDIT_OTHER:
		return -EPERM;
	case GIT_EDIT_UNSETS:
		if (u->target)
			u->refused = u->target;
		u->target = target;
		u->line = line;
		return 0;
	case GIT_EDIT_REPEATS:
		if (u->target == target && u->line == line)
			u->target = NULL;
		return 0;
	}
	return -EPERM;
}

void git_rewrite_end(struct git_unset *u, struct violations *violations)
{
	const struct op *refused = u->target ? u->target : u->refused;
	struct violation v = { .op = VIOLATION_write, .source = VIOLATION_BY_notify };

	if (!refused)
		return;
	v.object = refused->path;
	v.rule = refused->rule;
	violations_add(violations, &v);
	*u = (struct git_unset){ 0 };
}

int git_rewrite(struct git_unset *u, const struct op *target, int dir, const char *name)
{
	autoclose int fd = open(target->path.p, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct content was, wanted;
	struct str added;
	struct stat st;
	int r;

	/* Of two runs in the same place one writes. */
	if (fd < 0 || fstat(fd, &st) < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	/* What was put in its place on the host is not what is protected. */
	if (st.st_dev != target->node.dev || st.st_ino != target->node.ino)
		return -EPERM;
	r = read_all(fd, &was);
	if (r == 0)
		r = read_lock(dir, name, &wanted);
	if (r < 0 || str_eq(text_of(&was), text_of(&wanted)))
		return r;
	if (!git_edit_is_harmless(text_of(&was), text_of(&wanted), &added))
		return unset(u, target, text_of(&was), text_of(&wanted));
	return append(fd, &was, added);
}
