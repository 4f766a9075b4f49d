/* SPDX-License-Identifier: Apache-2.0 */
/* Quarantine: what is taken can be listed, given back and removed. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scratch.h"
#include "plain_user.h"
#include "run/move.h"
#include "run/quarantine.h"
#include "skip.h"

static struct arena a;
static struct cordon_error err;
static const char *top, *work; /* `work` is where names are taken from */
static struct quarantine q;
static int dir;

static void setup(void)
{
	become_plain_user();
	arena_init(&a, (size_t)16 << 20);
	cr_assert_eq(scratch_make(&a, "/tmp", &top, &err), 0, "%s", err.message);
	work = arena_printf(&a, "%s/work", top);
	cr_assert_eq(mkdir(work, 0700), 0);
	dir = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(dir, 0);
	q = (struct quarantine){ .home = arena_printf(&a, "%s/home", top),
				 .workdir = str_of(work),
				 .held = -1 };
}

static void teardown(void)
{
	quarantine_release(&q);
	close(dir);
	scratch_remove(top);
	arena_free(&a);
}

TestSuite(quarantine, .init = setup, .fini = teardown);

static const char *in_work(const char *name)
{
	return arena_printf(&a, "%s/%s", work, name);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
}

static const char *take(const char *name)
{
	struct quarantine_ticket t;
	char kept[PATH_MAX];

	cr_assert_eq(quarantine_take(&q, dir, name, str_of(in_work(name)), &t), 0);
	cr_assert_neq(faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(quarantine_finish(&q, &t, kept), 0);
	close(t.dir);
	cr_assert(quarantine_holds(&q, kept), "%s", kept);
	return arena_dup(&a, str_of(kept));
}

static struct quarantined_list listed(void)
{
	struct quarantined_list list = { 0 };

	cr_assert_eq(quarantine_list(&a, str_of(q.home), &list, &err), 0, "%s", err.message);
	return list;
}

static const struct quarantined *only(void)
{
	struct quarantined_list list = listed();

	cr_assert_eq(list.items.n, 1);
	return &list.items.at[0];
}

static void holds(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "re");

	cr_assert(f, "%s", path);
	cr_assert(fgets(got, sizeof(got), f) || !*text);
	fclose(f);
	cr_assert_str_eq(got, text);
}

