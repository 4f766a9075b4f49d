/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a process from outside, and resolving paths as it would. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/target.h"

static char dir[] = "/tmp/cordon-target-XXXXXX";
static pid_t child;
static struct target_view view = { .root = -1 };
static struct target target = { .view = &view };

static void make_tree(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	cr_assert_eq(mkdir("a", 0755), 0);
	cr_assert_eq(mkdir("a/b", 0755), 0);
	cr_assert_eq(symlink("a/b", "rel"), 0);
	cr_assert_eq(symlink(dir, "a/abs"), 0);
	cr_assert_eq(symlink("nowhere/x", "dangling"), 0);
	cr_assert_eq(symlink("a/new", "to-new"), 0);
	cr_assert_eq(symlink("loop", "loop"), 0);
	close(open("file", O_CREAT | O_WRONLY, 0644));
}

/* A child in a/b that has the top directory as descriptor 9 and waits. */
static void start(void)
{
	int ready[2];
	char c;

	make_tree();
	cr_assert_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		int top = open(".", O_RDONLY | O_DIRECTORY);

		if (dup2(top, 9) != 9 || chdir("a/b") < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	target.tid = child;
}

static void stop(void)
{
	char command[128];

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fd_close(&view.root);
	snprintf(command, sizeof(command), "/bin/rm -rf %s", dir);
	cr_assert_eq(chdir("/"), 0);
	child = fork();
	if (child == 0)
		execl("/bin/rm", "rm", "-rf", dir, NULL);
	waitpid(child, NULL, 0);
}

TestSuite(target, .init = start, .fini = stop);

/* "DIR|NAME", with the temporary directory left out; or the errno's number. */
static const char *resolved(int dirfd, const char *path, bool follow)
{
	static char text[2 * PATH_MAX + NAME_MAX];
	char where[PATH_MAX];
	struct target_place place;
	int r = target_resolve(&target, dirfd, path, follow, &place);

	if (r < 0) {
		snprintf(text, sizeof(text), "%d", -r);
		return text;
	}
	cr_assert_gt(target_path_of(place.dir, where), 0);
	fd_close(&place.dir);
	if (strncmp(where, dir, strlen(dir)) == 0)
		snprintf(text, sizeof(text), "~%s|%s", where + strlen(dir), place.name);
	else
		snprintf(text, sizeof(text), "%s|%s", where, place.name);
	return text;
}

static const char *error(int errnum)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", errnum);
	return text;
}

Test(target, resolves_relative_paths)
{
	cr_assert_str_eq(resolved(AT_FDCWD, "x", false), "~/a/b|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "./x/", false), "~/a/b|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "../x", false), "~/a|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "../../rel/x", false), "~/a/b|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "../abs/x", false), "~|x");
	cr_assert_str_eq(resolved(9, "a//b///x", false), "~/a/b|x");
	cr_assert_str_eq(resolved(9, "rel/../x", false), "~/a|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "..", false), "~/a|");
	cr_assert_str_eq(resolved(AT_FDCWD, ".", false), "~/a/b|");
}

Test(target, resolves_from_the_root)
{
	cr_assert_str_eq(resolved(AT_FDCWD, "/", false), "/|");
	cr_assert_str_eq(resolved(AT_FDCWD, "/x", false), "/|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "/../../x", false), "/|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "/tmp/x", false), "/tmp|x");
}

Test(target, follows_the_last_link_when_asked)
{
	cr_assert_str_eq(resolved(9, "to-new", false), "~|to-new");
	cr_assert_str_eq(resolved(9, "to-new", true), "~/a|new");
	cr_assert_str_eq(resolved(9, "rel", true), "~/a|b");
	cr_assert_str_eq(resolved(9, "dangling", true), error(ENOENT));
	cr_assert_str_eq(resolved(9, "loop", true), error(ELOOP));
	cr_assert_str_eq(resolved(9, "loop/x", false), error(ELOOP));
}

Test(target, takes_the_links_of_proc_as_the_targets)
{
	char path[64];

	cr_assert_str_eq(resolved(AT_FDCWD, "/proc/self/cwd/x", false), "~/a/b|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "/proc/thread-self/cwd/../x", false), "~/a|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "/proc/self/fd/9/x", false), "~|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "/dev/fd/9/x", false), "~|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "/proc/self/root/tmp/x", false), "/tmp|x");
	snprintf(path, sizeof(path), "/proc/%d/cwd/x", (int)child);
	cr_assert_str_eq(resolved(AT_FDCWD, path, false), "~/a/b|x");
	cr_assert_str_eq(resolved(AT_FDCWD, "/proc/self/fd/77/x", false), error(ENOENT));
}

