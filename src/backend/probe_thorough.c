/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thorough probe, for doctor: each capability that the cheap probe assumes is tried
 * for real in a child process of its own, which then ends.
 */
#include "backend/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/cgroup.h"
#include "backend/probe_in.h"
#include "base/fd.h"
#include "base/spawn.h"
#include "base/testing.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* One trial: namespaces to be in, and what to do there. */
struct trial {
	enum cap cap;
	uint64_t flags;
	CHILD_SAFE int (*try)(int error_fd);
};

static CHILD_SAFE int fail(int error_fd, const char *what)
{
	return spawn_child_fail(error_fd, CORDON_E_UNAVAILABLE, errno, "probe", what, NULL, NULL);
}

static CHILD_SAFE int try_nothing(int error_fd)
{
	(void)error_fd;
	return 0;
}

/* Ubuntu lets the clone succeed and then denies the capabilities: only a mount tells. */
static CHILD_SAFE int try_mount(int error_fd)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail(error_fd, "make / private");
	if (mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0)
		return fail(error_fd, "mount a tmpfs");
	return 0;
}

static CHILD_SAFE int try_proc(int error_fd)
{
	int r = try_mount(error_fd);

	if (r < 0)
		return r;
	if (mount("proc", "/tmp", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return fail(error_fd, "mount /proc");
	return 0;
}

static CHILD_SAFE int try_overlay(int error_fd)
{
	int r = try_mount(error_fd);

	if (r < 0)
		return r;
	if (mkdir("/tmp/u", 0700) < 0 || mkdir("/tmp/w", 0700) < 0 || mkdir("/tmp/m", 0700) < 0)
		return fail(error_fd, "make directories");
	if (mount("overlay", "/tmp/m", "overlay", 0,
		  "lowerdir=/usr,upperdir=/tmp/u,workdir=/tmp/w,userxattr") < 0)
		return fail(error_fd, "mount an overlay");
	return 0;
}

/* A filter that notifies of one number no program uses. */
static CHILD_SAFE int notify_fd(unsigned long flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0fffffff, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, &program);
}

static CHILD_SAFE int try_notify(int error_fd)
{
	return notify_fd(0) < 0 ? fail(error_fd, "install a notifying filter") : 0;
}

static CHILD_SAFE int try_notify_killable(int error_fd)
{
	return notify_fd(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) < 0
		       ? fail(error_fd, "install a filter with WAIT_KILLABLE_RECV")
		       : 0;
}

static CHILD_SAFE int try_notify_sync(int error_fd)
{
	int fd = notify_fd(0);

	if (fd < 0 ||
	    ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) < 0)
		return fail(error_fd, "ask for synchronous wake-up");
	return 0;
}

static const struct trial trials[] = {
	{ CAP_USERNS, CLONE_NEWUSER, try_nothing },
	{ CAP_MOUNTNS, CLONE_NEWUSER | CLONE_NEWNS, try_mount },
	{ CAP_PIDNS, CLONE_NEWUSER | CLONE_NEWPID, try_nothing },
	{ CAP_NETNS, CLONE_NEWUSER | CLONE_NEWNET, try_nothing },
	{ CAP_IPCNS, CLONE_NEWUSER | CLONE_NEWIPC, try_nothing },
	{ CAP_UTSNS, CLONE_NEWUSER | CLONE_NEWUTS, try_nothing },
	{ CAP_CGROUPNS, CLONE_NEWUSER | CLONE_NEWCGROUP, try_nothing },
	{ CAP_PROC_FRESH, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, try_proc },
	{ CAP_OVERLAY, CLONE_NEWUSER | CLONE_NEWNS, try_overlay },
	{ CAP_NOTIFY, 0, try_notify },
	{ CAP_NOTIFY_KILLABLE, 0, try_notify_killable },
	{ CAP_NOTIFY_SYNC, 0, try_notify_sync },
};

/* A trial with the maps that make its user namespace usable. */
struct attempt {
	const struct trial *trial;
	const char *uid_map;
	const char *gid_map;
};

