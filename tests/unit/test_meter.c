/* SPDX-License-Identifier: Apache-2.0 */
/* meter, procfs: what /proc says, as text and live. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "run/meter.h"
#include "skip.h"

Test(procfs, a_name_cannot_change_the_numbers)
{
	struct procfs_stat s;

	cr_assert(procfs_parse_stat("7 (a) Z 1 1 (x)) S 3 4 5 0 -1 0 0 0 0 0 100 20 3 4 20 0 6 0 1",
				    &s));
	cr_assert_eq(s.state, 'S');
	cr_assert_eq(s.parent, 3);
	cr_assert_eq(s.group, 4);
	cr_assert_eq(s.session, 5);
	cr_assert_eq(s.user_ticks, 103);
	cr_assert_eq(s.sys_ticks, 24);
	cr_assert_eq(s.threads, 6);
	cr_assert(s.alive && s.executes);
	cr_assert(procfs_parse_stat("7 (a) S 3 4 5 0 -1 4194368 0 0 0 0 0 0 0 0 20 0 1 0 1", &s));
	cr_assert_not(s.executes);
	cr_assert_not(procfs_parse_stat("7 (a) S 3", &s));
	cr_assert_not(procfs_parse_stat("", &s));
}

Test(procfs, fields_are_whole_lines)
{
	const char *text = "Name:\tRssAnon: 5 kB\nRssAnon:\t     12 kB\nXRssShmem: 1 kB\nEnd: 3";

	cr_assert_eq(procfs_field(text, "RssAnon"), 12 * 1024);
	cr_assert_eq(procfs_field(text, "RssShmem"), 0);
	cr_assert_eq(procfs_field(text, "End"), 3 * 1024);
	cr_assert_eq(procfs_field("", "End"), 0);
}

Test(procfs, this_process)
{
	struct procfs_memory memory;
	struct procfs_stat s;

	cr_assert(procfs_stat(getpid(), &s));
	cr_assert_eq(s.parent, getppid());
	cr_assert_eq(s.thread, getpid());
	cr_assert(s.alive);
	cr_assert(procfs_memory(getpid(), &memory));
	cr_assert_gt(memory.anon, 0);
	cr_assert_gt(memory.tables, 0);
	cr_assert_geq(memory.peak, memory.anon);
	cr_assert_not(procfs_stat(0, &s));
}

static const char smaps[] =
	"00400000-00401000 r-xp 00000000 fe:00 17        /usr/bin/x\n"
	"Size:                  4 kB\nRss:                   8 kB\nPss:                   4 kB\n"
	"Anonymous:             2 kB\nSwapPss:               1 kB\n"
	"7f0000000000-7f0000100000 rw-p 00000000 00:00 0\n"
	"Rss:                 100 kB\nPss:                  50 kB\nAnonymous:           100 kB\n"
	"SwapPss:               5 kB\n"
	"7f1000000000-7f1000100000 rw-s 00000000 00:07 5   /memfd:a (deleted)\n"
	"Rss:                  64 kB\nPss:                  64 kB\nAnonymous:             0 kB\n"
	"SwapPss:               0 kB\n"
	"7f2000000000-7f2000100000 rw-s 00000000 00:07 5   /SYSV00000000 (deleted)\n"
	"Rss:                  64 kB\nPss:                  64 kB\nAnonymous:             0 kB\n"
	"SwapPss:               0 kB\n";

static struct meter_sum add_up(const struct meter *m, uint64_t counted_inode)
{
	struct meter_sum sum = { .meter = m };

	arena_init(&sum.memory, 65536);
	if (counted_inode) {
		*(struct meter_object *)vec_push(&sum.objects, &sum.memory) = (struct meter_object){
			.inode = counted_inode
		};
		sum.buckets[counted_inode % METER_BUCKETS] = sum.objects.n;
	}
	/* No such thread: map_files has nothing to say. */
	meter_add_smaps(&sum, -1, smaps);
	arena_free(&sum.memory);
	return sum;
}

Test(meter, files_count_for_their_private_pages_and_objects_once)
{
	struct meter m = { .shm_device = makedev(0, 7) };
	struct meter_sum sum = add_up(&m, 0);

	/* 1 + 1 swapped of the file, 50 + 5 anonymous, 64 twice. */
	cr_assert_eq(sum.bytes, (2 + 55 + 128) * 1024);
	cr_assert_eq(sum.mapped, 128 * 1024);
	cr_assert_eq(sum.hidden, 2 * (1024 - 64) * 1024);
	/* A SysV segment may have the same number as a memfd that was counted. */
	sum = add_up(&m, 5);
	cr_assert_eq(sum.bytes, (2 + 55 + 64) * 1024);
	cr_assert_eq(sum.mapped, 64 * 1024);
}

/* As many as a process may have. Read in a time that grows with the square of it this
 * takes minutes, and the program is ended by its ceiling. */
