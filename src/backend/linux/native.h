/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native boundary: namespaces, mounts, Landlock and seccomp from one plan.
 *
 * The parent turns the plan into a `struct native`: flat arrays of steps with every
 * path spelled out, nothing left to decide. The child carries the steps out in the
 * order below (DESIGN 5.1) with raw system calls only. Any failure is one error record
 * and exit 125: never an exec that is less confined.
 *
 *  1. the plan is final: paths resolved, device and inode remembered   (native.c, steps.c)
 *  2. one clone into all namespaces                                    (spawn)
 *  3. id maps; non-dumpable; loopback up                               (setup.c)
 *  4. the file tree                                                    (mounts.c)
 *  5. limits, session, descriptors                                     (spawn, init.c)
 *  6. capabilities and no_new_privs, checked afterwards                (privileges.c)
 *  7. Landlock                                                         (landlock.c)
 *  8. seccomp, exec                                                    (init.c)
 */
#ifndef CORDON_BACKEND_LINUX_NATIVE_H
#define CORDON_BACKEND_LINUX_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/linux/seccomp.h"
#include "base/spawn.h"

struct caps;
struct launch;
struct launch_companion;
struct plan;

enum mount_kind {
	MOUNT_BIND,	/* shows `source` at `path` with `attributes` */
	MOUNT_VEIL,	/* covers `path` by something that cannot be opened */
	MOUNT_VEIL_DIR,	/* the same for a directory of which parts show */
	MOUNT_TMPFS,
	MOUNT_PROC,
	MOUNT_DEV,
	MOUNT_SYMLINK,
	MOUNT_RESOLVER,	/* covers `path` by a file that names the sandbox's name server */
	MOUNT_HOSTS,	/* covers `path` by a file that knows only localhost */
};

/* The devices every sandbox has. */
#define NATIVE_DEVICES(X) X(null) X(zero) X(full) X(random) X(urandom) X(tty)

struct mount_step {
	enum mount_kind kind;
	bool directory;		/* what `path` is */
	bool optional;		/* may be gone by now: nothing to hide then */
	bool make;		/* `path` is in a tree of the sandbox's own: make it */
	const char *path;	/* without the leading slash; "" is the root */
	const char *source;	/* bind: absolute path; symlink: target */
	const char *mode;	/* tmpfs: permissions, octal */
	const char *size;	/* tmpfs, dev: bytes; NULL: the kernel's default */
	const char *inodes;	/* the same for the number of files */
	uint64_t attributes;	/* MOUNT_ATTR_* */
	uint64_t dev, ino;	/* of the source; ino 0: not compared */
};

struct native_mounts {
	const struct mount_step *steps;
	size_t n_steps;
	int *trees;		/* one descriptor a step, filled by the child */
	bool host_root;		/* uid 0 inside may be the machine's */
	bool empty_root;	/* a tmpfs instead of the host's tree */
	uint64_t root_attributes;	/* of the host's tree */
};

struct landlock_step {
	const char *path;	/* absolute, in the sandbox's view */
	uint64_t access;	/* 0: only compared */
	bool optional;		/* may be gone by now */
	uint64_t dev, ino;	/* what it was when the policy was built; ino 0: not compared */
};

struct native_landlock {
	unsigned abi;		/* 0: none */
	uint64_t handled_fs;
	uint64_t handled_net;	/* no rule allows any of it */
	uint64_t scoped;
	bool streams; /* standard streams that are files may be opened again */
	const struct landlock_step *steps;	/* of the child */
	size_t n_steps;
	struct collector *collector;	/* of the parent's: see grants_expand */
	/* In the child: the ruleset that the parent made and where it says that its steps
	 * are done; 0: the child does all of it. */
	int ruleset_fd;
	int filled_fd;
};

/* Of each family: what more of them are made with (run/nursery.h). */
#define NATIVE_SOCKETS 2
/* Beside the families: sockets that hear what the kernel refuses (run/egress_udp.h). */
#define NATIVE_HEARS_FOUR 1
#define NATIVE_HEARS_SIX 3

struct native_route {
	unsigned char family, bits;
	uint8_t address[16];	/* IPv4 in the first four */
	bool assigned;		/* its first address is one that the sandbox has */
	bool optional;		/* there may be no IPv6 */
	const char *text;
};

#define NATIVE_FILTERS_MAX 7

#define NATIVE_STREAMS 3
#define NATIVE_PID_MAX "/proc/sys/kernel/pid_max"

