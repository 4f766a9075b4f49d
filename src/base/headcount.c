/* SPDX-License-Identifier: Apache-2.0 */
/* Found by trying under which limit another process may be made: no file tells it. */
#include "base/headcount.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST 64
#define MOST ((uint64_t)1 << 22) /* the kernel has no more process numbers */

static bool fits(uint64_t limit, const struct rlimit *own)
{
	struct rlimit tried = { .rlim_cur = limit, .rlim_max = own->rlim_max };
	pid_t pid = -1;

	if (setrlimit(RLIMIT_NPROC, &tried) == 0)
		pid = fork();
	if (pid == 0)
		_exit(0);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return pid > 0;
}

static uint64_t search(const struct rlimit *own)
{
	uint64_t most = own->rlim_max < MOST ? own->rlim_max : MOST;
	uint64_t low = 0, high = FIRST;

	if (fits(0, own))
		return 0;
	while (high < most && !fits(high, own)) {
		low = high;
		high *= 2;
	}
	if (high >= most)
		return 0;
	while (high - low > HEADCOUNT_STEP) {
		uint64_t middle = low + (high - low) / 2;

		if (fits(middle, own))
			high = middle;
		else
			low = middle;
	}
	return high;
}

uint64_t headcount(void)
{
	struct rlimit own;
	uint64_t n;

	if (getrlimit(RLIMIT_NPROC, &own) < 0)
		return 0;
	n = search(&own);
	setrlimit(RLIMIT_NPROC, &own);
	return n;
}