static CHILD_SAFE int map_ids(const struct attempt *t, int error_fd)
{
	int r;

	if (!(t->trial->flags & CLONE_NEWUSER))
		return 0;
	r = spawn_child_write(error_fd, "probe", "/proc/self/setgroups", "deny");
	if (r == 0)
		r = spawn_child_write(error_fd, "probe", "/proc/self/uid_map", t->uid_map);
	return r < 0 ? r : spawn_child_write(error_fd, "probe", "/proc/self/gid_map", t->gid_map);
}

static CHILD_SAFE int trial_child(void *data, int error_fd)
{
	const struct attempt *t = data;
	int r = map_ids(t, error_fd);

	if (r == 0)
		r = t->trial->try(error_fd);
	if (r < 0)
		return r;
	_exit(0);
}

static int run_trial(struct arena *a, const struct trial *t, struct caps *caps)
{
	static char *const nothing[] = { NULL };
	struct attempt attempt = {
		.trial = t,
		.uid_map = arena_printf(a, "%u %u 1", geteuid(), geteuid()),
		.gid_map = arena_printf(a, "%u %u 1", getegid(), getegid()),
	};
	struct spawn_request request = {
		.program = cap_rows[t->cap].name, /* for messages: nothing is executed */
		.argv = nothing,
		.envp = nothing,
		.clone_flags = t->flags,
		.child = trial_child,
		.child_data = &attempt,
	};
	struct spawned child = { 0 };
	struct cordon_error why;
	int r;

	if (!attempt.uid_map || !attempt.gid_map)
		return -1;
	r = spawn_start(&request, &child, &why);
	if (r == 0) {
		r = spawn_wait(&child, &why);
		spawn_discard(&child);
	}
	caps->assumed[t->cap] = false;
	caps->value[t->cap] = r == 0;
	if (r == 0)
		return 0;
	caps->why[t->cap] = arena_dup(a, str_of(why.message));
	return caps->why[t->cap] ? 0 : -1;
}

int probe_listener(struct arena *a, struct caps *caps)
{
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		if (trials[i].cap == CAP_NOTIFY && run_trial(a, &trials[i], caps) < 0)
			return -1;
	if (!caps->value[CAP_NOTIFY])
		caps->value[CAP_NOTIFY_KILLABLE] = caps->value[CAP_NOTIFY_SYNC] = 0;
	return 0;
}

/* The reason behind a missing user namespace, where a setting of the machine tells. */
static void explain_userns(struct arena *a, struct caps *caps)
{
	if (caps->value[CAP_USERNS] && caps->value[CAP_MOUNTNS])
		return;
	if (probe_sysctl(a, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0))
		caps->why[CAP_USERNS] =
			"AppArmor restricts unprivileged user namespaces (to lift that: sysctl -w "
			"kernel.apparmor_restrict_unprivileged_userns=0)";
	else if (!probe_sysctl(a, "/proc/sys/user/max_user_namespaces", 1))
		caps->why[CAP_USERNS] =
			"user.max_user_namespaces is 0 (to lift that: sysctl -w "
			"user.max_user_namespaces=15000)";
	else if (!probe_sysctl(a, "/proc/sys/kernel/unprivileged_userns_clone", 1))
		caps->why[CAP_USERNS] =
			"kernel.unprivileged_userns_clone is 0 (to lift that: sysctl -w "
			"kernel.unprivileged_userns_clone=1)";
}

static void probe_cgroup2(struct arena *a, struct caps *caps)
{
	caps->assumed[CAP_CGROUP2] = false;
	caps->value[CAP_CGROUP2] = cgroup_find(a) != NULL;
	if (!caps->value[CAP_CGROUP2])
		caps->why[CAP_CGROUP2] = "no cgroup v2 subtree is delegated to this user";
}

int probe_thorough(struct arena *a, struct str workdir, const char *path_env, struct caps *ret,
		   struct cordon_error *err)
{
	const char *mask = testing_value("CORDON_CAPS_MASK");
	int r = probe_cheap(a, workdir, path_env, ret, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		if (run_trial(a, &trials[i], ret) < 0)
			return err_nomem(err, "probe");
	explain_userns(a, ret);
	probe_cgroup2(a, ret);
	return mask ? caps_mask(ret, str_of(mask), err) : 0;
}
