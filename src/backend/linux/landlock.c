/* SPDX-License-Identifier: Apache-2.0 */
/* Step 7, in the child: the ruleset from the steps the parent wrote down. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/native.h"
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

/* Every path is a real one: a link anywhere in it was put there meanwhile, and would have
 * something else granted. */
static CHILD_SAFE int open_real(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof(how));
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

static CHILD_SAFE int add_step(int ruleset, const struct landlock_step *step, int error_fd)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = step->access };
	int r = 0;

	rule.parent_fd = open_real(step->path);
	if (rule.parent_fd < 0)
		return step->optional ? 0 : native_fail(error_fd, STAGE, "cannot open", step->path);
	if (!is_the_same(step, rule.parent_fd))
		return native_fail_changed(error_fd, STAGE, step->path);
	if (rule.allowed_access &&
	    syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		r = native_fail(error_fd, STAGE, "cannot add a rule for", step->path);
	close(rule.parent_fd);
	return r;
}

CHILD_SAFE int native_landlock_ruleset(const struct native_landlock *l, int error_fd)
{
	struct ruleset_attr attr = {
		.handled_access_fs = l->handled_fs,
		.handled_access_net = l->handled_net,
		.scoped = l->scoped,
	};
	int ruleset;

	if (!l->abi)
		return -1;
	ruleset = (int)syscall(__NR_landlock_create_ruleset, &attr, attr_size(l->abi), 0);
	if (ruleset < 0) {
		native_fail(error_fd, STAGE, "cannot create a ruleset", NULL);
		return -2;
	}
	for (size_t i = 0; i < l->n_steps; i++)
		if (add_step(ruleset, &l->steps[i], error_fd) < 0)
			return -2;
	return ruleset;
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