Test(quarantine, a_file_with_another_name_cannot_be_changed_under_that)
{
	const char *kept, *back;
	struct stat st;

	write_file(in_work("user's"), "before");
	cr_assert_eq(chmod(in_work("user's"), 0640), 0);
	cr_assert_eq(link(in_work("user's"), in_work("taken")), 0);
	kept = take("taken");
	write_file(in_work("user's"), "changed");
	holds(kept, "before");
	cr_assert_eq(stat(kept, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0640);
	cr_assert_eq(stat(in_work("user's"), &st), 0);
	cr_assert_eq(st.st_nlink, 1);
	holds(in_work("user's"), "changed");
	quarantine_release(&q);
	cr_assert_eq(quarantine_restore(&a, only(), NULL, &back, &err), 0, "%s", err.message);
	holds(in_work("taken"), "before");
}

/* It must not stay where it is. */
Test(quarantine, a_file_with_another_name_that_cannot_be_copied_is_moved)
{
	struct stat here, there;

	write_file(in_work("first"), "x");
	take("first");
	/* A copy does not begin beside another one. */
	cr_assert_eq(mkdir(arena_printf(&a, "%s/.cordon-moving-%d", q.dir, (int)getpid()), 0700),
		     0);
	write_file(in_work("user's"), "before");
	cr_assert_eq(link(in_work("user's"), in_work("taken")), 0);
	cr_assert_eq(stat(take("taken"), &there), 0);
	cr_assert_eq(stat(in_work("user's"), &here), 0);
	cr_assert_eq(here.st_ino, there.st_ino);
}

Test(quarantine, an_entry_says_where_it_came_from)
{
	const char *names[] = { "f", "caf\xe9\n", "\\x41", "l", "d" }, *kept = NULL;
	const char *kinds[] = { "file", "file", "file", "link", "directory" };
	struct quarantined_list list;

	for (unsigned i = 0; i < 3; i++)
		write_file(in_work(names[i]), "four");
	cr_assert_eq(symlink("nowhere", in_work("l")), 0);
	cr_assert_eq(mkdir(in_work("d"), 0), 0);
	for (unsigned i = 0; i < 5; i++)
		kept = take(names[i]);
	list = listed();
	cr_assert_eq(list.items.n, 5);
	for (unsigned i = 0; i < 5; i++) {
		const struct quarantined *e = &list.items.at[i];

		cr_assert(str_eq(e->from, str_of(in_work(names[i]))), "%s", names[i]);
		cr_assert(str_eq(e->workdir, str_of(work)));
		cr_assert_str_eq(e->kind, kinds[i]);
		cr_assert_eq(e->bytes, i < 3 ? 4 : 0);
		cr_assert_gt(e->time, 0);
		cr_assert(str_starts(str_of(e->id), e->run));
	}
	cr_assert_str_eq(list.items.at[4].id, quarantine_id(kept));
	cr_assert_str_eq(list.items.at[4].path, kept);
}

Test(quarantine, more_than_ten_stay_in_order)
{
	struct quarantined_list list;

	for (unsigned i = 0; i < 12; i++) {
		write_file(in_work("f"), "");
		take("f");
	}
	list = listed();
	cr_assert_eq(list.items.n, 12);
	cr_assert(str_ends(str_of(list.items.at[2].id), STR("/2")));
	cr_assert(str_ends(str_of(list.items.at[11].id), STR("/11")));
}

/* Each of these, in place of the record, leaves an entry without an origin. */
Test(quarantine, a_record_that_makes_no_sense_is_no_origin)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"7",
		"{}",
		"{\"from\": 1}",
		"{\"from\": \"relative\"}",
		"{\"from\": \"/\"}",
		"{\"from\": \"/a/../b\"}",
		"{\"from\": \"/a\\u0000b\"}",
		"{\"from\": \"/\\\\xzz\", \"escaped\": true}",
	};
	const char *record, *path;

	write_file(in_work("f"), "");
	record = arena_printf(&a, "%s.json", take("f"));
	quarantine_release(&q);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_file(record, bad[i]);
		cr_assert_eq(only()->from.n, 0, "%s", bad[i]);
		cr_assert_eq(quarantine_restore(&a, only(), NULL, &path, &err), -CORDON_E_USAGE,
			     "%s", bad[i]);
	}
	cr_assert_eq(unlink(record), 0);
	cr_assert_eq(only()->from.n, 0);
	cr_assert_gt(only()->time, 0);
	cr_assert_eq(quarantine_restore(&a, only(), in_work("g"), &path, &err), 0, "%s",
		     err.message);
	cr_assert_eq(access(in_work("g"), F_OK), 0);
}

Test(quarantine, strangers_in_the_directory_are_no_entries)
{
	const char *above = arena_printf(&a, "%s/quarantine", q.home);

	write_file(in_work("f"), "");
	take("f");
	write_file(arena_printf(&a, "%s/readme", above), "");
	cr_assert_eq(symlink(work, arena_printf(&a, "%s/link", above)), 0);
	write_file(in_work("7"), "");
	write_file(arena_printf(&a, "%s/0x", q.dir), "");
	write_file(arena_printf(&a, "%s/.json", q.dir), "");
	cr_assert(str_ends(str_of(only()->id), STR("/0")));
}

Test(quarantine, a_record_alone_can_be_removed)
{
	const char *path;

	write_file(in_work("f"), "");
	cr_assert_eq(unlink(take("f")), 0);
	quarantine_release(&q);
	cr_assert_str_eq(only()->kind, "missing");
	cr_assert_eq(quarantine_restore(&a, only(), NULL, &path, &err), -CORDON_E_IO);
	cr_assert_eq(quarantine_clear(only(), &err), 0, "%s", err.message);
	cr_assert_eq(listed().items.n, 0);
	cr_assert_neq(access(q.dir, F_OK), 0);
}

