/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map: from texts to pointers, in an arena. Starts zeroed and needs no free. Keys are not
 * copied, and the empty text is no key.
 */
#ifndef CORDON_BASE_MAP_H
#define CORDON_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

struct map_slot {
	struct str key; /* empty: free */
	const void *value;
};

struct map {
	struct map_slot *slots; /* a power of two of them, at most half taken */
	size_t size, used;
};

/* Puts a value in place of the one that was there. False: out of memory. */
bool map_put(struct map *m, struct arena *a, struct str key, const void *value);
/* NULL: no such key. */
const void *map_get(const struct map *m, struct str key);
/* Where keys are normal paths: the value of the path, or of the nearest above it. */
const void *map_nearest(const struct map *m, struct str path);

#endif