Test(meter, as_many_mappings_as_there_can_be)
{
	struct meter m = { .shm_device = makedev(0, 7) };
	struct meter_sum sum = { .meter = &m };
	autobuf struct buf text = buf_make((size_t)64 << 20);
	unsigned n = 65530;

	for (unsigned i = 0; i < n; i++) {
		buf_addf(&text, "%x000-%x000 rw-p 00000000 00:00 0 \nSize: 4 kB\n", i + 1, i + 2);
		for (int j = 0; j < 12; j++)
			buf_addf(&text, "Something_or_other%d:     0 kB\n", j);
		buf_adds(&text, "Rss: 4 kB\nPss: 4 kB\nSwapPss: 0 kB\n");
	}
	cr_assert_not(text.failed);
	meter_add_smaps(&sum, -1, text.p);
	cr_assert_eq(sum.bytes, n * 4096u);
}

Test(meter, text_that_is_no_smaps_adds_nothing)
{
	struct meter m = { .shm_device = makedev(0, 7) };
	struct meter_sum sum = { .meter = &m };

	meter_add_smaps(&sum, -1, "Pss: 100 kB\nRss: 100 kB\n");
	meter_add_smaps(&sum, -1, "");
	meter_add_smaps(&sum, -1, "no line at all");
	meter_add_smaps(&sum, -1, "00400000-00401000 r-xp 00000000 fe:00 17\n");
	cr_assert_eq(sum.bytes, 0);
}

static void no_reap(void *data, const siginfo_t *info, const struct rusage *usage)
{
	(void)data, (void)info, (void)usage;
}

static void end_all(struct tree *tree)
{
	bool refused;

	tree_kill(tree, &refused);
	while (tree_reap(tree))
		usleep(1000);
}

/* A child that has 64 MB in a memfd it does not map, and another that inherited it. */
static pid_t start_holder(int *ret_ready)
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		static char block[1 << 20];
		int fd = memfd_create("held", 0);

		memset(block, 1, sizeof(block));
		for (int i = 0; i < 64; i++)
			fd_write_all(fd, block, sizeof(block));
		fork();
		fd_write_all(ends[1], "", 1);
		for (;;)
			pause();
	}
	close(ends[1]);
	*ret_ready = ends[0];
	return pid;
}

Test(meter, shared_memory_that_is_only_open)
{
	struct tree tree = { .reaped = no_reap };
	struct meter_reading r;
	struct cordon_error err;
	struct meter m;
	char byte;
	int ready;

	cr_assert_eq(tree_open(&tree, &err), 0);
	meter_open(&m, &tree, NULL);
	tree.main = start_holder(&ready);
	cr_assert_eq(read(ready, &byte, 1), 1);
	cr_assert_eq(read(ready, &byte, 1), 1);
	meter_read(&m, 1 << 20, &r);
	cr_assert_eq(r.tasks, 2);
	cr_assert_not(r.unfinished);
	cr_assert_geq(r.memory, 64u << 20);
	cr_assert_lt(r.memory, 120u << 20);
	close(ready);
	end_all(&tree);
	meter_close(&m);
	tree_close(&tree);
}

#define SHARERS 8

/* Processes that all have the same 32 MB, and each some of its own. */
static void start_sharers(int *ret_ready)
{
	size_t size = (size_t)32 << 20;
	char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ends[2];

	cr_assert_neq(block, MAP_FAILED);
	memset(block, 1, size);
	cr_assert_eq(fd_pipe(&ends[0], &ends[1]), 0);
	for (int i = 0; i < SHARERS; i++)
		if (fork() == 0) {
			fd_write_all(ends[1], "", 1);
			for (;;)
				pause();
		}
	munmap(block, size);
	close(ends[1]);
	*ret_ready = ends[0];
}

/* The budgets of a sample: what it may spend on the weighing decides what it says. */
static uint64_t sample_of_sharers(uint64_t survey_ns, uint64_t weigh_ns, uint64_t slice_ns,
				  size_t *ret_calls)
{
	struct tree tree = { .reaped = no_reap };
	struct meter_reading r;
	struct cordon_error err;
	struct meter m;
	char byte;
	int ready;

	cr_assert_eq(tree_open(&tree, &err), 0);
	meter_open(&m, &tree, NULL);
	m.survey_ns = survey_ns;
	m.weigh_ns = weigh_ns;
	m.slice_ns = slice_ns;
	start_sharers(&ready);
	for (int i = 0; i < SHARERS; i++)
		cr_assert_eq(read(ready, &byte, 1), 1);
	*ret_calls = 0;
	do {
		meter_read(&m, 1 << 20, &r);
		cr_assert_leq(++*ret_calls, SHARERS);
	} while (r.unfinished);
	close(ready);
	end_all(&tree);
	meter_close(&m);
	tree_close(&tree);
	return r.memory;
}

#define PLENTY ((uint64_t)600 * 1000000000)