Test(quarantine, what_cannot_be_taken_leaves_no_record)
{
	struct quarantine_ticket t;

	cr_assert_eq(quarantine_take(&q, dir, "absent", STR("/absent"), &t), -ENOENT);
	cr_assert_eq(listed().items.n, 0);
}

Test(quarantine, restoring_replaces_nothing)
{
	const char *path;
	char text[8] = { 0 };

	cr_assert_eq(symlink("nowhere", in_work("f")), 0);
	take("f");
	cr_assert_eq(symlink("elsewhere", in_work("f")), 0);
	quarantine_release(&q);
	cr_assert_eq(quarantine_restore(&a, only(), NULL, &path, &err), -CORDON_E_IO);
	cr_assert(strstr(err.message, "something already at"), "%s", err.message);
	cr_assert_neq(access(in_work("elsewhere"), F_OK), 0);
	cr_assert_eq(unlink(in_work("f")), 0);
	cr_assert_eq(quarantine_restore(&a, only(), NULL, &path, &err), 0, "%s", err.message);
	cr_assert_str_eq(path, in_work("f"));
	cr_assert_eq(readlink(path, text, sizeof(text) - 1), 7);
	cr_assert_str_eq(text, "nowhere");
	cr_assert_neq(access(q.dir, F_OK), 0);
}

