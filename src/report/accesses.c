/* SPDX-License-Identifier: Apache-2.0 */
/* Directories and counts. */
#include "report/accesses.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"

#define MEMORY_MAX ((size_t)64 << 20)

struct accesses {
	struct arena arena;
	struct map known; /* op and directory as one text -> struct used_dir */
	VEC(struct used_dir *) items;
	uint64_t total[VIOLATION_OP_COUNT];
};

struct accesses *accesses_new(void)
{
	struct accesses *all = calloc(1, sizeof(*all));

	if (all)
		arena_init(&all->arena, MEMORY_MAX);
	return all;
}

void accesses_free(struct accesses *all)
{
	if (!all)
		return;
	arena_free(&all->arena);
	free(all);
}

static struct used_dir *add_new(struct accesses *all, enum violation_op op, struct str key)
{
	char *copy = arena_dup(&all->arena, key);
	struct used_dir *access = arena_new(&all->arena, struct used_dir);
	struct used_dir **slot = copy && access ? vec_push(&all->items, &all->arena) : NULL;

	if (!slot || !map_put(&all->known, &all->arena, (struct str){ copy, key.n }, access)) {
		all->items.n -= slot != NULL;
		return NULL;
	}
	*slot = access;
	*access = (struct used_dir){ .op = op, .dir = { copy + 1, key.n - 1 } };
	return access;
}

void accesses_add(struct accesses *all, enum violation_op op, struct str path)
{
	struct str dir = path_parent(path), key;
	char text[PATH_BYTES_MAX + 2];
	struct used_dir *access;

	all->total[op]++;
	if (dir.n > PATH_BYTES_MAX)
		return;
	text[0] = (char)('0' + op);
	memcpy(text + 1, dir.p, dir.n);
	key = (struct str){ text, dir.n + 1 };
	access = (struct used_dir *)map_get(&all->known, key);
	if (!access && all->items.n < ACCESSES_MAX)
		access = add_new(all, op, key);
	if (access)
		access->count++;
}

size_t accesses_count(const struct accesses *all)
{
	return all ? all->items.n : 0;
}

const struct used_dir *accesses_at(const struct accesses *all, size_t i)
{
	return all->items.at[i];
}

uint64_t accesses_total(const struct accesses *all, enum violation_op op)
{
	return all ? all->total[op] : 0;
}