Test(meter, a_weighing_is_spread_over_calls)
{
	uint64_t whole, sliced;
	size_t calls;

	whole = sample_of_sharers(PLENTY, PLENTY, PLENTY, &calls);
	cr_assert_eq(calls, 1);
	sliced = sample_of_sharers(PLENTY, PLENTY, 0, &calls);
	cr_assert_eq(calls, SHARERS);
	cr_assert_gt(whole, 20u << 20);
	cr_assert_lt(whole, 120u << 20);
	cr_assert_gt(sliced, 20u << 20);
	cr_assert_lt(sliced, 120u << 20);
}

Test(meter, without_time_to_weigh_the_survey_counts)
{
	size_t calls;

	cr_assert_geq(sample_of_sharers(PLENTY, 0, 0, &calls), SHARERS * (32u << 20));
	cr_assert_eq(calls, 1);
}

Test(meter, without_time_to_survey_it_is_too_much)
{
	size_t calls;

	cr_assert_eq(sample_of_sharers(0, PLENTY, PLENTY, &calls), METER_UNKNOWN);
	cr_assert_eq(calls, 1);
}

/* Of the machine's shared memory nothing is the run's when it has no processes. */
Test(meter, an_empty_run_has_nothing)
{
	struct tree tree = { .reaped = no_reap };
	struct meter_reading r;
	struct cordon_error err;
	struct meter m;

	cr_assert_eq(tree_open(&tree, &err), 0);
	meter_open(&m, &tree, NULL);
	m.machine_base = 0;
	meter_read(&m, 1, &r);
	cr_assert_not(r.unfinished);
	cr_assert_eq(r.memory, 0);
	meter_close(&m);
	tree_close(&tree);
}

/* The survey sees what is gone when it comes to weighing: once that says nothing, time and
 * again it does. */
Test(meter, what_goes_away_while_it_is_weighed_leaves_a_doubt)
{
	struct tree tree = { .reaped = no_reap };
	struct meter_reading r = { 0 };
	struct cordon_error err;
	struct meter m;
	int samples = 0;

	cr_assert_eq(tree_open(&tree, &err), 0);
	meter_open(&m, &tree, NULL);
	m.survey_ns = m.weigh_ns = PLENTY;
	m.slice_ns = 0;
	while (r.memory <= (uint64_t)60 << 20 && ++samples < 100) {
		char byte;
		int ready;

		start_sharers(&ready);
		for (int i = 0; i < SHARERS; i++)
			cr_assert_eq(read(ready, &byte, 1), 1);
		meter_read(&m, (uint64_t)60 << 20, &r);
		cr_assert(r.unfinished);
		end_all(&tree);
		while (r.unfinished)
			meter_read(&m, (uint64_t)60 << 20, &r);
		close(ready);
	}
	cr_assert_gt(samples, 5);
	cr_assert_lt(samples, 50);
	meter_close(&m);
	tree_close(&tree);
}

/* The clock alone, of children that the kernel forgets the moment they end. */
Test(meter, a_clock_sees_children_that_nobody_waits_for)
{
	struct tree tree = { .reaped = no_reap };
	struct meter_reading r;
	struct cordon_error err;
	struct meter m = { .tree = &tree };
	uint64_t ended;

	signal(SIGCHLD, SIG_IGN);
	cr_assert_eq(tree_open(&tree, &err), 0);
	meter_open_clock(&m);
	if (m.clock < 0)
		honest_skip("no clock here");
	for (int i = 0; i < 5; i++) {
		if (fork() == 0) {
			clock_t end = clock() + CLOCKS_PER_SEC / 50;

			while (clock() < end)
				;
			_exit(0);
		}
		while (wait(NULL) > 0)
			;
	}
	meter_read(&m, 0, &r);
	ended = r.user_ms + r.sys_ms;
	cr_assert_lt(ended, 50);
	cr_assert_geq(r.clock_ms, 95);
	meter_close(&m);
	tree_close(&tree);
}

/* What it uses of the clock is taken off again, also after it has ended. */
Test(meter, a_helper_that_is_left_out_does_not_count)
{
	struct tree tree = { .reaped = no_reap };
	struct meter_reading r;
	struct cordon_error err;
	struct meter m = { .tree = &tree };
	pid_t helper;
	int done[2];
	char byte;

	cr_assert_eq(pipe(done), 0);
	cr_assert_eq(tree_open(&tree, &err), 0);
	meter_open_clock(&m);
	if (m.clock < 0)
		honest_skip("no clock here");
	helper = fork();
	if (helper == 0) {
		clock_t end = clock() + CLOCKS_PER_SEC / 5;

		while (clock() < end)
			;
		if (write(done[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	cr_assert_eq(tree_disown(&tree, helper, &err), 0);
	meter_leave_out(&m, helper);
	cr_assert_eq(read(done[0], &byte, 1), 1);
	meter_read(&m, 0, &r);
	cr_assert_lt(r.clock_ms, 100);
	kill(helper, SIGKILL);
	waitpid(helper, NULL, 0);
	meter_read(&m, 0, &r);
	cr_assert_lt(r.clock_ms, 100);
	meter_close(&m);
	tree_close(&tree);
}
