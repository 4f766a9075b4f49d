/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a git configuration for the command. */
#include "run/git_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/git_edit.h"

#define NAME "/config"

struct content {
	char bytes[GIT_EDIT_BYTES_MAX + 1];
	size_t n;
};

const struct op *git_rewrite_target(const struct plan *plan, struct str path)
{
	if (!str_ends(path, STR(NAME)))
		return NULL;
	vec_each(op, &plan->ops)
		if (op->kind == OP_BIND_RO && !op->lost && op->rule && op->rule->set &&
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

static int write_all(int fd, const struct content *c)
{
	for (size_t done = 0; done < c->n;) {
		ssize_t n = pwrite(fd, c->bytes + done, c->n - done, (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return ftruncate(fd, (off_t)c->n) < 0 ? -errno : 0;
}

/* All of it, or what was there: room is made first. */
static int replace(int fd, const struct content *was, const struct content *wanted)
{
	int r = 0;

	if (wanted->n && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)wanted->n) < 0)
		r = errno == EOPNOTSUPP ? 0 : -errno;
	if (r == 0)
		r = write_all(fd, wanted);
	if (r < 0)
		write_all(fd, was);
	return r;
}

int git_rewrite(const struct op *target, int dir, const char *name)
{
	autoclose int fd = open(target->path.p, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct content was, wanted;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* What was put in its place on the host is not what is protected. */
	if (st.st_dev != target->node.dev || st.st_ino != target->node.ino)
		return -EPERM;
	r = read_all(fd, &was);
	if (r == 0)
		r = read_lock(dir, name, &wanted);
	if (r == 0 && !git_edit_is_harmless(text_of(&was), text_of(&wanted)))
		r = -EPERM;
	return r < 0 ? r : replace(fd, &was, &wanted);
}
