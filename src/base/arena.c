/* SPDX-License-Identifier: Apache-2.0 */
/* Arena allocation: a chain of blocks, doubling in size, freed together. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK 4096
#define LARGEST_BLOCK ((size_t)1 << 20)
/* From this size on, an allocation has a block of its own, whose zeros are the machine's
 * and cost nothing until they are used. */
#define OWN_BLOCK ((size_t)16 << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	alignas(max_align_t) char data[];
};

void arena_init(struct arena *a, size_t max)
{
	*a = (struct arena){ .max = max };
}

void arena_free(struct arena *a)
{
	struct arena_block *b = a->blocks;

	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
	a->blocks = NULL;
	a->used = 0;
}

static struct arena_block *block_for(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	size_t room = b ? b->size * 2 : FIRST_BLOCK;

	if (b && b->size - b->used >= size)
		return b;
	if (room > LARGEST_BLOCK)
		room = LARGEST_BLOCK;
	if (room < size)
		room = size;
	b = malloc(sizeof(*b) + room);
	if (!b)
		return NULL;
	*b = (struct arena_block){ .next = a->blocks, .size = room };
	a->blocks = b;
	return b;
}

void *arena_room(struct arena *a, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct arena_block *b;
	char *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + align - 1) & ~(align - 1);
	if (size > a->max - a->used)
		return NULL;
	b = block_for(a, size);
	if (!b)
		return NULL;
	p = b->data + b->used;
	b->used += size;
	a->used += size;
	return p;
}

/* The block at the head of the chain stays the one that small things come from. */
static void *own_block(struct arena *a, size_t size)
{
	struct arena_block *b = size > a->max - a->used ? NULL : calloc(1, sizeof(*b) + size);

	if (!b)
		return NULL;
	b->used = b->size = size;
	if (a->blocks) {
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		a->blocks = b;
	}
	a->used += size;
	return b->data;
}

void *arena_alloc(struct arena *a, size_t size)
{
	char *p;

	if (size >= OWN_BLOCK && size <= SIZE_MAX / 2)
		return own_block(a, size);
	p = arena_room(a, size);
	return p ? memset(p, 0, size) : NULL;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		return NULL;
	return arena_alloc(a, total);
}

char *arena_join(struct arena *a, struct str first, struct str second)
{
	bool fits = first.n < SIZE_MAX / 4 && second.n < SIZE_MAX / 4;
	char *p = fits ? arena_room(a, first.n + second.n + 1) : NULL;

	if (!p)
		return NULL;
	if (first.n)
		memcpy(p, first.p, first.n);
	if (second.n)
		memcpy(p + first.n, second.p, second.n);
	p[first.n + second.n] = '\0';
	return p;
}

char *arena_dup(struct arena *a, struct str s)
{
	return arena_join(a, s, STR(""));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char text[256], *p = NULL;
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	/* Most are short, and to format takes longer than to copy. */
	n = vsnprintf(text, sizeof(text), fmt, ap);
	if (n >= 0)
		p = arena_room(a, (size_t)n + 1);
	if (p && (size_t)n < sizeof(text))
		memcpy(p, text, (size_t)n + 1);
	else if (p)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p;
}
