/* SPDX-License-Identifier: Apache-2.0 */
/* run/sentry: what is taken away, what is left, and what is told of both. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/scratch.h"
#include "plain_user.h"
#include "run/sentry.h"
#include "skip.h"

static struct arena a;
static struct cordon_error err;
static const char *top, *work;
static struct plan plan;
static struct sentry *s;
static struct loop *loop;

/* What the sentry said. */
static unsigned violations, entries;
static const char *object, *kept;
static int why;

static void caught(void *data, struct str path, const struct rule *rule)
{
	(void)data;
	(void)rule;
	object = arena_dup(&a, path);
	violations++;
}

static void told(void *data, struct str path, const char *where, int errnum)
{
	(void)data;
	object = arena_dup(&a, path);
	kept = where ? arena_dup(&a, str_of(where)) : NULL;
	why = errnum;
	entries++;
}

static void got_signal(void *data, int sig, bool by_terminal)
{
	(void)data;
	(void)sig;
	(void)by_terminal;
}

static const char *in_work(const char *name)
{
	return arena_printf(&a, "%s/%s", work, name);
}

static void guard(const char *name)
{
	struct op *op = vec_push(&plan.ops, &a);

	cr_assert(op);
	*op = (struct op){ .kind = OP_GUARD_NAME, .path = str_of(in_work(name)) };
}

static void setup(void)
{
	sigset_t none;

	become_plain_user();
	arena_init(&a, (size_t)16 << 20);
	cr_assert_eq(scratch_make(&a, "/tmp", &top, &err), 0, "%s", err.message);
	work = arena_printf(&a, "%s/work", top);
	cr_assert_eq(mkdir(work, 0700), 0);
	sigemptyset(&none);
	cr_assert_eq(loop_new(&none, got_signal, NULL, &loop, &err), 0);
	guard("name");
	guard("deep/er/name");
	s = arena_new(&a, struct sentry);
	s->caught = caught;
	s->told = told;
	s->quarantine = (struct quarantine){ .home = arena_printf(&a, "%s/home", top),
					     .workdir = str_of(work),
					     .held = -1 };
	cr_assert_eq(sentry_begin(s, &a, loop, &plan, &err), 0);
}

static void teardown(void)
{
	sentry_end(s);
	loop_free(loop);
	chmod(in_work("deep"), 0700);
	scratch_remove(top);
	arena_free(&a);
}

TestSuite(sentry, .init = setup, .fini = teardown);

/* A call that is under way as long as this process asks for itself: that is a read. */
static void goes_on(enum inflight_kind kind)
{
	sentry_saw(s, getpid(), SYS_read, kind);
}

/* A call of a thread that is gone, so that it is over with the next look. */
static void went_on(enum inflight_kind kind)
{
	sentry_saw(s, 1 << 30, SYS_read, kind);
}

static void look(void)
{
	s->timer.fired(s->timer.data);
}

