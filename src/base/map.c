/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing; nothing is ever taken out. */
#include "base/map.h"

#define FIRST_SIZE 64

/* The slot that holds the key, or the free one where it belongs. */
static struct map_slot *slot(const struct map *m, struct str key)
{
	size_t i = str_hash(key, 0) & (m->size - 1);

	while (m->slots[i].key.n && !str_eq(m->slots[i].key, key))
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

static bool make_room(struct map *m, struct arena *a)
{
	struct map bigger = { .size = m->size ? 2 * m->size : FIRST_SIZE, .used = m->used };

	if (2 * m->used < m->size)
		return true;
	bigger.slots = arena_array(a, bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[i].key.n)
			*slot(&bigger, m->slots[i].key) = m->slots[i];
	*m = bigger;
	return true;
}

bool map_put(struct map *m, struct arena *a, struct str key, const void *value)
{
	struct map_slot *at;

	if (!key.n || !make_room(m, a))
		return false;
	at = slot(m, key);
	m->used += !at->key.n;
	*at = (struct map_slot){ key, value };
	return true;
}

const void *map_get(const struct map *m, struct str key)
{
	return m->size && key.n ? slot(m, key)->value : NULL;
}

/* Texts have few prefixes, and maps may be long. */
const void *map_nearest(const struct map *m, struct str path)
{
	const void *here = map_get(m, path);

	for (size_t i = path.n; !here && i-- > 1;)
		if (path.p[i] == '/')
			here = map_get(m, str_take(path, i));
	return here ? here : map_get(m, STR("/"));
}
