/* SPDX-License-Identifier: Apache-2.0 */
/* Folded names, rules for them, and which file systems fold. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmt/fold.h"
#include "policy/rules.h"
#include "run/folds.h"
#include "run/situation.h"

#define ARENA_MAX ((size_t)64 << 20)
#define EXT4 0xef53
#define FAT 0x4d44
#define XFS 0x58465342

static bool same(const char *a, const char *b)
{
	bool eq = fold_eq(str_of(a), str_of(b));

	cr_assert_eq(fold_eq(str_of(b), str_of(a)), eq);
	return eq;
}

Test(fold, case_does_not_count)
{
	cr_assert(same("", ""));
	cr_assert(same(".git", ".GIT"));
	cr_assert(same("@[`{", "@[`{"));
	cr_assert_not(same("@", "`"));
	cr_assert_not(same("[", "{"));
	cr_assert_not(same("a", "ab"));
	cr_assert_not(same("", "a"));
}

Test(fold, what_looks_like_ascii_is_ascii)
{
	cr_assert(same(".\xc5\xbf\xc5\xbfh", ".ssh"));
	cr_assert(same("\xe2\x84\xaa", "k"));
	cr_assert(same("con\xef\xac\x81g", "CONFIG"));
	cr_assert(same("\xef\xac\x85", "St"));
	cr_assert(same("\xc3\x9f", "\xe1\xba\x9e"));
	cr_assert(same("\xe2\x80\x8c.g\xc2\xadit\xef\xbb\xbf", ".git"));
	cr_assert_not(same("\xd0\xb0", "a"), "a letter of another alphabet is another letter");
}

Test(fold, other_alphabets)
{
	cr_assert(same("\xc3\x84", "\xc3\xa4"));
	cr_assert(same("\xce\xa3", "\xcf\x82"), "both small sigmas");
	cr_assert(same("\xd0\x96", "\xd0\xb6"));
	cr_assert(same("\xf0\x90\x90\x80", "\xf0\x90\x90\xa8"));
	cr_assert_not(same("\xc3\x97", "\xc3\xb7"), "times and divided by");
}

Test(fold, bytes_that_are_no_text_stand_for_themselves)
{
	cr_assert(same("\xff" "A", "\xff" "a"));
	cr_assert_not(same("\xc3", "\xe3"));
	cr_assert_not(same("\xff", ""));
}

Test(fold, text_that_does_not_fit_is_refused)
{
	char out[6];
	struct str folded;

	cr_assert(fold_text(STR("\xef\xac\x83" "X-1"), out, 6, &folded));
	cr_assert_eq(folded.n, 6);
	cr_assert_eq(memcmp(out, "ffix-1", 6), 0);
	cr_assert_not(fold_text(STR("\xef\xac\x83" "X-12"), out, 6, &folded));
	cr_assert(fold_text(STR(""), out, 0, &folded));
}

static void spelling(char name[13], unsigned bits)
{
	for (unsigned i = 0; i < 12; i++)
		name[i] = bits >> i & 1 ? 'A' : 'a';
	name[12] = '\0';
}

/* A project file may hold as many rules as it likes. */
Test(fold, more_spellings_than_can_be_followed_are_no_answer)
{
	struct arena a;
	struct ruleset *set;
	struct cordon_error err;
	struct match m;

	arena_init(&a, ARENA_MAX);
	set = ruleset_new(&a);
	for (unsigned i = 0; i < 4096; i++) {
		char name[13];
		struct rule rule = { .right = RIGHT_WRITE, .origin = { SOURCE_USER, "t", 0, 0 } };

		spelling(name, i);
		rule.path = rule.spelled = str_of(arena_printf(&a, "/f/%s", name));
		cr_assert_eq(ruleset_add(set, &rule, &err), 0);
		ruleset_match_folded(set, STR("/f/aAaAaAaAaAaA/x"), 1, &m);
		cr_assert_eq(m.lost, i + 1 > GLOB_STATES_MAX + 2, "%u spellings", i + 1);
	}
	ruleset_match_folded(set, STR("/f/other"), 1, &m);
	cr_assert_not(m.lost);
	ruleset_match(set, STR("/f/aaaaaaaaaaaa/x"), &m);
	cr_assert_not(m.lost);
	cr_assert_eq(m.data.depth, 2);
	arena_free(&a);
}

Test(fold, file_systems_fold_by_type_and_kernel)
{
	char top[] = "/tmp/cordon-fold-XXXXXX", path[4][80];
	static const char *const parts[] = { "", "/ext4", "/ext4/features",
					     "/ext4/features/casefold" };

	cr_assert(mkdtemp(top));
	cr_assert_eq(filesystem_folding(XFS, top), FOLDS_NEVER);
	cr_assert_eq(filesystem_folding(FAT, top), FOLDS_ALWAYS);
	/* FUSE, 9p: as the server likes */
	cr_assert_eq(filesystem_folding(0x65735546, top), FOLDS_SERVED);
	cr_assert_eq(filesystem_folding(0x01021997, top), FOLDS_SERVED);
	cr_assert_eq(filesystem_folding(EXT4, top), FOLDS_BY_FLAG, "no sysfs, no telling");
	for (int i = 0; i < 4; i++)
		snprintf(path[i], sizeof(path[i]), "%s%s", top, parts[i]);
	cr_assert(mkdir(path[1], 0700) == 0 && mkdir(path[2], 0700) == 0);
	cr_assert_eq(filesystem_folding(EXT4, top), FOLDS_NEVER, "a kernel without Unicode");
	cr_assert_eq(mkdir(path[3], 0700), 0);
	cr_assert_eq(filesystem_folding(EXT4, top), FOLDS_BY_FLAG);
	for (int i = 3; i >= 0; i--)
		cr_assert_eq(rmdir(path[i]), 0);
}

/* The flag is read of each directory where it can be set; here it is not. */
Test(fold, a_plain_directory_does_not_fold)
{
	struct arena a;
	struct world world;
	struct cordon_error err;
	struct str top;
	char dir[] = "/tmp/cordon-fold-XXXXXX", below[64];

	arena_init(&a, ARENA_MAX);
	cr_assert(mkdtemp(dir));
	snprintf(below, sizeof(below), "%s/not/there", dir);
	cr_assert_eq(world_os_init(&a, &world, &err), 0);
	cr_assert_not(world.folds(&world, &a, str_of(dir), &top));
	cr_assert_not(world.folds(&world, &a, str_of(below), &top));
	cr_assert_not(world.folds(&world, &a, STR("/proc/self"), &top));
	cr_assert_not(world.folds(&world, &a, STR("/"), &top));
	cr_assert_eq(rmdir(dir), 0);
	arena_free(&a);
}

/* What the flag of a directory is read with must work where it is not ruled out. */
Test(fold, the_flag_is_read)
{
	struct arena a;
	struct stat st;
	struct filesystems all = { 0 };
	char dir[] = "/tmp/cordon-fold-XXXXXX";

	arena_init(&a, ARENA_MAX);
	cr_assert(mkdtemp(dir) && stat(dir, &st) == 0);
	*(struct filesystem *)vec_push(&all.known, &a) =
		(struct filesystem){ st.st_dev, FOLDS_BY_FLAG };
	cr_assert_not(directory_folds(&all, &a, dir, st.st_dev));
	cr_assert_eq(rmdir(dir), 0);
	cr_assert(directory_folds(&all, &a, dir, st.st_dev), "gone: there is no telling");
	arena_free(&a);
}