struct native {
	const char *uid_map;	/* NULL: the parent writes the maps */
	const char *gid_map;
	bool loopback;
	bool resolver;		/* needs loopback and handover_fd */
	bool sockets;		/* are handed out; needs loopback and handover_fd */
	const struct native_route *routes;
	size_t n_routes;
	bool publishes;		/* servers of the command are reached from outside */
	bool pid_namespace;
	uint64_t keep_caps;
	bool no_setpcap;	/* nothing to lock the secure bits and bounding set with */
	struct native_mounts mounts;
	struct native_landlock landlock;
	/* Made once the former is enforced; then the command has this one on top. NULL: there is
	 * no such process and no such ruleset. */
	struct launch_companion *companion;
	struct native_landlock inner;
	const struct seccomp_program *filters[NATIVE_FILTERS_MAX];
	size_t n_filters;
	/* With a limit of memory: how many pages of System V shared memory there may be,
	 * and the filter for a kernel that does not let it be said. */
	const char *shm_pages;
	const struct seccomp_program *no_ipc;
	/* With a limit of processes: what pid_max becomes, and what it is outside. */
	const char *pid_max;
	const char *host_pid_max;
	const struct seccomp_program *listener; /* loaded after them; NULL: none */
	bool brokered;		/* hands its namespaces over; needs handover_fd */
	const char *private;	/* is handed over, for the workdir lies in it; NULL: none */
	bool new_keyring;
	int handover_fd;	/* in the child: the hand-over's inside; 0: none */
	/* Which of the standard streams are a terminal of the command's own; and in the
	 * child that terminal, and where init tells that the command was stopped. */
	unsigned terminal;
	int terminal_fd;
	int stop_fd;
	int status_fd;		/* in the child: where init writes the command's wait status */
	bool own_dev;		/* the mounts have devices of their own */
	bool is_null[NATIVE_STREAMS];	/* in init: it is opened again after the mounts */
	int originals[NATIVE_STREAMS]; /* in init: the streams that were opened again; 0: none */
	/* In init: the mount that they were opened on, if any, which nobody needs any more. To
	 * give it up takes the kernel longer than anything else here, so that is done while the
	 * command runs. */
	int streams_mount;
	struct spawn_request command;	/* program, argv, envp, cwd, rlimits */
};

static inline void native_add_filter(struct native *n, enum seccomp_filter filter)
{
	n->filters[n->n_filters++] = seccomp_program(filter, SECCOMP_ARCH_NATIVE);
}

/* The whole of steps 3 to 8 in the child; a spawn_request's `child`. */
CHILD_SAFE int native_child(void *data, int error_fd);
/* The same without namespaces and mounts: steps 6 to 8. */
CHILD_SAFE int native_child_alone(void *data, int error_fd);

/* The parts. Each returns 0, or a negative code after reporting to error_fd. */
CHILD_SAFE int native_setup(const struct native *n, int error_fd);
/* After the mounts. */
CHILD_SAFE int native_hand_over_private(const struct native *n, int error_fd);
CHILD_SAFE void native_limit_ipc(struct native *n);
CHILD_SAFE void native_limit_pids(const struct native *n);
CHILD_SAFE int native_start_resolver(const struct native *n, int error_fd);
CHILD_SAFE int native_open_egress(const struct native *n, int error_fd);
/* terminal.c: made here, made outside, and the command's part of it. */
CHILD_SAFE int native_open_terminal(struct native *n, int error_fd);
CHILD_SAFE int native_take_terminal(const struct native *n, int error_fd);
CHILD_SAFE int native_enter_foreground(const struct native *n, int error_fd);
CHILD_SAFE int native_mount(const struct native_mounts *m, int error_fd);
/* A directory that every system has and that is never the last to be needed: the place
 * where things are put together before they go where they belong. */
#define NATIVE_WORKBENCH "/dev"
/* Makes there what is shown instead of others: "f" and "d", empty and without permissions, and
 * with `resolver` the files "r" and "h" of the name server and the local host. */
CHILD_SAFE int native_make_veils(bool resolver);
/* A mount of its own of what is there, links not followed: a descriptor or -1. */
CHILD_SAFE int native_clone_tree(int dir, const char *path);
CHILD_SAFE int native_set_attributes(int tree, uint64_t attributes, unsigned flags);
/* The host's device nodes where they are, read-only in the mounts of this process. */
CHILD_SAFE int native_seal_devices(int error_fd);
/* In the host's mounts; in the sandbox's; and when the command has ended, so that the caller's
 * stream is where the command left it. */
CHILD_SAFE int native_seal_streams(struct native *n, int error_fd);
CHILD_SAFE int native_open_nulls(const struct native *n, int error_fd);
CHILD_SAFE void native_settle_streams(const struct native *n);
CHILD_SAFE int native_drop_privileges(const struct native *n, int error_fd);
/* Returns the ruleset's descriptor, -1 when there is no Landlock, or below -1 on
 * failure. */
CHILD_SAFE int native_landlock_ruleset(const struct native_landlock *l, int error_fd);
/* In the parent; and in the child, where it needs handover_fd. */
int native_prepare_companion(struct arena *a, struct native *n, struct launch *launch,
			     struct cordon_error *err);
CHILD_SAFE int native_start_companion(const struct native *n, int error_fd);
CHILD_SAFE int native_landlock_enforce(int ruleset, int error_fd);
/* In the parent: what the mount phase is to do. */
int native_prepare_mounts(struct arena *a, const struct plan *plan, const struct caps *caps,
			  struct native *n, struct cordon_error *err);
/* In the parent, before the clone: its own steps are carried out meanwhile. */
int native_landlock_share(struct native_landlock *l, struct launch *launch,
			  struct cordon_error *err);

/* For all parts: reports errno with what was being done and to what. */
CHILD_SAFE int native_fail(int error_fd, const char *stage, const char *what, const char *object);
/* The same for a path that is not what it was when the policy was built. */
CHILD_SAFE int native_fail_changed(int error_fd, const char *stage, const char *path);

#endif
