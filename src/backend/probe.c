/* SPDX-License-Identifier: Apache-2.0 */
/* The cheap probe: questions the kernel answers at once. */
#include "backend/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/probe_in.h"
#include "base/fd.h"
#include "base/installed.h"
#include "base/num.h"
#include "base/path.h"
#include "base/testing.h"

/* A call that exists answers bad arguments with anything but ENOSYS. */
static bool call_exists(long number)
{
	return syscall(number, -1, NULL, -1, NULL, 0, 0) >= 0 || errno != ENOSYS;
}

static uint32_t landlock_abi(void)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (uint32_t)abi : 0;
}

/* Writes where it has taken every right to write from itself: what does that all the same is not
 * held back by it. */
static bool writes_past_landlock(void)
{
	struct landlock_ruleset_attr handled = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE,
	};
	int rules = (int)syscall(__NR_landlock_create_ruleset, &handled, sizeof(handled), 0);

	return rules >= 0 && syscall(__NR_landlock_restrict_self, rules, 0) == 0 &&
	       open("/dev/null", O_WRONLY | O_CLOEXEC) >= 0;
}

/* A broker around cordon carries calls out itself, outside whatever domain the caller is in. */
static bool landlock_is_passed_by(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(writes_past_landlock());
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return true;
	return child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool seccomp_has_action(uint32_t action)
{
	return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* bubblewrap from an absolute PATH entry, and not from where the command may write. */
static const char *find_bwrap(struct arena *a, struct str workdir, const char *path_env)
{
	struct str rest = str_of(path_env ? path_env : "/usr/bin:/bin"), dir;
	bool more = true;

	while (more) {
		char *real;
		const char *path, *copy;
		struct stat st;

		more = str_cut(rest, ':', &dir, &rest);
		if (!dir.n || dir.p[0] != '/')
			continue;
		path = arena_printf(a, "%.*s/bwrap", STR_ARG(dir));
		if (!path || access(path, X_OK) < 0)
			continue;
		real = realpath(path, NULL);
		if (!real)
			continue;
		copy = arena_dup(a, str_of(real));
		free(real);
		if (!copy || path_below(str_of(copy), workdir))
			continue;
		if (stat(copy, &st) == 0 && S_ISREG(st.st_mode))
			return copy;
	}
	return NULL;
}

static void find_relay(struct arena *a, struct caps *caps)
{
	const char *places = CORDON_LIBEXEC;

	caps->relay_path = installed_find(a, "cordon-relay", X_OK, &places);
	caps->value[CAP_RELAY] = caps->relay_path != NULL;
	if (!caps->relay_path)
		caps->why[CAP_RELAY] = arena_printf(a, "no cordon-relay in %s", places);
}

/* A number in a file of /proc/sys; `missing` when there is no such file. */
uint64_t probe_sysctl(struct arena *a, const char *path, uint64_t missing)
{
	struct cordon_error ignored;
	struct str text, line, rest;
	uint64_t value;

	if (fd_read_file(a, path, 64, &text, &ignored) < 0)
		return missing;
	str_cut(text, '\n', &line, &rest);
	return num_parse_u64(line, UINT64_MAX, &value) ? value : missing;
}

/* Not tried here: a start should not pay for what nearly always works, and the finer
 * points of notification only show once a filter is in place. */
static void assume_namespaces(struct caps *caps)
{
	static const enum cap assumed[] = { CAP_USERNS,	  CAP_MOUNTNS,	  CAP_PIDNS,
					    CAP_NETNS,	  CAP_IPCNS,	  CAP_UTSNS,
					    CAP_CGROUPNS, CAP_PROC_FRESH, CAP_OVERLAY,
					    CAP_CGROUP2 };

	for (size_t i = 0; i < sizeof(assumed) / sizeof(assumed[0]); i++) {
		caps->value[assumed[i]] = 1;
		caps->assumed[assumed[i]] = true;
	}
}

/* A filter around this process (a container's, or cordon's own) answers before the
 * kernel finds that one of these flags makes no sense. */
static bool namespaces_filtered(void)
{
	return syscall(__NR_unshare, CLONE_NEWUSER | 1) < 0 && errno == EPERM;
}

bool probe_knows(enum cap cap)
{
	return cap != CAP_SANDBOX_EXEC;
}

bool probe_confined(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

int probe_cheap(struct arena *a, struct str workdir, const char *path_env, struct caps *ret,
		struct cordon_error *err)
{
	struct caps caps = { 0 };
	const char *mask = testing_value("CORDON_CAPS_MASK");

	assume_namespaces(&caps);
	caps.value[CAP_LANDLOCK] = landlock_abi();
	caps.value[CAP_SECCOMP] = seccomp_has_action(SECCOMP_RET_ERRNO);
	caps.value[CAP_NOTIFY] = seccomp_has_action(SECCOMP_RET_USER_NOTIF);
	caps.value[CAP_NOTIFY_KILLABLE] = caps.value[CAP_NOTIFY_SYNC] = caps.value[CAP_NOTIFY];
	caps.assumed[CAP_NOTIFY_KILLABLE] = caps.assumed[CAP_NOTIFY_SYNC] = true;
	caps.value[CAP_LOOK] = probe_sysctl(a, "/proc/sys/kernel/yama/ptrace_scope", 0) == 0;
	caps.value[CAP_OPENAT2] = call_exists(__NR_openat2);
	caps.value[CAP_OPEN_TREE] = call_exists(__NR_open_tree);
	caps.value[CAP_MOUNT_SETATTR] = call_exists(__NR_mount_setattr);
	caps.value[CAP_PIDFD] = call_exists(__NR_pidfd_open);
	caps.value[CAP_CLONE3] = call_exists(__NR_clone3);
	/* A range that holds no descriptor. */
	caps.value[CAP_CLOSE_RANGE] = syscall(__NR_close_range, ~0u, ~0u, 0) == 0;
	caps.inside = getenv(LAUNCH_INSIDE) && probe_confined();
	if (caps.value[CAP_LANDLOCK] && probe_confined() && landlock_is_passed_by()) {
		caps.value[CAP_LANDLOCK] = 0;
		caps.why[CAP_LANDLOCK] = "the broker of the run around cordon acts outside of it";
	}
	if (namespaces_filtered()) {
		caps.value[CAP_USERNS] = 0;
		caps.why[CAP_USERNS] = "a system call filter around cordon forbids namespaces";
	}
	if (caps.inside && caps.value[CAP_NOTIFY] && probe_listener(a, &caps) < 0)
		return err_nomem(err, "probe");
	caps.bwrap_path = find_bwrap(a, workdir, path_env);
	caps.value[CAP_BWRAP] = caps.bwrap_path != NULL;
	/* Only macOS has it; a program of that name here would confine nothing. */
	caps.sandbox_exec_path = testing_value("CORDON_SANDBOX_EXEC");
	caps.value[CAP_SANDBOX_EXEC] = caps.sandbox_exec_path != NULL;
	find_relay(a, &caps);
	*ret = caps;
	return mask ? caps_mask(ret, str_of(mask), err) : 0;
}
