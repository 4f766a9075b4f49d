/* SPDX-License-Identifier: Apache-2.0 */
/* Folding directories: by the type of the file system, and where that allows both, by the
 * flag of the directory. */
#include "run/folds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

/* Types by number: the headers name only some of them. */
static const struct {
	uint32_t type;
	enum folding how;
	const char *features; /* its directory in /sys/fs that lists "casefold"; or NULL */
} types[] = {
	{ 0xef53, FOLDS_BY_FLAG, "ext4" },
	{ 0xf2f52010, FOLDS_BY_FLAG, "f2fs" },
	{ 0x01021994, FOLDS_BY_FLAG, "tmpfs" },
	{ 0xca451a4e, FOLDS_BY_FLAG, NULL }, /* bcachefs */
	{ 0x794c7630, FOLDS_BY_FLAG, NULL }, /* overlayfs, as its layers do */
	{ 0x4d44, FOLDS_ALWAYS, NULL },	     /* FAT */
	{ 0x2011bab0, FOLDS_ALWAYS, NULL },  /* exFAT */
	{ 0x5346544e, FOLDS_ALWAYS, NULL },  /* NTFS, the old driver and the new */
	{ 0x7366746e, FOLDS_ALWAYS, NULL },
	{ 0x4244, FOLDS_ALWAYS, NULL }, /* HFS, HFS+ */
	{ 0x482b, FOLDS_ALWAYS, NULL },
	/* As the server likes, and other systems' do. */
	{ 0xff534d42, FOLDS_SERVED, NULL }, /* CIFS, SMB 2 */
	{ 0xfe534d42, FOLDS_SERVED, NULL },
	{ 0x6969, FOLDS_SERVED, NULL },	    /* NFS */
	{ 0x65735546, FOLDS_SERVED, NULL }, /* FUSE, virtiofs: directories of Docker Desktop */
	{ 0x01021997, FOLDS_SERVED, NULL }, /* 9p: the drives of Windows in WSL */
	{ 0x786f4256, FOLDS_SERVED, NULL }, /* VirtualBox's shared folders */
};

/* A kernel built without Unicode does not list the feature. One that lists nothing (no
 * sysfs in sight) may have it. */
static bool kernel_can(const char *sys_fs, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/features/casefold", sys_fs, name);
	if (access(path, F_OK) == 0)
		return true;
	snprintf(path, sizeof(path), "%s/%s/features", sys_fs, name);
	return access(path, F_OK) != 0;
}

enum folding filesystem_folding(uint64_t type, const char *sys_fs)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == (uint32_t)type)
			return !types[i].features || kernel_can(sys_fs, types[i].features)
				       ? types[i].how
				       : FOLDS_NEVER;
	return FOLDS_NEVER;
}

static enum folding look_at(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) < 0 ? FOLDS_BY_FLAG
				     : filesystem_folding((uint64_t)fs.f_type, "/sys/fs");
}

static enum folding folding_of(struct filesystems *all, struct arena *a, const char *path,
			       uint64_t dev)
{
	enum folding how;
	struct filesystem *slot;

	vec_each(fs, &all->known)
		if (fs->dev == dev)
			return fs->how;
	how = look_at(path);
	slot = vec_push(&all->known, a);
	if (slot)
		*slot = (struct filesystem){ dev, how };
	return how;
}

static bool flag_of(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int flags = 0;

	if (fd < 0)
		return true;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return errno != ENOTTY && errno != EOPNOTSUPP && errno != EINVAL;
	return flags & FS_CASEFOLD_FL;
}

bool directory_folds(struct filesystems *all, struct arena *a, const char *path, uint64_t dev)
{
	switch (folding_of(all, a, path, dev)) {
	case FOLDS_NEVER:
		return false;
	case FOLDS_BY_FLAG:
		return flag_of(path);
	case FOLDS_ALWAYS:
	case FOLDS_SERVED:
		return true;
	}
	return true;
}

bool directory_is_served(struct filesystems *all, struct arena *a, const char *path, uint64_t dev)
{
	return folding_of(all, a, path, dev) == FOLDS_SERVED;
}

bool directory_lists_all(int dir)
{
	static const uint32_t listing[] = {
		0xef53,	    /* ext4 */
		0x58465342, /* XFS */
		0x9123683e, /* btrfs */
		0xf2f52010, /* f2fs */
		0x2fc12fc1, /* ZFS */
		0x01021994, /* tmpfs */
		0x794c7630, /* overlayfs */
	};
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(listing) / sizeof(listing[0]); i++)
		if ((uint32_t)fs.f_type == listing[i])
			return true;
	return false;
}
