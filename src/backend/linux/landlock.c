/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step 7: the ruleset from the steps the parent wrote down. Rules belong to files, not to
 * paths, so those that show the host's own files are added by the parent while the child
 * mounts; the others by the child, which alone sees what they are for.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/linux/grants.h"
#include "backend/linux/native.h"
#include "base/fd.h"
#include "base/linux_compat.h"

#define STAGE "landlock"

/* The kernel takes a longer structure whose unknown tail is zero from ABI 1 on. */
struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

static CHILD_SAFE size_t attr_size(unsigned abi)
{
	if (abi >= 6)
		return sizeof(struct ruleset_attr);
	return abi >= 4 ? offsetof(struct ruleset_attr, scoped)
			: offsetof(struct ruleset_attr, handled_access_net);
}

static CHILD_SAFE int open_next(int dir, const char *name, size_t n)
{
	char text[NAME_MAX + 1];
	struct stat st;
	int fd;

	if (n > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(text, name, n);
	text[n] = '\0';
	fd = openat(dir, text, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode)))
		return fd;
	close(fd);
	errno = ELOOP;
	return -1;
}

/* One name after the other: inside a cordon with a broker there is no openat2. */
static CHILD_SAFE int walk_real(const char *path)
{
	int next, fd = open("/", O_PATH | O_CLOEXEC);

	for (path += strspn(path, "/"); fd >= 0 && *path; path += strspn(path, "/")) {
		next = open_next(fd, path, strcspn(path, "/"));
		close(fd);
		fd = next;
		path += strcspn(path, "/");
	}
	return fd;
}

/* Every path is a real one: a link anywhere in it was put there meanwhile, and would have
 * something else granted. */
static CHILD_SAFE int open_real(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 && errno == ENOSYS ? walk_real(path) : fd;
}

/* So would another object in its place. */
static CHILD_SAFE bool is_the_same(const struct landlock_step *step, int fd)
{
	struct stat st;

	if (!step->ino)
		return true;
	if (fstat(fd, &st) < 0)
		return false;
	return st.st_dev == step->dev && st.st_ino == step->ino;
}

static const char changed[] = "was changed";

/* Returns what went wrong, with errno set; NULL: nothing. */
static CHILD_SAFE const char *add_step(int ruleset, const struct landlock_step *step)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = step->access };
	const char *wrong = NULL;

	rule.parent_fd = open_real(step->path);
	/* EACCES: nor may the command reach it, whose rights are these already: a directory of
	 * somebody else's for a root that has given up its capabilities. */
	if (rule.parent_fd < 0)
		return step->optional || errno == EACCES ? NULL : "cannot open";
	if (!is_the_same(step, rule.parent_fd))
		wrong = changed;
	else if (rule.allowed_access && syscall(__NR_landlock_add_rule, ruleset,
						LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		wrong = "cannot add a rule for";
	close(rule.parent_fd);
	return wrong;
}

static CHILD_SAFE int make_ruleset(const struct native_landlock *l)
{
	struct ruleset_attr attr = {
		.handled_access_fs = l->handled_fs,
		.handled_access_net = l->handled_net,
		.scoped = l->scoped,
	};

	return (int)syscall(__NR_landlock_create_ruleset, &attr, attr_size(l->abi), 0);
}

/* --- in the child --------------------------------------------------------------- */

static CHILD_SAFE int fail_step(const char *wrong, const char *path, int error_fd)
{
	return wrong == changed ? native_fail_changed(error_fd, STAGE, path)
				: native_fail(error_fd, STAGE, wrong, path);
}

/* What was opened with this mode; appending is not a right of Landlock's. */
static CHILD_SAFE uint64_t rights_of(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || flags & (O_PATH | O_APPEND) || fstat(fd, &st) < 0 ||
	    !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
		return 0;
	switch (flags & O_ACCMODE) {
	case O_RDONLY:
		return LANDLOCK_ACCESS_FS_READ_FILE;
	case O_WRONLY:
		return LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE;
	case O_RDWR:
		return LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
		       LANDLOCK_ACCESS_FS_TRUNCATE;
	default:
		return 0;
	}
}

/* What the command is given may be opened once more (/dev/stdout), in the way
 * they are open already. */
static CHILD_SAFE int add_streams(const struct native_landlock *l, int ruleset)
{
	for (int fd = STDIN_FILENO; l->streams && fd <= STDERR_FILENO; fd++) {
		struct landlock_path_beneath_attr rule = {
			.allowed_access = rights_of(fd) & l->handled_fs,
			.parent_fd = fd,
		};

		/* EBADFD: a file that is in no file system, which Landlock lets be. */
		if (rule.allowed_access &&
		    syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule,
			    0) < 0 &&
		    errno != EBADFD)
			return -1;
	}
	return 0;
}

