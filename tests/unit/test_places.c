/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real file system: how paths are resolved, where things are, and what a .git file
 * may and may not open. Every test works in a directory of its own.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "run/places.h"
#include "run/situation.h"

#define ARENA_MAX ((size_t)64 << 20)
#define NOBODY 65534

static struct arena a;
static struct world world;
static struct cordon_error err;
static char *top; /* real, without symlinks */

static void setup(void)
{
	char name[] = "/tmp/cordon-places-XXXXXX";

	arena_init(&a, ARENA_MAX);
	cr_assert(mkdtemp(name));
	top = realpath(name, NULL);
	cr_assert(top && chmod(top, 0755) == 0);
	cr_assert_eq(world_os_init(&a, &world, &err), 0);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void teardown(void)
{
	cr_assert_eq(chdir("/"), 0);
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(top);
	arena_free(&a);
}

TestSuite(places, .init = setup, .fini = teardown);

static const char *at(const char *name)
{
	return arena_printf(&a, "%s/%s", top, name);
}

/* With its parents. */
static const char *make_dir(const char *name)
{
	const char *path = at(name);

	for (size_t i = strlen(top) + 1; path[i]; i++)
		if (path[i] == '/')
			mkdir(arena_dup(&a, (struct str){ path, i }), 0755);
	cr_assert(mkdir(path, 0755) == 0 || errno == EEXIST, "%s", path);
	return path;
}

static const char *make_file(const char *name, const char *text)
{
	const char *path = at(name), *slash = strrchr(name, '/');
	FILE *f;

	if (slash)
		make_dir(arena_dup(&a, str_take(str_of(name), (size_t)(slash - name))));
	f = fopen(path, "we");
	cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
	return path;
}

static void make_link(const char *name, const char *target)
{
	cr_assert_eq(symlink(target, at(name)), 0, "%s", name);
}

/* --- resolving --------------------------------------------------------------------- */

static int resolve(const char *path, struct str *ret, struct node *node)
{
	memset(&err, 0, sizeof(err));
	return world.resolve(&world, &a, str_of(path), ret, node, &err);
}

static void expect_real(const char *path, const char *wanted, enum node_type type)
{
	struct str real;
	struct node node;

	cr_assert_eq(resolve(path, &real, &node), 0, "%s: %s", path, err.message);
	cr_expect_str_eq(real.p, wanted);
	cr_expect_eq(real.n, strlen(wanted));
	cr_expect_eq(node.type, type, "%s", path);
}

static void expect_same_inode(const char *path, const char *other)
{
	struct str real;
	struct node node;
	struct stat st;

	cr_assert(resolve(path, &real, &node) == 0 && stat(other, &st) == 0);
	cr_expect(node.dev == st.st_dev && node.ino == st.st_ino, "%s", path);
}

static void expect_error(const char *path, int number)
{
	struct str real;
	struct node node;

	cr_assert_eq(resolve(path, &real, &node), -CORDON_E_PATH, "%s", path);
	cr_expect_eq(err.sys_errno, number, "%s: %s", path, err.message);
}

Test(places, plain_paths_and_what_they_are)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	make_file("d/f", "");
	cr_assert_eq(mkfifo(at("d/p"), 0600), 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", at("d/s"));
	cr_assert_eq(bind(s, (struct sockaddr *)&name, sizeof(name)), 0);
	close(s);
	expect_real(at("d"), at("d"), NODE_DIR);
	expect_real(at("d/f"), at("d/f"), NODE_FILE);
	expect_real(at("d/p"), at("d/p"), NODE_OTHER);
	expect_real(at("d/s"), at("d/s"), NODE_SOCKET);
	expect_real("/", "/", NODE_DIR);
	expect_same_inode(at("d/f"), at("d/f"));
	expect_same_inode("/", "/");
}

Test(places, symlinks_absolute_relative_and_through_each_other)
{
	make_file("real/sub/f", "");
	make_link("abs", at("real"));
	make_link("rel", "real/sub");
	make_link("real/up", "..");
	make_link("chain", "rel/../up/abs");
	expect_real(at("abs/sub/f"), at("real/sub/f"), NODE_FILE);
	expect_real(at("rel/f"), at("real/sub/f"), NODE_FILE);
	expect_real(at("real/up/abs"), at("real"), NODE_DIR);
	expect_real(at("chain/sub/f"), at("real/sub/f"), NODE_FILE);
	/* Remembered directories change nothing. */
	expect_real(at("abs/sub/f"), at("real/sub/f"), NODE_FILE);
	make_link("root", "/");
	expect_real(at("root"), "/", NODE_DIR);
	make_link("dot", "real/sub/.");
	expect_real(at("dot"), at("real/sub"), NODE_DIR);
	make_link("back", "real/sub/..");
	expect_real(at("back"), at("real"), NODE_DIR);
	expect_same_inode(at("back"), at("real"));
	expect_same_inode(at("dot"), at("real/sub"));
}

Test(places, loops_are_errors)
{
	make_link("self", "self");
	make_link("a", "b");
	make_link("b", "a/x");
	expect_error(at("self"), ELOOP);
	expect_error(at("self/x"), ELOOP);
	expect_error(at("a"), ELOOP);
}

Test(places, what_is_missing_is_resolved_as_far_as_it_exists)
{
	make_dir("real");
	make_file("f", "");
	make_link("link", "real");
	make_link("dangling", "gone/deep");
	expect_real(at("none"), at("none"), NODE_ABSENT);
	expect_real(at("link/new/file"), at("real/new/file"), NODE_ABSENT);
	expect_real(at("dangling"), at("gone/deep"), NODE_ABSENT);
	expect_real(at("dangling/more"), at("gone/deep/more"), NODE_ABSENT);
	/* Below a file nothing can be. */
	expect_real(at("f/x"), at("f/x"), NODE_ABSENT);
}

Test(places, a_link_that_climbs_out_of_what_is_missing)
{
	make_dir("real");
	make_link("l", "gone/../real");
	/* The kernel would say ENOENT; what counts is that nothing wider is named. */
	expect_real(at("l"), at("real"), NODE_ABSENT);
	make_link("up", "../../../../../../../../../../../etc");
	expect_real(at("up/passwd"), "/etc/passwd", NODE_FILE);
}

Test(places, names_that_are_not_utf8)
{
	make_file("\xff\xfe/\x01", "");
	make_link("l", "\xff\xfe");
	expect_real(at("l/\x01"), at("\xff\xfe/\x01"), NODE_FILE);
}

/* Up to the longest path that the kernel takes, and beyond it. */
Test(places, very_long_paths)
{
	autobuf struct buf path = buf_make(8192);
	char part[256];
	struct str real;
	struct node node;

	memset(part, 'x', 255);
	part[255] = '\0';
	buf_adds(&path, top);
	while (path.n + 256 <= PATH_BYTES_MAX - 300) {
		buf_addf(&path, "/%s", part);
		cr_assert_eq(mkdir(path.p, 0755), 0, "%zu", path.n);
	}
	expect_real(path.p, path.p, NODE_DIR);
	make_link("short", path.p);
	expect_real(at("short/new"), arena_printf(&a, "%s/new", path.p), NODE_ABSENT);
	/* Short as written, too long once the link is followed. */
	make_link("twice", arena_printf(&a, "short/%s/%s", part, part));
	cr_assert_eq(resolve(at("twice"), &real, &node), -CORDON_E_PATH);
	cr_expect_eq(err.sys_errno, ENAMETOOLONG, "%s", err.message);
	expect_error(arena_printf(&a, "%s/%s%s", top, part, "y"), ENAMETOOLONG);
}

static void as_nobody(void (*check)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
			_exit(3);
		check();
		_exit(0);
	}
	cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}