Test(quarantine, the_way_back_goes_through_no_link)
{
	const char *path;

	cr_assert_eq(mkdir(in_work("d"), 0700), 0);
	close(dir);
	dir = open(in_work("d"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	write_file(in_work("d/f"), "");
	work = in_work("d");
	take("f");
	work = arena_dup(&a, path_parent(str_of(work)));
	quarantine_release(&q);
	cr_assert_eq(rename(in_work("d"), in_work("e")), 0);
	cr_assert_eq(symlink("e", in_work("d")), 0);
	cr_assert_eq(quarantine_restore(&a, only(), NULL, &path, &err), -CORDON_E_IO);
	cr_assert(strstr(err.hint, "--to"), "%s", err.hint);
	cr_assert_eq(quarantine_restore(&a, only(), in_work("d/f"), &path, &err), 0);
	cr_assert_str_eq(path, in_work("e/f"));
}

Test(quarantine, a_run_that_goes_on_keeps_what_it_took)
{
	const char *path;

	write_file(in_work("f"), "");
	take("f");
	cr_assert_eq(quarantine_restore(&a, only(), NULL, &path, &err), -CORDON_E_IO);
	cr_assert_eq(quarantine_clear(only(), &err), -CORDON_E_IO);
	cr_assert_eq(only()->bytes, 0);
	quarantine_release(&q);
	cr_assert_eq(quarantine_clear(only(), &err), 0, "%s", err.message);
	cr_assert_eq(listed().items.n, 0);
}

/* A mode that keeps its owner from moving it must not keep it in place. */
Test(quarantine, modes_hold_nothing)
{
	cr_assert_eq(mkdir(in_work("d"), 0700), 0);
	write_file(in_work("d/f"), "");
	cr_assert_eq(chmod(in_work("d/f"), 0), 0);
	cr_assert_eq(chmod(in_work("d"), 0), 0);
	take("d");
	quarantine_release(&q);
	cr_assert_eq(quarantine_clear(only(), &err), 0, "%s", err.message);
	cr_assert_eq(listed().items.n, 0);
}

/* Where it waits nothing can be foreseen, and it is not in the quarantine yet. */
Test(quarantine, nothing_goes_there_before_the_end)
{
	struct quarantine_ticket t;
	struct stat st;
	char kept[PATH_MAX];

	cr_assert_eq(mkdir(in_work("d"), 0700), 0);
	cr_assert_eq(quarantine_take(&q, dir, "d", str_of(in_work("d")), &t), 0);
	cr_assert_neq(fstatat(dir, "d", &st, 0), 0);
	cr_assert_eq(fstatat(dir, t.name, &st, 0), 0);
	cr_assert_str_eq(only()->kind, "missing");
	cr_assert_eq(quarantine_finish(&q, &t, kept), 0);
	cr_assert_neq(fstatat(dir, t.name, &st, 0), 0);
	cr_assert_str_eq(only()->kind, "directory");
}

Test(quarantine, what_somebody_took_away_is_no_entry)
{
	struct quarantine_ticket t;
	char kept[PATH_MAX];

	write_file(in_work("f"), "");
	cr_assert_eq(quarantine_take(&q, dir, "f", str_of(in_work("f")), &t), 0);
	cr_assert_eq(unlinkat(dir, t.name, 0), 0);
	cr_assert_eq(quarantine_finish(&q, &t, kept), -ENOENT);
	quarantine_release(&q);
	cr_assert_eq(listed().items.n, 0);
	cr_assert_neq(access(q.dir, F_OK), 0);
}

/* A home that cannot be written keeps no name in its place. */
Test(quarantine, without_a_quarantine_it_stays_beside_its_name)
{
	struct quarantine_ticket t;
	char kept[PATH_MAX];

	cr_assert_eq(mkdir(q.home, 0500), 0);
	write_file(in_work("f"), "");
	cr_assert_eq(quarantine_take(&q, dir, "f", str_of(in_work("f")), &t), 0);
	cr_assert_neq(access(in_work("f"), F_OK), 0);
	cr_assert_eq(quarantine_finish(&q, &t, kept), 0);
	cr_assert_not(quarantine_holds(&q, kept));
	cr_assert_eq(access(kept, F_OK), 0);
	cr_assert(path_below(str_of(kept), str_of(work)), "%s", kept);
}

/* The same across file systems, where there is a second one to write to. */
Test(quarantine, a_copy_is_whole_and_replaces_nothing)
{
	const char *other = NULL;
	struct stat here, there;
	int to;

	if (scratch_make(&a, "/dev/shm", &other, &err) < 0 || stat(other, &there) < 0 ||
	    stat(work, &here) < 0 || here.st_dev == there.st_dev) {
		if (other)
			scratch_remove(other);
		must_or_skip("one file system");
	}
	to = open(other, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(to, 0);
	cr_assert_eq(mkdir(in_work("d"), 0700), 0);
	write_file(in_work("d/f"), "text");
	write_file(in_work("d/sparse"), "begin");
	cr_assert_eq(truncate(in_work("d/sparse"), (off_t)8 << 30), 0);
	write_file(in_work("mine"), "text");
	cr_assert_eq(link(in_work("mine"), in_work("d/mine")), 0);
	cr_assert_eq(chmod(in_work("mine"), 0), 0);
	cr_assert_eq(chmod(in_work("d/f"), 0100), 0);
	cr_assert_eq(symlink("f", in_work("d/l")), 0);
	cr_assert_eq(mkfifo(in_work("d/p"), 0600), 0);
	cr_assert_eq(chmod(in_work("d"), 0), 0);
	cr_assert_eq(symlinkat("nowhere", to, "taken"), 0);
	cr_assert_eq(move_name(dir, "d", to, "d", MOVE_NOT_ACROSS), -EXDEV);
	cr_assert_eq(move_name(dir, "d", to, "taken", MOVE_SOME), -EEXIST);
	cr_assert_eq(move_name(dir, "d", to, "d", MOVE_SOME), 0);
	cr_assert_neq(access(in_work("d"), F_OK), 0);
	/* What has another name elsewhere is as it was there. */
	cr_assert_eq(stat(in_work("mine"), &here), 0);
	cr_assert_eq(here.st_mode, S_IFREG);
	cr_assert_eq(fstatat(to, "d/mine", &there, 0), 0);
	cr_assert_eq(there.st_size, 4);
	cr_assert_eq(fstatat(to, "d/sparse", &there, 0), 0);
	cr_assert_eq(there.st_size, (off_t)8 << 30);
	cr_assert_lt(there.st_blocks, 1 << 11);
	cr_assert_eq(fstatat(to, "d/f", &there, 0), 0);
	cr_assert_eq(there.st_mode, S_IFREG | 0100);
	cr_assert_eq(there.st_size, 4);
	cr_assert_eq(fstatat(to, "d/l", &there, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert(S_ISLNK(there.st_mode));
	cr_assert_eq(fstatat(to, "d/p", &there, 0), 0);
	cr_assert(S_ISFIFO(there.st_mode));
	close(to);
	scratch_remove(other);
}
