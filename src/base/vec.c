/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of arena vectors by doubling. */
#include "base/vec.h"

#include <string.h>

bool vec_widen(struct arena *a, void **at, size_t n, size_t *cap, size_t size, size_t wider)
{
	size_t total;
	void *copy;

	if (wider <= *cap)
		return true;
	if (__builtin_mul_overflow(wider, size, &total))
		return false;
	copy = arena_room(a, total);
	if (!copy)
		return false;
	if (n)
		memcpy(copy, *at, n * size);
	*at = copy;
	*cap = wider;
	return true;
}

void *vec_grow(struct arena *a, void **at, size_t *n, size_t *cap, size_t size)
{
	if (*n == *cap && !vec_widen(a, at, *n, cap, size, *cap ? *cap * 2 : 8))
		return NULL;
	return memset((char *)*at + (*n)++ * size, 0, size);
}