static void check_closed(void)
{
	struct str real;
	struct node node;

	if (resolve(at("closed/in"), &real, &node) != -CORDON_E_PATH || err.sys_errno != EACCES)
		_exit(1);
	if (resolve(at("closed"), &real, &node) != 0 || node.type != NODE_DIR)
		_exit(2);
}

Test(places, a_directory_that_may_not_be_searched_is_an_error)
{
	make_file("closed/in", "");
	cr_assert_eq(chmod(at("closed"), 0), 0);
	as_nobody(check_closed);
	chmod(at("closed"), 0755);
}

/* --- places ------------------------------------------------------------------------ */

static const char *home;

static int read_places(const char *workdir, struct places *ret)
{
	const char *const env[] = { arena_printf(&a, "HOME=%s", home), NULL };
	struct situation_options o = { .workdir = workdir, .environ = env };

	memset(&err, 0, sizeof(err));
	return situation_places(&a, &o, ret, &err);
}

static struct places places_of(const char *workdir)
{
	struct places p;

	if (!home)
		home = make_dir("home");
	cr_assert_eq(read_places(workdir, &p), 0, "%s", err.message);
	return p;
}

Test(places, workdir_and_home_are_real)
{
	struct places p;

	make_dir("disk/u/w");
	make_link("home", "disk/u");
	home = at("home");
	p = places_of(at("home/w/../w/."));
	cr_expect_str_eq(p.workdir.p, at("disk/u/w"));
	cr_expect_str_eq(p.home.p, at("disk/u"));
	cr_expect_str_eq(p.cordon_home.p, at("disk/u/.cordon"));
	cr_expect(str_eq(p.data, p.workdir));
	cr_expect_eq(p.git_dir.n, 0);
}

