/* SPDX-License-Identifier: Apache-2.0 */
/* Moving the clock of files on, by a file without a name. */
#include "run/file_clock.h"

#include <sys/stat.h>
#include <time.h>

#include "base/fd.h"

/* At the lowest rate that Linux is built with. */
#define TICK_MAX ((int64_t)10000000)

static int64_t nanoseconds(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int64_t time_by(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return nanoseconds(&t);
}

/* The same until somebody sets the clock; both tick together. */
static int64_t setting(void)
{
	int64_t since, tick;

	do {
		since = time_by(CLOCK_MONOTONIC_COARSE);
		tick = time_by(CLOCK_REALTIME_COARSE);
	} while (time_by(CLOCK_MONOTONIC_COARSE) != since);
	return tick - since;
}

/* It is ahead of its ticks by less than one, unless somebody set it back. */
int64_t file_clock_now(const struct file_clock *c)
{
	int64_t tick = time_by(CLOCK_REALTIME_COARSE);
	bool ahead = c->shown > tick && c->shown - tick < TICK_MAX;

	return ahead && c->setting == setting() ? c->shown : tick;
}

/* The time of a change, which is then asked for; 0: not known. */
static int64_t change(const struct file_clock *c)
{
	struct stat st;

	return futimens(c->fd, NULL) == 0 && fstat(c->fd, &st) == 0 ? nanoseconds(&st.st_mtim) : 0;
}

static bool begin(struct file_clock *c)
{
	if (!c->began)
		c->fd = fd_memory("clock");
	c->began = true;
	return c->fd >= 0;
}

/* The first change gets the time the clock shows anyway, if that is later than the file's, and
 * the next one its own. A kernel that gives both the same does not move it. */
int64_t file_clock_step(struct file_clock *c)
{
	int64_t now = time_by(CLOCK_REALTIME), first, second;

	if (!begin(c))
		return file_clock_now(c);
	c->setting = setting();
	first = second = change(c);
	if (first && first < now)
		second = change(c);
	if (second > first || first >= now)
		c->shown = second;
	else
		fd_close(&c->fd);
	return file_clock_now(c);
}

void file_clock_close(struct file_clock *c)
{
	if (c->began)
		fd_close(&c->fd);
	*c = (struct file_clock){ 0 };
}
