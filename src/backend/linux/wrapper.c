/* SPDX-License-Identifier: Apache-2.0 */
/* The mount namespace around bubblewrap. */
#include "backend/linux/wrapper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/native.h"

static bool may_mount(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	return syscall(SYS_capget, &header, data) == 0 &&
	       data[0].effective & 1u << CAP_SYS_ADMIN;
}

/* For root, where it can be done. */
static bool is_wrapped(const struct caps *caps)
{
	return geteuid() == 0 && caps->value[CAP_MOUNTNS] && caps->value[CAP_OPEN_TREE] &&
	       caps->value[CAP_MOUNT_SETATTR] && may_mount();
}

bool wrapper_keeps_metadata(const struct caps *caps)
{
	return geteuid() != 0 || is_wrapped(caps);
}

#define PASSES_MODES (1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH)

/* The first directory above the path that cannot be searched now: whose is it? Its owner could
 * open it to himself. */
static bool is_closed_by_other(struct str path)
{
	char dir[PATH_MAX];
	struct stat st;

	for (size_t i = 1; i < path.n && path.n < sizeof(dir); i++) {
		if (path.p[i] != '/')
			continue;
		memcpy(dir, path.p, i);
		dir[i] = '\0';
		if (faccessat(AT_FDCWD, dir, X_OK, AT_EACCESS) == 0)
			continue;
		return errno == EACCES && stat(dir, &st) == 0 && st.st_uid != geteuid();
	}
	return false;
}

bool wrapper_reaches(struct str path)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct full[2], less[2];
	bool closed;

	if (geteuid() != 0 || syscall(SYS_capget, &header, full) < 0)
		return true;
	memcpy(less, full, sizeof(less));
	less[0].effective &= ~PASSES_MODES;
	if (syscall(SYS_capset, &header, less) < 0)
		return true;
	closed = is_closed_by_other(path);
	return syscall(SYS_capset, &header, full) < 0 || !closed;
}

bool wrapper_is_alone(void)
{
	return getauxval(AT_BASE) == 0;
}

/* What is mounted on the host meanwhile still shows, as bubblewrap has it. */
static CHILD_SAFE int become_wrapper(void *data, int error_fd)
{
	struct native *n = data;
	int r;

	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return native_fail(error_fd, "mount", "cannot make private", "/");
	r = native_seal_devices(error_fd);
	if (r == 0)
		r = native_seal_streams(n, error_fd);
	if (r == 0)
		r = spawn_child_enter(&n->command, error_fd);
	return r < 0 ? r : spawn_child_exec(&n->command, error_fd);
}

int wrapper_prepare(struct arena *a, const struct caps *caps, struct launch *launch,
		    struct cordon_error *err)
{
	struct native *n;

	launch->bare_streams = !is_wrapped(caps);
	if (launch->bare_streams)
		return 0;
	n = arena_new(a, struct native);
	if (!n)
		return err_nomem(err, "bwrap");
	launch->clone_flags = CLONE_NEWNS;
	launch->child = become_wrapper;
	launch->child_data = n;
	launch->command = &n->command;
	return 0;
}
