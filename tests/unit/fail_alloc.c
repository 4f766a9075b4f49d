/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator that fails on demand and counts what is alive. */
#include "fail_alloc.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define NEVER ((size_t)-1)

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
static size_t until_failure = NEVER;
static bool from_then_on; /* all later ones fail too */
static size_t failures;
static long live;

static bool fails(void)
{
	if (until_failure == NEVER)
		return false;
	if (until_failure) {
		until_failure--;
		return false;
	}
	failures++;
	if (!from_then_on)
		until_failure = NEVER;
	return true;
}

void *__wrap_malloc(size_t size)
{
	void *p = fails() ? NULL : __real_malloc(size);

	live += p != NULL;
	return p;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *p = fails() ? NULL : __real_calloc(count, size);

	live += p != NULL;
	return p;
}

void *__wrap_realloc(void *old, size_t size)
{
	void *p = fails() ? NULL : __real_realloc(old, size);

	live += p && !old;
	return p;
}

void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

bool fail_alloc_failed(void)
{
	return failures > 0;
}

size_t fail_alloc_each(void (*step)(void), bool all_later)
{
	size_t nth = 0;

	do {
		live = 0;
		failures = 0;
		until_failure = nth++;
		from_then_on = all_later;
		step();
		until_failure = NEVER;
		cr_assert_eq(live, 0, "allocation %zu: %ld not freed", nth, live);
	} while (failures);
	return nth;
}