Test(target, fails_as_the_kernel_would)
{
	char longest[PATH_MAX + 1], name[NAME_MAX + 2];

	memset(longest, 'a', PATH_MAX);
	longest[PATH_MAX] = '\0';
	memset(name, 'n', NAME_MAX + 1);
	name[NAME_MAX + 1] = '\0';
	cr_assert_str_eq(resolved(9, "", false), error(ENOENT));
	cr_assert_str_eq(resolved(9, "none/x", false), error(ENOENT));
	cr_assert_str_eq(resolved(9, "file/x", false), error(ENOTDIR));
	cr_assert_str_eq(resolved(9, longest, false), error(ENAMETOOLONG));
	cr_assert_str_eq(resolved(9, name, false), error(ENAMETOOLONG));
	cr_assert_str_eq(resolved(77, "x", false), error(EBADF));
	cr_assert_str_eq(resolved(-5, "x", false), error(EBADF));
}

Test(target, knows_where_no_link_is)
{
	cr_assert(target_has_no_links(&target, 9, "a/b/x"));
	cr_assert(target_has_no_links(&target, 9, "file"));
	cr_assert(target_has_no_links(&target, AT_FDCWD, "/proc/none"));
	cr_assert_not(target_has_no_links(&target, 9, "rel/x"));
	cr_assert_not(target_has_no_links(&target, 9, "to-new"));
	cr_assert_not(target_has_no_links(&target, AT_FDCWD, "/proc/self/x"));
	cr_assert_not(target_has_no_links(&target, 77, "x"));
}

/* The child has our memory at the same addresses. */
Test(memory, is_read_up_to_where_it_ends)
{
	char *pages = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	char text[PATH_MAX], other[PATH_MAX];
	struct target_string strings[2];
	pid_t pid;

	cr_assert_neq(pages, MAP_FAILED);
	memset(pages, 'x', 4 * 4096);
	memcpy(pages + 4096 - 3, "abc", 3);
	pages[4096 + 1] = '\0';
	memcpy(pages + 3 * 4096 - 4, "end", 4);
	cr_assert_eq(munmap(pages + 3 * 4096, 4096), 0);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	/* Over the edge of a page, at the very end, beyond it, too long, nowhere. */
	cr_assert_eq(target_read_string(pid, (uintptr_t)(pages + 4096 - 3), text), 4);
	cr_assert_str_eq(text, "abcx");
	cr_assert_eq(target_read_string(pid, (uintptr_t)(pages + 3 * 4096 - 4), text), 3);
	cr_assert_str_eq(text, "end");
	pages[0] = 'x';
	cr_assert_eq(target_read_string(pid, (uintptr_t)(pages + 4096 + 2), text), -ENAMETOOLONG);
	cr_assert_eq(target_read_string(pid, 8, text), -EFAULT);
	cr_assert_eq(target_read_string(pid, UINT64_MAX, text), -EFAULT);
	cr_assert_eq(target_read(pid, (uintptr_t)(pages + 3 * 4096 - 4), text, 8), -EFAULT);
	for (int swapped = 0; swapped < 2; swapped++) {
		struct target_string good = { (uintptr_t)(pages + 3 * 4096 - 4), text, 0 };
		struct target_string bad = { (uintptr_t)(pages + 3 * 4096 + 8), other, 0 };
		struct target_string both[2] = { swapped ? bad : good, swapped ? good : bad };

		target_read_strings(pid, both, 2);
		cr_assert_eq(both[swapped].n, 3);
		cr_assert_str_eq(text, "end");
		cr_assert_eq(both[!swapped].n, -EFAULT);
	}
	strings[0] = (struct target_string){ (uintptr_t)(pages + 4096 - 3), text, 0 };
	strings[1] = (struct target_string){ (uintptr_t)(pages + 3 * 4096 - 4), other, 0 };
	target_read_strings(pid, strings, 2);
	cr_assert_eq(strings[0].n, 4);
	cr_assert_str_eq(text, "abcx");
	cr_assert_eq(strings[1].n, 3);
	cr_assert_str_eq(other, "end");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_assert_eq(target_read_string(pid, (uintptr_t)pages, text), -EACCES);
	target_read_strings(pid, strings, 2);
	cr_assert_eq(strings[0].n, -EACCES);
	cr_assert_eq(strings[1].n, -EACCES);
}
