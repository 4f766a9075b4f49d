/* SPDX-License-Identifier: Apache-2.0 */
/* Where else mounts show a path, from tables that are made up. */
#include <criterion/criterion.h>

#include "base/buf.h"
#include "run/aliases.h"

static struct arena arena;
static struct aliases table;

static void start(void)
{
	arena_init(&arena, 1 << 20);
	table = (struct aliases){ 0 };
}

static void stop(void)
{
	arena_free(&arena);
}

TestSuite(aliases, .init = start, .fini = stop);

#define ROOT "20 1 8:1 / / rw shared:1 - ext4 /dev/a rw\n"

static void mounts(const char *text)
{
	cr_assert(aliases_parse(&table, &arena, str_of(text)));
}

/* The other paths, with a blank between them. */
static const char *others(const char *path)
{
	struct world_paths found = { 0 };
	struct buf b = buf_make(4096);
	const char *text;

	cr_assert(aliases_of(&table, &arena, str_of(path), &found));
	vec_each(p, &found.at)
		buf_addf(&b, "%s%.*s", b.n ? " " : "", STR_ARG(*p));
	text = arena_dup(&arena, buf_str(&b));
	buf_free(&b);
	return text;
}

Test(aliases, one_mount_a_file_system_is_no_alias)
{
	mounts(ROOT "21 20 8:2 / /home rw - ext4 /dev/b rw\n"
		    "22 20 0:5 / /proc rw - proc proc rw\n"
		    "23 20 0:5 / /jail/proc rw - proc proc rw\n"
		    "nonsense\n\n");
	cr_expect_not(table.any);
	cr_expect_str_eq(others("/home/u/.ssh"), "");
}

Test(aliases, a_tree_and_a_part_of_it)
{
	mounts(ROOT "21 20 8:1 /home/u /mnt/u rw - ext4 /dev/a rw\n"
		    "22 20 8:1 /home/u/.ssh/keys /mnt/keys rw - ext4 /dev/a rw\n"
		    "23 20 8:1 /home/u/.sshd /mnt/other rw - ext4 /dev/a rw\n");
	cr_expect_str_eq(others("/home/u/.ssh"), "/mnt/u/.ssh /mnt/keys /mnt/u/.ssh/keys");
	cr_expect_str_eq(others("/mnt/u/.ssh"), "/home/u/.ssh /mnt/keys /home/u/.ssh/keys");
	cr_expect_str_eq(others("/home/u/.ssh/keys/id"), "/mnt/u/.ssh/keys/id /mnt/keys/id");
	cr_expect_str_eq(others("/home/u"),
			 "/mnt/u /mnt/keys /mnt/other /mnt/u/.ssh/keys /mnt/u/.sshd");
	cr_expect_str_eq(others("/etc/shadow"), "");
}

Test(aliases, subvolumes)
{
	mounts("20 1 0:30 /@ / rw - btrfs /dev/a rw,subvol=/@\n"
	       "21 20 0:30 /@home /home rw - btrfs /dev/a rw,subvol=/@home\n"
	       "22 20 0:30 / /mnt/all rw - btrfs /dev/a rw,subvol=/\n");
	cr_expect_str_eq(others("/home/u/.ssh"), "/mnt/all/@home/u/.ssh");
	cr_expect_str_eq(others("/etc/shadow"), "/mnt/all/@/etc/shadow");
}

/* What lies on top of a mount hides it, and what is mounted in a closed tree is closed. */
Test(aliases, only_what_shows)
{
	mounts(ROOT "21 20 8:1 /home /mnt rw - ext4 /dev/a rw\n"
		    "22 21 0:9 / /mnt/u rw - tmpfs none rw\n"
		    "23 20 8:3 / /home/u/.ssh/disk rw - ext4 /dev/c rw\n"
		    "24 20 8:3 /sub /srv rw - ext4 /dev/c rw\n"
		    "25 20 8:1 /gone//deleted /mnt/gone rw - ext4 /dev/a rw\n");
	cr_expect_str_eq(others("/home/u/.ssh"), "/srv");
	cr_expect_str_eq(others("/home/v/.ssh"), "/mnt/v/.ssh");
}

Test(aliases, escapes_and_the_root)
{
	mounts(ROOT "21 20 8:1 / /mnt/my\\040disk rw - ext4 /dev/a rw\n");
	cr_expect_str_eq(others("/etc/shadow"), "/mnt/my disk/etc/shadow");
	cr_expect_str_eq(others("/mnt/my disk/etc"), "/etc");
	cr_expect_str_eq(others("/"), "");
}

Test(aliases, overlays_in_both_directions)
{
	mounts(ROOT "21 20 0:40 / /over rw - overlay o "
		    "rw,lowerdir=/usr:/none\\134:x,upperdir=/etc,workdir=/w\n"
		    "22 20 0:40 /bin /part rw - overlay o rw,lowerdir=/usr:/none,upperdir=/etc\n");
	/* Where it would be if the other directory had it, too. */
	cr_expect_str_eq(others("/usr/bin/env"), "/over/bin/env /part/env /etc/bin/env");
	cr_expect_str_eq(others("/etc/shadow"), "/over/shadow /usr/shadow");
	/* What is not there, as the host's directories in a container, is nobody's. */
	cr_expect_str_eq(others("/over/x"), "/usr/x /etc/x");
	cr_expect_str_eq(others("/home/x"), "");
}

/* A container's root is made of directories of the host. */
Test(aliases, the_whole_tree_is_never_one)
{
	mounts("20 1 0:40 / / rw - overlay o rw,lowerdir=/nowhere/low,upperdir=/nowhere/up\n");
	cr_expect_str_eq(others("/usr"), "");
	cr_expect_str_eq(others("/nowhere"), "");
	stop();
	start();
	mounts("20 1 0:40 / / rw - overlay o rw,lowerdir=/usr\n");
	cr_expect_not_null(others("/usr/bin"));
}
