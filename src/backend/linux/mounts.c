/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step 4, in the child: the file tree.
 *
 * First a descriptor is opened for everything that will be shown, while the host's tree
 * is still in its place; what was resolved before the clone is compared by device and
 * inode, so a path that was swapped meanwhile ends the run. Then the tree is changed:
 * the host's root becomes read-only where it is (or a tmpfs takes its place), and the
 * steps are carried out in the order of the plan.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/native.h"
#include "base/fd.h"
#include "base/linux_compat.h"

#define STAGE "mount"
#define MNT_DETACH 2

static const struct {
	const char *name;
	const char *path;
} device_nodes[] = {
#define DEVICE(name) { #name, "/dev/" #name },
	NATIVE_DEVICES(DEVICE)
#undef DEVICE
};
#define DEVICES (sizeof(device_nodes) / sizeof(device_nodes[0]))

static const struct {
	const char *name;
	const char *target;
} device_links[] = {
	{ "fd", "/proc/self/fd" },	 { "stdin", "/proc/self/fd/0" },
	{ "stdout", "/proc/self/fd/1" }, { "stderr", "/proc/self/fd/2" },
	{ "ptmx", "pts/ptmx" },
};

enum { ALL, ROOT };
static const struct {
	const char *path;
	int who;
} proc_seals[] = {
#define PROC_SEAL(name, who) { "proc/" name, who },
#include "backend/proc_covers.def"
};

struct mounter {
	const struct native_mounts *m;
	int error_fd;
	int root; /* of the tree being made */
	int proc; /* the sandbox's own, until it is attached; -1: none */
	int devices[DEVICES];
};

static CHILD_SAFE int fail(const struct mounter *w, const char *what, const char *object)
{
	return native_fail(w->error_fd, STAGE, what, object);
}

CHILD_SAFE int native_clone_tree(int dir, const char *path)
{
	return (int)syscall(__NR_open_tree, dir, path,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
				    AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH));
}

CHILD_SAFE int native_set_attributes(int fd, uint64_t attributes, unsigned flags)
{
	struct mount_attr attr = { .attr_set = attributes };

	return (int)syscall(__NR_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr));
}

static CHILD_SAFE int attach(int tree, int target)
{
	return (int)syscall(__NR_move_mount, tree, "", target, "",
			    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* Opens below the new root without following any link. */
static CHILD_SAFE int open_below(const struct mounter *w, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH,
	};

	return (int)syscall(__NR_openat2, w->root, *path ? path : ".", &how, sizeof(how));
}

/* Makes a directory, unless there is one, and opens it; closes `at` unless it is the root.
 * A link in its place is not followed: a command of another run may have put it there. */
static CHILD_SAFE int make_step(const struct mounter *w, int at, const char *name)
{
	int fd = -1;

	if (mkdirat(at, name, 0755) == 0 || errno == EEXIST)
		fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at != w->root) {
		int saved = errno;

		close(at);
		errno = saved;
	}
	return fd;
}

