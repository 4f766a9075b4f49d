/* SPDX-License-Identifier: Apache-2.0 */
/* Which mounts nobody should wait for. */
#include <criterion/criterion.h>

#include "run/remote.h"

static struct arena arena;
static struct map mounts;

static void start(void)
{
	arena_init(&arena, 1 << 20);
	mounts = (struct map){ 0 };
}

static void stop(void)
{
	arena_free(&arena);
}

TestSuite(remote, .init = start, .fini = stop);

static bool is_remote(const char *path)
{
	return remote_is_below(&mounts, &arena, str_of(path));
}

Test(remote, goes_by_the_nearest_mount)
{
	cr_assert(remote_read(&mounts, &arena,
			      STR("20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/a rw\n"
				  "21 20 0:5 / /net rw - autofs systemd-1 rw,fd=3\n"
				  "22 20 0:6 / /home/my\\040files rw master:1 - nfs4 srv:/x rw\n"
				  "23 22 8:2 / /home/my\\040files/disk rw - xfs /dev/b rw\n"
				  "24 20 0:7 / /mnt/s rw - fuse.sshfs host: rw\n"
				  "nonsense\n\n")));
	cr_assert_not(is_remote("/"));
	cr_assert_not(is_remote("/home/my"));
	cr_assert_not(is_remote("/network/x"));
	cr_assert(is_remote("/net"));
	cr_assert(is_remote("/net/a/b"));
	cr_assert(is_remote("/home/my files/x"));
	cr_assert_not(is_remote("/home/my files/disk/x"));
	cr_assert(is_remote("/mnt/s"));
	cr_assert_not(is_remote("/mnt/sx"));
}

Test(remote, takes_the_root_as_it_is)
{
	cr_assert(remote_read(&mounts, &arena,
			      STR("20 1 0:1 / / rw - 9p share rw\n"
				  "21 20 0:2 / /data rw - 9p share rw\n")));
	cr_assert_not(is_remote("/usr"));
	cr_assert(is_remote("/data/x"));
}

Test(remote, reads_the_machine_s_own_table)
{
	cr_assert_not(is_remote("/proc/self"));
	cr_assert_gt(mounts.used, 0);
}

Test(remote, waits_for_nothing_when_it_does_not_know)
{
	struct arena small;

	arena_init(&small, 64);
	cr_assert(remote_is_below(&mounts, &small, STR("/")));
	arena_free(&small);
}
