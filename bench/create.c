/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long making one empty file takes: the median of many, in microseconds. To be kept on
 * one processor (taskset), where whoever is asked about the call takes turns with it.
 *
 * usage: bench-create COUNT, in a directory that may be written
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 1000000

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t create_one(void)
{
	int64_t before = now_ns(), after;
	int fd = open("bench-created", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	after = now_ns();
	if (fd < 0)
		err(1, "bench-created");
	close(fd);
	unlink("bench-created");
	return after - before;
}

static int by_size(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
	long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	int64_t *took;

	if (count < 1 || count > COUNT_MAX)
		errx(2, "usage: bench-create COUNT");
	took = calloc((size_t)count, sizeof(*took));
	if (!took)
		err(1, "memory");
	for (long i = 0; i < count; i++)
		took[i] = create_one();
	qsort(took, (size_t)count, sizeof(*took), by_size);
	printf("%.1f\n", (double)took[count / 2] / 1000);
	free(took);
	return 0;
}