/* The missing parents of a path in a tree of our own, and the path itself. */
static CHILD_SAFE int make_path(const struct mounter *w, const char *path, bool directory)
{
	int at = w->root, fd;
	char name[NAME_MAX + 1];
	const char *slash;

	for (; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		size_t n = (size_t)(slash - path);

		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, n);
		name[n] = '\0';
		if (n)
			at = make_step(w, at, name);
	}
	if (at < 0)
		return -1;
	if (directory) {
		fd = make_step(w, at, path);
	} else {
		fd = openat(at, path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
		if (at != w->root)
			close(at);
	}
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static CHILD_SAFE int open_target(const struct mounter *w, const struct mount_step *step)
{
	int fd = open_below(w, step->path);

	if (fd >= 0 || errno != ENOENT || !step->make)
		return fd;
	if (make_path(w, step->path, step->directory) < 0)
		return -1;
	return open_below(w, step->path);
}

static CHILD_SAFE int configure(int fs, const char *key, const char *value)
{
	return (int)syscall(__NR_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0);
}

/* A new file system as a detached mount. */
static CHILD_SAFE int new_mount(const char *type, const char *const options[][2], size_t n,
				uint64_t attributes)
{
	int fs = (int)syscall(__NR_fsopen, type, FSOPEN_CLOEXEC);
	int mount = -1, saved;
	bool good = fs >= 0;

	for (size_t i = 0; good && i < n; i++)
		if (options[i][1])
			good = configure(fs, options[i][0], options[i][1]) == 0;
	if (good && syscall(__NR_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(__NR_fsmount, fs, FSMOUNT_CLOEXEC, attributes);
	saved = errno;
	close(fs);
	errno = saved;
	return mount;
}

static CHILD_SAFE int new_tmpfs(const char *mode, const char *size, const char *inodes,
				uint64_t attributes)
{
	const char *const options[][2] = { { "mode", mode },
					   { "size", size },
					   { "nr_inodes", inodes } };

	return new_mount("tmpfs", options, 3, attributes | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

/* --- before the tree changes ------------------------------------------------------- */

/* For what is not compared: its path was without links, and somebody who can replace a directory
 * on the way by a link would have another tree shown. */
static CHILD_SAFE int clone_straight(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int at = (int)syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof(how));
	int fd = at < 0 ? -1 : native_clone_tree(at, ""), saved = errno;

	close(at);
	errno = saved;
	return fd;
}

static CHILD_SAFE int open_source(struct mounter *w, const struct mount_step *step, int *ret)
{
	struct stat st;
	int fd = step->optional ? clone_straight(step->source)
				: native_clone_tree(AT_FDCWD, step->source);

	if (fd < 0 && errno == ENOENT && step->optional)
		return 0;
	if (fd < 0)
		return fail(w, "cannot take", step->source);
	if (fstat(fd, &st) < 0)
		return fail(w, "cannot look at", step->source);
	if (step->ino && (st.st_dev != step->dev || st.st_ino != step->ino))
		return native_fail_changed(w->error_fd, STAGE, step->source);
	if (native_set_attributes(fd, step->attributes, AT_RECURSIVE) < 0)
		return fail(w, "cannot set the attributes of", step->source);
	*ret = fd;
	return 0;
}

static CHILD_SAFE bool wants(const struct mounter *w, enum mount_kind kind)
{
	for (size_t i = 0; i < w->m->n_steps; i++)
		if (w->m->steps[i].kind == kind)
			return true;
	return false;
}

static CHILD_SAFE const char *veil_name(const struct mount_step *step)
{
	if (step->kind == MOUNT_RESOLVER)
		return "r";
	if (step->kind == MOUNT_HOSTS)
		return "h";
	return step->directory ? "d" : "f";
}

/* A kernel may not have it. The mount is not attached, but it can be looked into; and to give
 * up a veil that nobody needs takes the kernel longer than to make it. */
static CHILD_SAFE bool is_absent_in_proc(const struct mounter *w, const struct mount_step *step)
{
	static const char dir[] = "proc/";

	return step->optional && w->proc >= 0 && strncmp(step->path, dir, strlen(dir)) == 0 &&
	       faccessat(w->proc, step->path + strlen(dir), F_OK, 0) < 0 && errno == ENOENT;
}

static CHILD_SAFE bool needs_veil(const struct mounter *w, const struct mount_step *step)
{
	return step->kind == MOUNT_RESOLVER || step->kind == MOUNT_HOSTS ||
	       (step->kind == MOUNT_VEIL && !is_absent_in_proc(w, step));
}

/* One empty file and one empty directory without permissions, shown wherever something
 * is hidden, and the file that names the name server. The clones outlive the mount they
 * were taken from. */
static CHILD_SAFE int open_veils(struct mounter *w)
{
	bool resolver = wants(w, MOUNT_RESOLVER) || wants(w, MOUNT_HOSTS);
	int bench, tmpfs;

	if (!wants(w, MOUNT_VEIL) && !resolver)
		return 0;
	tmpfs = new_tmpfs("0700", "8192", NULL, MOUNT_ATTR_NOEXEC);
	bench = open(NATIVE_WORKBENCH, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tmpfs < 0 || bench < 0 || attach(tmpfs, bench) < 0 || native_make_veils(resolver) < 0 ||
	    native_set_attributes(tmpfs, MOUNT_ATTR_RDONLY, 0) < 0)
		return fail(w, "cannot make what hides files at", NATIVE_WORKBENCH);
	for (size_t i = 0; i < w->m->n_steps; i++) {
		const struct mount_step *step = &w->m->steps[i];

		if (!needs_veil(w, step))
			continue;
		w->m->trees[i] = native_clone_tree(tmpfs, veil_name(step));
		if (w->m->trees[i] < 0)
			return fail(w, "cannot hide", step->path);
	}
	close(bench);
	close(tmpfs);
	/* What comes to lie there covers it, and to take it off takes long. */
	if (!wants(w, MOUNT_DEV) && syscall(__NR_umount2, NATIVE_WORKBENCH, MNT_DETACH) < 0)
		return fail(w, "cannot clear", NATIVE_WORKBENCH);
	return 0;
}

/* Read-only keeps mode, owner and times of the host's nodes from a real root; a device
 * is written to all the same. */
#define DEVICE_ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY)

static CHILD_SAFE int clone_device(const char *path)
{
	int tree = native_clone_tree(AT_FDCWD, path);

	return tree < 0 || native_set_attributes(tree, DEVICE_ATTRIBUTES, 0) == 0 ? tree : -1;
}

static CHILD_SAFE int open_devices(struct mounter *w)
{
	for (size_t i = 0; i < DEVICES; i++) {
		w->devices[i] = clone_device(device_nodes[i].path);
		if (w->devices[i] < 0)
			return fail(w, "cannot take", device_nodes[i].path);
	}
	return 0;
}

CHILD_SAFE int native_seal_devices(int error_fd)
{
	for (size_t i = 0; i < DEVICES; i++) {
		const char *path = device_nodes[i].path;
		int tree = clone_device(path), target = open(path, O_PATH | O_CLOEXEC);

		if (tree < 0 || target < 0 || attach(tree, target) < 0)
			return native_fail(error_fd, STAGE, "cannot make read-only", path);
		close(target);
		close(tree);
	}
	return 0;
}

/* A stage of its own: it fails where other mounts do not. */
static CHILD_SAFE int open_proc(struct mounter *w, const struct mount_step *step)
{
	w->proc = new_mount("proc", NULL, 0,
			    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	return w->proc < 0 ? native_fail(w->error_fd, "proc", "cannot mount on", step->path) : 0;
}

static CHILD_SAFE int open_everything(struct mounter *w)
{
	int r = 0;

	for (size_t i = 0; i < w->m->n_steps && r == 0; i++) {
		const struct mount_step *step = &w->m->steps[i];

		w->m->trees[i] = -1;
		if (step->kind == MOUNT_BIND)
			r = open_source(w, step, &w->m->trees[i]);
		else if (step->kind == MOUNT_PROC)
			r = open_proc(w, step);
	}
	if (r < 0)
		return r;
	r = wants(w, MOUNT_DEV) ? open_devices(w) : 0;
	return r < 0 ? r : open_veils(w);
}

/* --- changing the tree ------------------------------------------------------------- */

static CHILD_SAFE int start_root(struct mounter *w)
{
	int tmpfs, bench;

	if (w->m->empty_root) {
		tmpfs = new_tmpfs("0755", NULL, NULL, 0);
		bench = open(NATIVE_WORKBENCH, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (tmpfs < 0 || bench < 0 || attach(tmpfs, bench) < 0)
			return fail(w, "cannot make an empty root at", NATIVE_WORKBENCH);
		close(bench);
		w->root = tmpfs;
		return 0;
	}
	w->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->root < 0 || native_set_attributes(w->root, w->m->root_attributes, AT_RECURSIVE) < 0)
		return fail(w, "cannot make read-only", "/");
	return 0;
}

static CHILD_SAFE int attach_new(struct mounter *w, const struct mount_step *step, int mount)
{
	int target = mount < 0 ? -1 : open_target(w, step);
	int r = 0;

	if (mount >= 0 && target < 0 && errno == ENOENT && step->optional) {
		close(mount);
		return 0;
	}
	if (target < 0 || attach(mount, target) < 0)
		r = fail(w, "cannot mount on", step->path);
	close(target);
	close(mount);
	return r;
}

static CHILD_SAFE int make_read_only(struct mounter *w, const char *path)
{
	int target = open_below(w, path);
	int tree = target < 0 ? -1 : native_clone_tree(target, "");
	int r;

	if (target < 0 && errno == ENOENT)
		return 0;
	r = tree < 0 || native_set_attributes(tree, MOUNT_ATTR_RDONLY, AT_RECURSIVE) < 0 ||
	    attach(tree, target) < 0;
	if (r)
		return fail(w, "cannot make read-only", path);
	close(target);
	close(tree);
	return 0;
}

static CHILD_SAFE int seal_proc(struct mounter *w)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(proc_seals) / sizeof(proc_seals[0]) && r == 0; i++)
		if (proc_seals[i].who == ALL || w->m->host_root)
			r = make_read_only(w, proc_seals[i].path);
	return r;
}

static CHILD_SAFE int mount_proc(struct mounter *w, const struct mount_step *step)
{
	int r = attach_new(w, step, w->proc);

	return r < 0 ? r : seal_proc(w);
}

static CHILD_SAFE int attach_devices(struct mounter *w, int dev)
{
	for (size_t i = 0; i < DEVICES; i++) {
		/* The directory is new and our own: nobody can have put a link there. */
		if (mknodat(dev, device_nodes[i].name, S_IFREG | 0444, 0) < 0 ||
		    syscall(__NR_move_mount, w->devices[i], "", dev, device_nodes[i].name,
			    MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return fail(w, "cannot show", device_nodes[i].path);
		close(w->devices[i]);
	}
	for (size_t i = 0; i < sizeof(device_links) / sizeof(device_links[0]); i++)
		if (symlinkat(device_links[i].target, dev, device_links[i].name) < 0)
			return fail(w, "cannot link in /dev:", device_links[i].name);
	return 0;
}

static CHILD_SAFE int mount_pts(struct mounter *w, int dev)
{
	static const char *const options[][2] = { { "ptmxmode", "0666" }, { "mode", "0620" } };
	int mount, target;

	if (mkdirat(dev, "pts", 0755) < 0 || mkdirat(dev, "shm", 01777) < 0 ||
	    fchmodat(dev, "shm", 01777, 0) < 0)
		return fail(w, "cannot make directories in", "/dev");
	mount = new_mount("devpts", options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	target = openat(dev, "pts", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mount < 0 || target < 0 || attach(mount, target) < 0)
		return fail(w, "cannot mount", "/dev/pts");
	close(mount);
	close(target);
	return 0;
}

static CHILD_SAFE int mount_dev(struct mounter *w, const struct mount_step *step)
{
	int tmpfs = new_tmpfs("0755", step->size, step->inodes, MOUNT_ATTR_NOEXEC);
	int dev, r = attach_new(w, step, tmpfs);

	if (r < 0)
		return r;
	dev = open_below(w, step->path);
	/* O_PATH is enough to make things below it. */
	r = dev < 0 ? fail(w, "cannot open", step->path) : attach_devices(w, dev);
	if (r == 0)
		r = mount_pts(w, dev);
	close(dev);
	return r;
}

static CHILD_SAFE int make_symlink(struct mounter *w, const struct mount_step *step)
{
	const char *slash = strrchr(step->path, '/');
	char parent[PATH_MAX];

	if (slash) {
		memcpy(parent, step->path, (size_t)(slash - step->path));
		parent[slash - step->path] = '\0';
		if (make_path(w, parent, true) < 0)
			return fail(w, "cannot make", parent);
	}
	if (symlinkat(step->source, w->root, step->path) < 0)
		return fail(w, "cannot link", step->path);
	return 0;
}

static CHILD_SAFE int do_step(struct mounter *w, size_t i)
{
	const struct mount_step *step = &w->m->steps[i];

	switch (step->kind) {
	case MOUNT_VEIL:
	case MOUNT_BIND:
		if (step->optional && w->m->trees[i] < 0)
			return 0;
		/* fall through */
	case MOUNT_RESOLVER:
	case MOUNT_HOSTS:
		return attach_new(w, step, w->m->trees[i]);
	case MOUNT_VEIL_DIR:
		return attach_new(w, step, new_tmpfs("0111", "65536", NULL, MOUNT_ATTR_NOEXEC));
	case MOUNT_TMPFS:
		return attach_new(w, step,
				  new_tmpfs(step->mode, step->size, step->inodes,
					    step->attributes));
	case MOUNT_PROC:
		return mount_proc(w, step);
	case MOUNT_DEV:
		return mount_dev(w, step);
	case MOUNT_SYMLINK:
		return make_symlink(w, step);
	}
	return 0;
}

static CHILD_SAFE int seal_path(struct mounter *w, const char *path)
{
	int fd = open_below(w, path);
	int r = fd < 0 ? -1 : native_set_attributes(fd, MOUNT_ATTR_RDONLY, 0);

	if (r < 0)
		return fail(w, "cannot make read-only", *path ? path : "/");
	close(fd);
	return 0;
}

/* What only holds mount points becomes read-only once they are all there: otherwise
 * writes to a hidden directory would succeed and vanish. */
static CHILD_SAFE int seal(struct mounter *w)
{
	int r = 0;

	for (size_t i = 0; i < w->m->n_steps && r == 0; i++)
		if (w->m->steps[i].kind == MOUNT_VEIL_DIR)
			r = seal_path(w, w->m->steps[i].path);
	if (r == 0 && w->m->empty_root)
		r = seal_path(w, "");
	return r;
}

/* The old root ends up on top of the new one and is taken off. */
static CHILD_SAFE int enter_root(struct mounter *w)
{
	if (w->m->empty_root && (fchdir(w->root) < 0 || syscall(__NR_pivot_root, ".", ".") < 0 ||
				 syscall(__NR_umount2, ".", MNT_DETACH) < 0))
		return fail(w, "cannot enter", "the new root");
	if (chdir("/") < 0)
		return fail(w, "cannot enter", "/");
	close(w->root);
	return 0;
}

CHILD_SAFE int native_mount(const struct native_mounts *m, int error_fd)
{
	struct mounter w = { .m = m, .error_fd = error_fd, .root = -1, .proc = -1 };
	int r = 0;

	/* All that is covered is held open at first; the command gets what its caller had. */
	fd_allow(UINT64_MAX);
	if (syscall(__NR_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail(&w, "cannot make private", "/");
	r = open_everything(&w);
	if (r == 0)
		r = start_root(&w);
	for (size_t i = 0; i < m->n_steps && r == 0; i++)
		r = do_step(&w, i);
	if (r == 0)
		r = seal(&w);
	return r < 0 ? r : enter_root(&w);
}
