/* SPDX-License-Identifier: Apache-2.0 */
/* run/file_clock: what is made before it is moved on is older, and what is made after is not. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/file_clock.h"

static int64_t born_now(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	struct statx st;

	cr_assert_geq(fd, 0);
	cr_assert_eq(statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_CTIME, &st), 0);
	close(fd);
	return st.stx_ctime.tv_sec * (int64_t)1000000000 + st.stx_ctime.tv_nsec;
}

static void keeps_order(const char *dir)
{
	struct file_clock c = { 0 };

	for (unsigned i = 0; i < 2000; i++) {
		int64_t before = born_now(dir), step = file_clock_step(&c);
		int64_t now = file_clock_now(&c);

		cr_assert_leq(before, step);
		cr_assert_leq(step, now);
		cr_assert_leq(now, born_now(dir));
	}
	file_clock_close(&c);
}

Test(file_clock, nothing_is_older_than_it_shows)
{
	keeps_order("/tmp");
	keeps_order("/dev/shm");
}

/* The kernel either moves it each time or never. */
Test(file_clock, two_moments_differ_wherever_it_moves)
{
	struct file_clock c = { 0 };
	int64_t last = file_clock_step(&c);
	bool moves = c.fd >= 0;

	for (unsigned i = 0; i < 2000; i++) {
		int64_t now = file_clock_step(&c);

		cr_assert_eq(c.fd >= 0, moves);
		cr_assert(moves ? now > last : now >= last);
		last = now;
	}
	file_clock_close(&c);
}

Test(file_clock, one_that_was_set_back_is_believed)
{
	struct file_clock none = { 0 };
	struct file_clock c = { .shown = file_clock_now(&none) + 3600000000000 };

	cr_assert_lt(file_clock_now(&c), c.shown);
}

/* By less than it is ahead, too. */
Test(file_clock, nor_does_it_stay_ahead_of_one_that_was_set_back_a_little)
{
	struct file_clock c = { 0 };
	int64_t now;

	file_clock_step(&c);
	c.setting += 2000000;
	/* Again if the clock itself has gone so far meanwhile. */
	do {
		c.shown = file_clock_now(&(struct file_clock){ 0 }) + 9000000;
		now = file_clock_now(&c);
	} while (file_clock_now(&(struct file_clock){ 0 }) >= c.shown);
	cr_assert_lt(now, c.shown);
	file_clock_close(&c);
}

Test(file_clock, without_a_descriptor_it_only_ticks)
{
	struct file_clock c = { .began = true, .fd = -1 };

	cr_assert_gt(file_clock_step(&c), 0);
	file_clock_close(&c);
}