/* Until the parent has added its rules. */
static CHILD_SAFE int wait_for_parent(int fd, int error_fd)
{
	char done;
	ssize_t n;

	if (!fd)
		return 0;
	do
		n = read(fd, &done, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1) {
		close(fd);
		return 0;
	}
	errno = n == 0 ? EPIPE : errno;
	return native_fail(error_fd, STAGE, "cannot wait for", "the rest of the ruleset");
}

CHILD_SAFE int native_landlock_ruleset(const struct native_landlock *l, int error_fd)
{
	int ruleset = l->ruleset_fd;

	if (!l->abi)
		return -1;
	if (!ruleset)
		ruleset = make_ruleset(l);
	if (ruleset < 0) {
		native_fail(error_fd, STAGE, "cannot create a ruleset", NULL);
		return -2;
	}
	for (size_t i = 0; i < l->n_steps; i++) {
		const struct landlock_step *step = &l->steps[i];
		const char *wrong = add_step(ruleset, step);

		if (wrong) {
			fail_step(wrong, step->path, error_fd);
			return -2;
		}
	}
	if (add_streams(l, ruleset) < 0) {
		native_fail(error_fd, STAGE, "cannot add a rule for", "the standard streams");
		return -2;
	}
	return wait_for_parent(l->filled_fd, error_fd) < 0 ? -2 : ruleset;
}

static CHILD_SAFE int fail_to_enforce(int error_fd)
{
	if (errno != E2BIG)
		return native_fail(error_fd, STAGE, "cannot enforce the ruleset", NULL);
	return spawn_child_fail(error_fd, CORDON_E_INIT, errno, STAGE,
				"too many sandboxes inside each other", NULL,
				"the kernel allows 16 layers of Landlock; run cordon further out");
}

CHILD_SAFE int native_landlock_enforce(int ruleset, int error_fd)
{
	if (ruleset < 0)
		return 0;
	if (syscall(__NR_landlock_restrict_self, ruleset, 0) < 0)
		return fail_to_enforce(error_fd);
	close(ruleset);
	return 0;
}

/* --- in the parent -------------------------------------------------------------- */

static int fill(struct launch *launch, struct cordon_error *err)
{
	const struct native *n = launch->child_data;
	const struct landlock_step *steps;
	size_t count;
	int r = grants_expand(&n->landlock, &steps, &count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		const char *wrong = add_step(launch->ruleset_fd, &steps[i]);

		if (wrong)
			return err_set(err, CORDON_E_INIT, errno, STAGE, "%s %s", wrong,
				       steps[i].path);
	}
	/* A child that is gone has said why. */
	if (send(launch->filled_fd, "", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE)
		return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot tell the child");
	fd_close(&launch->ruleset_fd);
	fd_close(&launch->filled_fd);
	return 0;
}

static int share_ruleset(struct native_landlock *l, struct launch *launch, struct cordon_error *err)
{
	int theirs;

	launch->ruleset_fd = make_ruleset(l);
	if (launch->ruleset_fd < 0)
		return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot create a ruleset");
	theirs = fcntl(launch->ruleset_fd, F_DUPFD_CLOEXEC, 3);
	if (theirs < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, STAGE, "cannot share the ruleset");
	l->ruleset_fd = launch_add_fd(launch, theirs, err);
	return l->ruleset_fd < 0 ? l->ruleset_fd : 0;
}

int native_landlock_share(struct native_landlock *l, struct launch *launch,
			  struct cordon_error *err)
{
	int pair[2], r;

	if (!l->abi)
		return 0;
	r = share_ruleset(l, launch, err);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, STAGE, "cannot make a socket pair");
	launch->filled_fd = pair[0];
	launch->meanwhile = fill;
	l->filled_fd = launch_add_fd(launch, pair[1], err);
	return l->filled_fd < 0 ? l->filled_fd : 0;
}
