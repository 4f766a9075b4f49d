/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of arena vectors by doubling. */
#include "base/vec.h"

#include <string.h>

void *vec_grow(struct arena *a, void **at, size_t *n, size_t *cap, size_t size)
{
	if (*n == *cap) {
		size_t wider = *cap ? *cap * 2 : 8;
		void *copy = arena_array(a, wider, size);

		if (!copy)
			return NULL;
		if (*n)
			memcpy(copy, *at, *n * size);
		*at = copy;
		*cap = wider;
	}
	return (char *)*at + (*n)++ * size;
}