static void make_file(const char *name)
{
	int fd = open(in_work(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0, "%s: %s", name, strerror(errno));
	close(fd);
}

static bool there(const char *name)
{
	struct stat st;

	return lstat(in_work(name), &st) == 0;
}

static unsigned names_in_work(void)
{
	DIR *d = opendir(work);
	unsigned n = 0;

	cr_assert(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* After a look that took `name`: it is in the quarantine in the end and nothing is left. */
static void ends_taken(const char *name, unsigned names)
{
	cr_assert_not(there(name));
	cr_assert_eq(violations, 1);
	cr_assert_str_eq(object, in_work(name));
	cr_assert_eq(names_in_work(), names + 1, "it waits beside its name");
	sentry_end(s);
	cr_assert_eq(entries, 1);
	cr_assert_str_eq(object, in_work(name));
	cr_assert(kept && quarantine_holds(&s->quarantine, kept));
	cr_assert_eq(faccessat(AT_FDCWD, kept, F_OK, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(names_in_work(), names);
}

static void ends_left(const char *name)
{
	look();
	cr_assert(there(name));
	sentry_end(s);
	cr_assert(there(name));
	cr_assert_eq(violations, 0);
	cr_assert_eq(entries, 1);
	cr_assert_null(kept);
	cr_assert_eq(why, 0);
}

Test(sentry, a_file_made_by_a_call_is_taken)
{
	goes_on(INFLIGHT_FILE);
	make_file("name");
	look();
	ends_taken("name", 0);
}

Test(sentry, a_directory_made_by_a_call_is_taken)
{
	goes_on(INFLIGHT_DIR);
	cr_assert_eq(mkdir(in_work("name"), 0700), 0);
	look();
	ends_taken("name", 0);
}

Test(sentry, the_last_look_takes_too)
{
	goes_on(INFLIGHT_NODE);
	cr_assert_eq(symlink("x", in_work("name")), 0);
	sentry_end(s);
	cr_assert_not(there("name"));
	cr_assert_eq(violations, 1);
	cr_assert_eq(entries, 1);
	cr_assert(kept);
}

/* Then it does not tell before from after. */
static void set_clock_back(void)
{
	const int64_t hour = (int64_t)3600 * 1000000000;

	s->looks += hour;
	vec_each(p, &s->places)
		p->fine_at += hour;
}

Test(sentry, nor_does_it_stay_where_the_clock_was_set_back)
{
	went_on(INFLIGHT_FILE);
	make_file("name");
	set_clock_back();
	look();
	ends_taken("name", 0);
}

Test(sentry, what_a_call_of_another_kind_cannot_make_is_left)
{
	goes_on(INFLIGHT_FILE);
	cr_assert_eq(mkdir(in_work("name"), 0700), 0);
	ends_left("name");
}

Test(sentry, a_call_that_is_over_made_nothing_later)
{
	went_on(INFLIGHT_FILE);
	went_on(INFLIGHT_MOVE);
	look();
	make_file("name");
	ends_left("name");
}

/* It is asked what is over, a moment after the last call went on. */
static void settles(void)
{
	s->settler.fired(s->settler.data);
	while (s->settler.set && inflight_since(&s->inflight) < 100000)
		;
	s->settler.fired(s->settler.data);
}

/* All that is under way is over, and files that are made from here on are younger. */
static void some_ticks_pass(void)
{
	const struct file_clock never_moved = { 0 };
	int64_t now;

	settles();
	now = inflight_now();
	while (file_clock_now(&never_moved) <= now)
		;
}

static void needs_times_of_writes(void)
{
	struct statfs fs;

	cr_assert_eq(statfs(work, &fs), 0);
	if (fs.f_type != 0xef53 && fs.f_type != 0x58465342 && (uint32_t)fs.f_type != 0x9123683e)
		honest_skip("in /tmp a file may be written without a change of its times");
}

/* In /tmp the times must be this machine's, too, and whole. */
static void needs_a_clock_that_moves(void)
{
	static const uint32_t exact[] = { 0x01021994, 0xef53, 0x58465342, 0x9123683e, 0x794c7630 };
	struct file_clock c = { 0 };
	struct statfs fs;
	bool is_exact = false;

	cr_assert_eq(statfs(work, &fs), 0);
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		is_exact |= (uint32_t)fs.f_type == exact[i];
	if (!is_exact)
		honest_skip("the times of files in /tmp are not known to be this machine's");

	file_clock_step(&c);
	if (c.fd < 0)
		honest_skip("times of files come from ticks alone");
	file_clock_close(&c);
}

/* However often, all in a few ticks. */
Test(sentry, what_is_made_right_after_a_call_is_left_within_a_tick)
{
	needs_a_clock_that_moves();
	for (unsigned i = 0; i < 50; i++) {
		went_on(INFLIGHT_FILE);
		settles();
		make_file("name");
		look();
		cr_assert(there("name"), "%u", i);
		cr_assert_eq(unlink(in_work("name")), 0);
		look();
	}
	cr_assert_eq(violations, 0);
}

Test(sentry, and_right_before_one_within_a_tick)
{
	const struct timespec moment = { .tv_nsec = 600000 };

	needs_a_clock_that_moves();
	needs_times_of_writes();
	went_on(INFLIGHT_DIR);
	for (unsigned i = 0; i < 50; i++) {
		make_file("name");
		nanosleep(&moment, NULL);
		went_on(INFLIGHT_FILE);
		look();
		cr_assert(there("name"), "%u", i);
		cr_assert_eq(unlink(in_work("name")), 0);
		look();
	}
	cr_assert_eq(violations, 0);
}

/* What one made is not taken for somebody else's because of the others around it. */
Test(sentry, what_is_made_during_a_call_is_taken_within_a_tick)
{
	for (unsigned i = 0; i < 50; i++) {
		went_on(INFLIGHT_FILE);
		make_file("name");
		settles();
		look();
		cr_assert_not(there("name"), "%u", i);
	}
	cr_assert_eq(violations, 50);
}

Test(sentry, what_somebody_makes_right_after_a_call_is_left)
{
	went_on(INFLIGHT_FILE);
	some_ticks_pass();
	make_file("name");
	look();
	ends_left("name");
}

Test(sentry, and_right_before_one)
{
	needs_times_of_writes();
	went_on(INFLIGHT_DIR);
	make_file("name");
	some_ticks_pass();
	went_on(INFLIGHT_FILE);
	look();
	ends_left("name");
}

Test(sentry, nor_does_a_directory_that_was_there_bring_it)
{
	cr_assert_eq(mkdir(in_work("deep"), 0700), 0);
	cr_assert_eq(mkdir(in_work("deep/er"), 0700), 0);
	went_on(INFLIGHT_MOVE);
	some_ticks_pass();
	make_file("deep/er/name");
	look();
	ends_left("deep/er/name");
}

static void change(const char *name)
{
	int fd = open(in_work(name), O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "x", 1), 1);
	close(fd);
}

/* Somebody else made it, and it was left. */
static void leave_file(void)
{
	went_on(INFLIGHT_DIR);
	look();
	make_file("name");
	/* Where times of files only tick. */
	some_ticks_pass();
	some_ticks_pass();
	some_ticks_pass();
	look();
	cr_assert(there("name"));
	cr_assert_eq(violations, 0);
}

Test(sentry, what_is_left_is_not_taken_later)
{
	needs_times_of_writes();
	leave_file();
	goes_on(INFLIGHT_MOVE);
	goes_on(INFLIGHT_FILE);
	goes_on(INFLIGHT_OPEN);
	ends_left("name");
}

Test(sentry, nor_when_it_is_changed_and_nothing_can_have_opened_it)
{
	leave_file();
	goes_on(INFLIGHT_DIR);
	goes_on(INFLIGHT_NODE);
	change("name");
	ends_left("name");
}

static void taken_once_changed(enum inflight_kind kind)
{
	leave_file();
	goes_on(kind);
	change("name");
	look();
	ends_taken("name", 0);
}

Test(sentry, but_when_it_is_changed_while_a_call_can_open_it)
{
	taken_once_changed(INFLIGHT_OPEN);
}

Test(sentry, or_can_make_it)
{
	taken_once_changed(INFLIGHT_FILE);
}

Test(sentry, or_can_link_it)
{
	taken_once_changed(INFLIGHT_MOVE);
}

/* It may be open since then. */
Test(sentry, however_long_after_such_a_call)
{
	needs_times_of_writes();
	leave_file();
	went_on(INFLIGHT_OPEN);
	look();
	some_ticks_pass();
	look();
	change("name");
	look();
	ends_taken("name", 0);
}

Test(sentry, and_before_anybody_looked)
{
	went_on(INFLIGHT_DIR);
	look();
	make_file("name");
	some_ticks_pass();
	went_on(INFLIGHT_OPEN);
	some_ticks_pass();
	change("name");
	look();
	ends_taken("name", 0);
}

Test(sentry, the_last_look_sees_it_too)
{
	leave_file();
	goes_on(INFLIGHT_OPEN);
	change("name");
	sentry_end(s);
	cr_assert_not(there("name"));
	cr_assert_eq(violations, 1);
	cr_assert_eq(entries, 1);
	cr_assert(kept);
}

/* Written by its former name, too: whoever opened it there still has it. */
Test(sentry, what_was_moved_there_may_have_been_open_before)
{
	needs_times_of_writes();
	make_file("old");
	went_on(INFLIGHT_OPEN);
	some_ticks_pass();
	look();
	cr_assert_eq(rename(in_work("old"), in_work("name")), 0);
	some_ticks_pass();
	look();
	cr_assert(there("name"));
	cr_assert_eq(violations, 0);
	change("name");
	look();
	ends_taken("name", 0);
}

/* The guard is for what was not there when the run was prepared. */
Test(sentry, what_came_before_the_first_call_and_is_changed_is_taken)
{
	needs_times_of_writes();
	make_file("name");
	goes_on(INFLIGHT_OPEN);
	look();
	cr_assert(there("name"));
	change("name");
	look();
	ends_taken("name", 0);
}

Test(sentry, many_other_calls_drive_none_out)
{
	went_on(INFLIGHT_DIR);
	cr_assert_eq(mkdir(in_work("name"), 0700), 0);
	for (unsigned i = 0; i < 20000; i++)
		sentry_saw(s, getpid() + (pid_t)(i % 200), SYS_read, INFLIGHT_FILE);
	look();
	ends_taken("name", 0);
}

Test(sentry, an_old_file_that_was_moved_there_is_taken)
{
	make_file("old");
	goes_on(INFLIGHT_MOVE);
	cr_assert_eq(rename(in_work("old"), in_work("name")), 0);
	look();
	ends_taken("name", 0);
}

/* Made long before the look at which its place was still empty. */
static void make_tree_elsewhere(void)
{
	cr_assert_eq(mkdir(in_work("other"), 0700), 0);
	cr_assert_eq(mkdir(in_work("other/er"), 0700), 0);
	make_file("other/er/name");
	look();
}

Test(sentry, what_came_in_a_directory_that_was_moved_is_taken)
{
	make_tree_elsewhere();
	goes_on(INFLIGHT_MOVE);
	cr_assert_eq(rename(in_work("other"), in_work("deep")), 0);
	look();
	cr_assert_not(there("deep/er/name"));
	cr_assert_eq(violations, 1);
	cr_assert_str_eq(object, in_work("deep/er/name"));
}

Test(sentry, what_came_in_a_directory_that_somebody_else_moved_is_left)
{
	make_tree_elsewhere();
	goes_on(INFLIGHT_DIR);
	cr_assert_eq(rename(in_work("other"), in_work("deep")), 0);
	ends_left("deep/er/name");
}

Test(sentry, a_link_to_an_old_file_is_taken_and_the_file_stays)
{
	make_file("old");
	goes_on(INFLIGHT_MOVE);
	cr_assert_eq(link(in_work("old"), in_work("name")), 0);
	look();
	ends_taken("name", 1);
	cr_assert(there("old"));
}

Test(sentry, what_was_there_is_not_even_told)
{
	cr_assert_eq(symlink("x", in_work("name")), 0);
	goes_on(INFLIGHT_NODE);
	goes_on(INFLIGHT_MOVE);
	look();
	sentry_end(s);
	cr_assert(there("name"));
	cr_assert_eq(violations + entries, 0);
}

Test(sentry, what_took_the_place_of_what_was_there_is_taken)
{
	cr_assert_eq(symlink("x", in_work("name")), 0);
	goes_on(INFLIGHT_NODE);
	cr_assert_eq(symlink("y", in_work("new")), 0);
	goes_on(INFLIGHT_MOVE);
	cr_assert_eq(rename(in_work("new"), in_work("name")), 0);
	look();
	ends_taken("name", 0);
}

/* Where a directory leads to a guarded name, there may be one, and nothing else. */
Test(sentry, directories_on_the_way_are_fine)
{
	goes_on(INFLIGHT_DIR);
	cr_assert_eq(mkdir(in_work("deep"), 0700), 0);
	look();
	cr_assert_eq(mkdir(in_work("deep/er"), 0700), 0);
	look();
	sentry_end(s);
	cr_assert(there("deep/er"));
	cr_assert_eq(violations + entries, 0);
}

Test(sentry, a_file_on_the_way_is_taken)
{
	goes_on(INFLIGHT_FILE);
	make_file("deep");
	look();
	ends_taken("deep", 0);
}

Test(sentry, a_link_on_the_way_is_taken)
{
	cr_assert_eq(mkdir(in_work("elsewhere"), 0700), 0);
	goes_on(INFLIGHT_NODE);
	cr_assert_eq(symlink("elsewhere", in_work("deep")), 0);
	look();
	ends_taken("deep", 1);
}

static void taken_below(mode_t mode, const char *closed)
{
	struct stat st;

	cr_assert_eq(mkdir(in_work("deep"), 0700), 0);
	cr_assert_eq(mkdir(in_work("deep/er"), 0700), 0);
	goes_on(INFLIGHT_FILE);
	make_file("deep/er/name");
	cr_assert_eq(chmod(in_work(closed), mode), 0);
	look();
	cr_assert_eq(violations, 1);
	cr_assert_eq(stat(in_work(closed), &st), 0);
	cr_assert_eq(st.st_mode & 07777, mode, "the mode is put back");
	sentry_end(s);
	cr_assert(kept && access(kept, F_OK) == 0);
	cr_assert_eq(stat(in_work(closed), &st), 0);
	cr_assert_eq(st.st_mode & 07777, mode);
	cr_assert_eq(chmod(in_work(closed), 0700), 0);
	cr_assert_not(there("deep/er/name"));
	cr_assert_eq(rmdir(in_work("deep/er")), 0, "nothing is left there");
}

Test(sentry, a_directory_that_cannot_be_written_holds_nothing)
{
	taken_below(0555, "deep/er");
}

Test(sentry, a_directory_that_cannot_be_entered_hides_nothing)
{
	taken_below(0, "deep/er");
}

Test(sentry, nor_does_one_further_up)
{
	taken_below(0, "deep");
}

/* Room for the directories of a look, and none for the descriptor that taking needs. */
static struct rlimit look_without_room(void)
{
	struct rlimit before, few;
	int lowest = dup(0);

	close(lowest);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (unsigned room = 1; room < 16 && !violations; room++) {
		few = (struct rlimit){ (rlim_t)lowest + room, before.rlim_max };
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		look();
	}
	cr_assert_eq(violations, 1);
	cr_assert(there("name"));
	return before;
}

Test(sentry, what_cannot_be_taken_is_one_violation_and_tried_again)
{
	struct rlimit before;

	goes_on(INFLIGHT_FILE);
	make_file("name");
	before = look_without_room();
	look();
	cr_assert_eq(violations, 1);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	look();
	ends_taken("name", 0);
}

Test(sentry, what_stays_is_told_with_the_reason)
{
	struct rlimit before;

	goes_on(INFLIGHT_FILE);
	make_file("name");
	before = look_without_room();
	sentry_end(s);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_assert(there("name"));
	cr_assert_eq(entries, 1);
	cr_assert_null(kept);
	cr_assert_eq(why, EMFILE);
}

/* A look for which there is no descriptor at all. */
static void look_without_any(bool last)
{
	struct rlimit before, few;
	int lowest = dup(0);

	close(lowest);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ (rlim_t)lowest, before.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	if (last)
		sentry_end(s);
	else
		look();
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Nobody is told of directories that only lead there. */
Test(sentry, names_that_the_last_look_did_not_see_are_told)
{
	went_on(INFLIGHT_FILE);
	look_without_any(true);
	cr_assert_eq(entries, 2);
	cr_assert_eq(why, EMFILE);
	cr_assert_null(kept);
	cr_assert_str_eq(object, in_work("name"));
}

Test(sentry, a_look_that_sees_nothing_is_no_look)
{
	went_on(INFLIGHT_FILE);
	make_file("name");
	look_without_any(false);
	cr_assert_eq(violations, 0);
	look();
	ends_taken("name", 0);
}

/* However many directories lead to other guarded names. */
Test(sentry, directories_that_lead_to_names_are_not_all_held)
{
	struct rlimit few;

	sentry_end(s);
	for (unsigned i = 0; i < 200; i++) {
		cr_assert_eq(mkdir(in_work(arena_printf(&a, ".lead%u", i)), 0700), 0);
		guard(arena_printf(&a, ".lead%u/x", i));
	}
	*s = (struct sentry){ .caught = caught, .told = told, .quarantine = s->quarantine };
	s->quarantine.held = -1;
	cr_assert_eq(sentry_begin(s, &a, loop, &plan, &err), 0);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &few), 0);
	few.rlim_cur = 100;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	went_on(INFLIGHT_FILE);
	make_file("name");
	look();
	ends_taken("name", 200);
}

/* Made and taken so often, then the end. */
static void take_often(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		goes_on(INFLIGHT_FILE);
		make_file("name");
		look();
		cr_assert_not(there("name"), "%u", i);
	}
	sentry_end(s);
}

Test(sentry, hundreds_of_one_name_are_all_moved_and_told)
{
	take_often(300);
	cr_assert_eq(violations, 300);
	cr_assert_eq(entries, 300);
	cr_assert_eq(names_in_work(), 0);
	cr_assert_eq(s->lost, 0);
}

Test(sentry, what_is_beyond_the_table_is_counted)
{
	take_often(SENTRY_TAKEN_MAX + 3);
	cr_assert_eq(entries, SENTRY_TAKEN_MAX);
	cr_assert_eq(names_in_work(), 3);
	cr_assert_eq(s->lost, 3);
}

/* Each directory that something waits in is held open; there is an end to that. */
Test(sentry, directories_beyond_those_that_are_held_are_counted)
{
	for (unsigned i = 0; i < SENTRY_DIRS_MAX + 2; i++) {
		cr_assert_eq(mkdir(in_work("deep"), 0700), 0);
		cr_assert_eq(mkdir(in_work("deep/er"), 0700), 0);
		goes_on(INFLIGHT_FILE);
		make_file("deep/er/name");
		look();
		cr_assert_not(there("deep/er/name"), "%u", i);
		cr_assert_eq(rename(in_work("deep"), in_work(arena_printf(&a, "old%u", i))), 0);
	}
	sentry_end(s);
	cr_assert_eq(entries, SENTRY_DIRS_MAX);
	cr_assert_eq(s->lost, 2);
}

Test(sentry, without_a_call_there_is_nothing_to_say)
{
	make_file("name");
	sentry_end(s);
	cr_assert(there("name"));
	cr_assert_eq(violations + entries, 0);
}

/* It was known, and what was made in it meanwhile is not. */
Test(sentry, a_directory_that_was_away_may_bring_a_name)
{
	cr_assert_eq(mkdir(in_work("deep"), 0700), 0);
	cr_assert_eq(mkdir(in_work("deep/er"), 0700), 0);
	went_on(INFLIGHT_DIR);
	look();
	went_on(INFLIGHT_MOVE);
	cr_assert_eq(rename(in_work("deep"), in_work("x")), 0);
	look();
	went_on(INFLIGHT_FILE);
	make_file("x/er/name");
	look();
	some_ticks_pass();
	look();
	went_on(INFLIGHT_MOVE);
	cr_assert_eq(rename(in_work("x"), in_work("deep")), 0);
	look();
	cr_assert_eq(access(in_work("deep/er/name"), F_OK), -1);
}