Test(places, a_workdir_that_cannot_be_one)
{
	struct places p;

	home = make_dir("home");
	make_file("file", "");
	make_link("loop", "loop");
	cr_expect_eq(read_places(at("none"), &p), -CORDON_E_PATH);
	cr_expect_eq(err.sys_errno, ENOENT);
	cr_expect_eq(read_places(at("file"), &p), -CORDON_E_PATH);
	cr_expect_eq(err.sys_errno, ENOTDIR);
	cr_expect_eq(read_places(at("loop"), &p), -CORDON_E_PATH);
	cr_expect_eq(err.sys_errno, ELOOP);
	cr_expect_eq(read_places("", &p), -CORDON_E_PATH);
}

Test(places, system_directories_only_when_said)
{
	static const char *const refused[] = { "/etc", "/usr/lib", "/var", "/dev",    "/proc/self",
					       "/home", "/bin",    "/tmp", "/var/tmp" };
	struct places p;

	home = make_dir("home");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		cr_assert_eq(chdir(refused[i]), 0, "%s", refused[i]);
		cr_expect_eq(read_places(NULL, &p), -CORDON_E_CONFIG, "%s", refused[i]);
		cr_expect(strstr(err.hint, "--workdir"), "%s", err.hint);
		cr_expect_eq(read_places(refused[i], &p), 0, "%s", err.message);
	}
	cr_assert_eq(chdir(make_dir("project")), 0);
	cr_expect_eq(read_places(NULL, &p), 0, "%s", err.message);
}

Test(places, home_and_root_only_when_said)
{
	struct places p;

	home = make_dir("home");
	cr_assert_eq(chdir(home), 0);
	cr_expect_eq(read_places(NULL, &p), -CORDON_E_CONFIG);
	cr_expect(strstr(err.hint, "--workdir"), "%s", err.hint);
	cr_expect_eq(read_places(home, &p), 0, "%s", err.message);
	cr_assert_eq(chdir("/"), 0);
	cr_expect_eq(read_places(NULL, &p), -CORDON_E_CONFIG);
}

Test(places, a_deleted_current_directory_says_so)
{
	struct places p;

	home = make_dir("home");
	cr_assert_eq(chdir(make_dir("gone")), 0);
	cr_assert_eq(rmdir(at("gone")), 0);
	cr_expect_eq(read_places(NULL, &p), -CORDON_E_PATH);
	cr_expect(strstr(err.hint, "-C"), "%s", err.hint);
}

static int with_cordon_home(const char *path)
{
	const char *const env[] = { arena_printf(&a, "HOME=%s", make_dir("home")),
				    arena_printf(&a, "CORDON_HOME=%s", path), NULL };
	struct situation_options o = { .workdir = make_dir("w"), .environ = env };
	struct places p;

	memset(&err, 0, sizeof(err));
	return situation_places(&a, &o, &p, &err);
}

Test(places, cordons_own_home_must_be_the_callers_alone)
{
	const char *own = make_dir("own");

	cr_expect_eq(with_cordon_home(own), 0, "%s", err.message);
	cr_expect_eq(with_cordon_home(at("not-yet")), 0, "%s", err.message);
	cr_expect_eq(with_cordon_home("relative"), -CORDON_E_CONFIG);
	cr_expect_eq(with_cordon_home(at("w/inside")), -CORDON_E_CONFIG);
	cr_expect_eq(with_cordon_home(make_file("file", "")), -CORDON_E_CONFIG);
	make_link("into", "w");
	cr_expect_eq(with_cordon_home(at("into")), -CORDON_E_CONFIG);
	cr_assert_eq(chmod(own, 0770), 0);
	cr_expect_eq(with_cordon_home(own), -CORDON_E_CONFIG);
	cr_expect(strstr(err.hint, "chmod go-w"), "%s", err.hint);
	if (geteuid() == 0) {
		cr_assert(chmod(own, 0755) == 0 && chown(own, NOBODY, NOBODY) == 0);
		cr_expect_eq(with_cordon_home(own), -CORDON_E_CONFIG);
	}
}

/* --- git --------------------------------------------------------------------------- */

static void expect_git(const char *workdir, const char *dir, const char *common)
{
	struct places p = places_of(at(workdir));

	cr_expect_str_eq(p.git_dir.n ? p.git_dir.p : "", dir ? at(dir) : "", "%s", workdir);
	cr_expect_str_eq(p.git_common.n ? p.git_common.p : "", common ? at(common) : "", "%s",
			 workdir);
}

