/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into the program cordon-failing: the allocation numbered CORDON_FAIL_ALLOC
 * fails, and with CORDON_FAIL_LATER all after it. The number of allocations goes to the
 * descriptor CORDON_COUNT_ALLOC at the end.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);

static long made, failing;
static bool later;

__attribute__((constructor)) static void start(void)
{
	const char *number = getenv("CORDON_FAIL_ALLOC");

	failing = number ? strtol(number, NULL, 10) : 0;
	later = getenv("CORDON_FAIL_LATER");
}

__attribute__((destructor)) static void report(void)
{
	const char *fd = getenv("CORDON_COUNT_ALLOC");

	if (fd)
		dprintf((int)strtol(fd, NULL, 10), "%ld\n", made);
}

static bool fails(void)
{
	made++;
	return failing && (made == failing || (later && made > failing));
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}
