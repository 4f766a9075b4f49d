/* SPDX-License-Identifier: Apache-2.0 */
/* run/witness: who put a name where it is. Root alone is told. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/scratch.h"
#include "run/witness.h"
#include "skip.h"

static struct arena a;
static struct cordon_error err;
static const char *top;
static int dir = -1;
static struct witness w;
static pid_t own; /* what counts as the command's */

static const char *knows(void *data, const char *name)
{
	static const char *const names[] = { "name", "other" };

	(void)data;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return names[i];
	return NULL;
}

static bool ours(void *data, pid_t tid)
{
	(void)data;
	return tid == own;
}

static void setup(void)
{
	arena_init(&a, (size_t)1 << 20);
	cr_assert_eq(scratch_make(&a, "/tmp", &top, &err), 0, "%s", err.message);
	dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	w = (struct witness){ .knows = knows, .ours = ours };
	if (!witness_begin(&w))
		honest_skip("the kernel does not tell who makes names");
	witness_watch(&w, dir);
}

static void teardown(void)
{
	witness_end(&w);
	close(dir);
	scratch_remove(top);
	arena_free(&a);
}

TestSuite(witness, .init = setup, .fini = teardown);

static void make(const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0, "%s: %s", name, strerror(errno));
	close(fd);
}

static void link_there(const char *name)
{
	cr_assert_eq(linkat(dir, "old", dir, name, 0), 0);
}

static void move_there(const char *name)
{
	cr_assert_eq(renameat(dir, "old", dir, name), 0);
}

static void open_it(const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0, "%s: %s", name, strerror(errno));
	close(fd);
}

/* By a process that counts as the command's. */
static void inside(void (*does)(const char *name), const char *name)
{
	pid_t pid;
	int go[2];
	char c;

	cr_assert_eq(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &c, 1) == 0)
			does(name);
		_exit(0);
	}
	own = pid;
	close(go[0]);
	close(go[1]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	witness_listen(&w);
	own = 0;
}

static bool others(const char *name)
{
	return witness_saw_others(&w, dir, name, false);
}

Test(witness, what_others_make_is_theirs)
{
	make("name");
	cr_assert(others("name"));
	cr_assert_eq(mkdirat(dir, "other", 0700), 0);
	cr_assert(others("other"));
	cr_assert(others("name"), "it is remembered");
}

Test(witness, what_the_command_makes_is_not)
{
	inside(make, "name");
	cr_assert_not(others("name"));
}

/* The number may be another's by then. */
Test(witness, whose_it_is_was_decided_when_it_was_heard)
{
	inside(make, "name");
	own = 0;
	cr_assert_not(others("name"));
}

Test(witness, an_object_is_told_from_another_of_the_same_name)
{
	make("name");
	cr_assert(others("name"));
	cr_assert_eq(unlinkat(dir, "name", 0), 0);
	inside(make, "name");
	cr_assert_not(others("name"));
}

Test(witness, what_others_made_and_the_command_moved_is_not_theirs)
{
	make("old");
	inside(move_there, "name");
	cr_assert_not(others("name"));
}

Test(witness, nor_what_it_linked)
{
	make("old");
	inside(link_there, "name");
	cr_assert_not(others("name"));
}

Test(witness, what_others_move_there_is_theirs)
{
	inside(make, "old");
	cr_assert_eq(renameat(dir, "old", dir, "name"), 0);
	cr_assert(others("name"));
}

Test(witness, once_by_the_command_is_enough)
{
	make("name");
	cr_assert_eq(renameat(dir, "name", dir, "old"), 0);
	inside(move_there, "name");
	cr_assert_not(others("name"));
}

Test(witness, what_others_made_and_the_command_opened_is_not_theirs)
{
	make("name");
	make("other");
	cr_assert(others("name"));
	inside(open_it, "name");
	cr_assert_not(others("name"));
	cr_assert(others("other"));
}

Test(witness, opening_it_makes_it_nobodys)
{
	int sub;

	cr_assert_eq(mkdirat(dir, "sub", 0700), 0);
	make("sub/name");
	sub = openat(dir, "sub", O_PATH | O_DIRECTORY | O_CLOEXEC);
	witness_watch(&w, sub);
	open_it("sub/name");
	cr_assert_not(witness_saw_others(&w, sub, "name", false));
	close(sub);
	make("name");
	open_it("name");
	cr_assert(others("name"));
}

/* By its former name anybody may have opened it. */
Test(witness, what_others_moved_there_is_not_new)
{
	make("old");
	make("other");
	move_there("name");
	cr_assert(others("name"));
	cr_assert_not(witness_saw_others(&w, dir, "name", true));
	cr_assert(witness_saw_others(&w, dir, "other", true));
}

Test(witness, of_what_was_there_before_nothing_is_known)
{
	int sub;

	cr_assert_eq(mkdirat(dir, "sub", 0700), 0);
	sub = openat(dir, "sub", O_PATH | O_DIRECTORY | O_CLOEXEC);
	make("sub/name");
	witness_watch(&w, sub);
	cr_assert_not(witness_saw_others(&w, sub, "name", false));
	make("sub/other");
	cr_assert(witness_saw_others(&w, sub, "other", false));
	close(sub);
}

Test(witness, of_what_is_not_there_nothing_is_known)
{
	cr_assert_not(others("name"));
}

Test(witness, names_that_nobody_asks_for_take_no_room)
{
	make("name");
	for (unsigned i = 0; i < 3 * WITNESS_SEEN_MAX; i++) {
		make("x");
		cr_assert_eq(unlinkat(dir, "x", 0), 0);
	}
	cr_assert(others("name"));
}

Test(witness, without_room_nothing_is_known_of_what_was_before)
{
	make("other");
	for (unsigned i = 0; i < WITNESS_SEEN_MAX; i++) {
		make("name");
		/* One that was listened to is not merged with the next. */
		witness_listen(&w);
		cr_assert_eq(unlinkat(dir, "name", 0), 0);
	}
	make("name");
	cr_assert(others("name"));
	cr_assert_not(others("other"));
}

/* More than the kernel keeps. */
Test(witness, nor_when_the_kernel_left_something_out)
{
	char text[32];

	make("name");
	cr_assert(others("name"));
	for (unsigned i = 0; i < 17000; i++) {
		snprintf(text, sizeof(text), "x%u", i);
		cr_assert_eq(mknodat(dir, text, S_IFREG | 0600, 0), 0);
	}
	cr_assert_not(others("name"));
}

Test(witness, there_may_be_none)
{
	struct witness none = { .knows = knows, .ours = ours };

	witness_watch(&none, dir);
	witness_listen(&none);
	make("name");
	cr_assert_not(witness_saw_others(&none, dir, "name", false));
	witness_end(&none);
}
