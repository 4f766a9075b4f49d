/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena: memory for one document (a config tree, a policy, a plan), freed whole.
 *
 * Every arena has a ceiling given at init, so that input cannot drive memory
 * without bound. Allocation beyond the ceiling or beyond the machine returns NULL
 * and leaves the arena usable. Memory is zeroed (but arena_room) and aligned for any type.
 */
#ifndef CORDON_BASE_ARENA_H
#define CORDON_BASE_ARENA_H

#include <stddef.h>
#include "base/str.h"

struct arena_block;

struct arena {
	struct arena_block *blocks;
	size_t used; /* bytes handed out, padding included */
	size_t max;
};

/* Nothing is allocated before the first use. */
void arena_init(struct arena *a, size_t max);
void arena_free(struct arena *a); /* accepts a zeroed arena; may be called twice */

void *arena_alloc(struct arena *a, size_t size);
/* The same, not zeroed: for what is filled at once, or only as far as it is used. */
void *arena_room(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t count, size_t size); /* checks the product */
/* NUL-terminated copies. */
char *arena_dup(struct arena *a, struct str s);
char *arena_join(struct arena *a, struct str first, struct str second);
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define autoarena __attribute__((cleanup(arena_free)))

#endif