/* A repository and a worktree of it, as git lays them out. */
static void make_worktree(void)
{
	make_dir("repo/.git/objects");
	make_file("repo/.git/worktrees/wt/commondir", "../..\n");
	make_file("repo/.git/worktrees/wt/gitdir", arena_printf(&a, "%s\n", at("wt/.git")));
	make_file("wt/.git", arena_printf(&a, "gitdir: %s\n", at("repo/.git/worktrees/wt")));
}

Test(places, the_git_directory_at_or_above_the_workdir)
{
	make_dir("repo/.git/objects");
	make_dir("repo/deep/er");
	make_dir("plain");
	expect_git("repo", "repo/.git", NULL);
	expect_git("repo/deep/er", "repo/.git", NULL);
	expect_git("plain", NULL, NULL);
}

Test(places, a_worktree_and_its_common_directory)
{
	make_worktree();
	make_dir("wt/sub");
	expect_git("wt", "repo/.git/worktrees/wt", "repo/.git");
	expect_git("wt/sub", "repo/.git/worktrees/wt", "repo/.git");
}

/* A submodule's directory does not point back, so it is not opened. */
Test(places, a_submodule_opens_nothing)
{
	make_dir("repo/.git/modules/sub/objects");
	make_file("repo/sub/.git", "gitdir: ../.git/modules/sub\n");
	expect_git("repo/sub", NULL, NULL);
}

Test(places, a_git_file_that_points_elsewhere_opens_nothing)
{
	static const char *const hostile[] = {
		"gitdir: ../secret\n",
		"gitdir: ../secret/../secret\n",
		"gitdir: /etc\n",
		"gitdir: /\n",
		"gitdir: ../none\n",
		"gitdir: \n",
		"gitdir:../secret\n",
		"nonsense\n",
		"",
		"gitdir: loop\n",
		"gitdir: .\n",
		"gitdir: .git\n",
	};

	make_dir("secret/objects");
	make_dir("w");
	make_link("w/loop", "loop");
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		make_file("w/.git", hostile[i]);
		expect_git("w", NULL, NULL);
	}
}

/* Everything in the worktree may have been written by a command that was confined to it. */
Test(places, a_worktree_made_by_hand_opens_nothing)
{
	const char *back = arena_printf(&a, "%s\n", at("home/w/.git"));

	make_dir("home/objects");
	make_file("home/w/evil/gitdir", back);
	make_file("home/w/evil/commondir", "../..\n");
	make_file("home/w/.git", "gitdir: evil\n");
	expect_git("home/w", NULL, NULL);
	/* In git's layout, but inside. */
	make_file("home/w/x/worktrees/n/gitdir", back);
	make_file("home/w/x/worktrees/n/commondir", "../..\n");
	make_dir("home/w/x/objects");
	make_file("home/w/.git", "gitdir: x/worktrees/n\n");
	expect_git("home/w", NULL, NULL);
}

/* The workdir's own name completes the layout: HOME would be the common directory. */
Test(places, a_workdir_named_like_a_worktree_opens_nothing)
{
	make_dir("home/objects");
	make_file("home/worktrees/w/gitdir", arena_printf(&a, "%s\n", at("home/worktrees/w/.git")));
	make_file("home/worktrees/w/commondir", "../..\n");
	make_file("home/worktrees/w/.git", "gitdir: .\n");
	expect_git("home/worktrees/w", NULL, NULL);
}

Test(places, a_common_directory_that_is_none_opens_nothing)
{
	static const char *const hostile[] = { "../../..\n",	    "/\n", "..\n",
					       "../../../secret\n", "",	   "\n" };

	make_worktree();
	make_dir("secret/objects");
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		make_file("repo/.git/worktrees/wt/commondir", hostile[i]);
		expect_git("wt", NULL, NULL);
	}
	make_file("repo/.git/worktrees/wt/commondir", "../..\n");
	expect_git("wt", "repo/.git/worktrees/wt", "repo/.git");
	cr_assert_eq(rmdir(at("repo/.git/objects")), 0);
	expect_git("wt", NULL, NULL);
}

Test(places, a_link_or_a_fifo_named_git_opens_nothing)
{
	make_dir("secret/objects");
	make_dir("w");
	make_link("w/.git", "../secret");
	expect_git("w", NULL, NULL);
	cr_assert(unlink(at("w/.git")) == 0 && mkfifo(at("w/.git"), 0600) == 0);
	expect_git("w", NULL, NULL);
}
