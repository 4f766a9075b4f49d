/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables: entries in order, and a crit-bit tree over their keys. A lookup costs at
 * most the length of the key, whatever keys the author of the file chose: a hash
 * without a secret seed could be made to collide.
 *
 * Every byte of a key counts as nine bits, the first of them saying that the byte
 * is there at all, so that a key and its prefix differ somewhere.
 */
#include "fmt/toml_in.h"

#define LEAF 0x80000000u /* a child is an entry, not a branch */

static unsigned bit_of(struct str key, uint32_t bit)
{
	size_t at = bit / 9;
	unsigned within = bit % 9;

	if (at >= key.n)
		return 0;
	return within ? ((unsigned char)key.p[at] >> (8 - within)) & 1 : 1;
}

/* The first bit in which two different keys differ. */
static uint32_t first_difference(struct str a, struct str b)
{
	size_t at = 0;
	unsigned bits, within = 1;

	while (at < a.n && at < b.n && a.p[at] == b.p[at])
		at++;
	if (at == a.n || at == b.n)
		return (uint32_t)(at * 9);
	for (bits = (unsigned char)(a.p[at] ^ b.p[at]); !(bits & 0x80); bits <<= 1)
		within++;
	return (uint32_t)(at * 9 + within);
}

/* The one entry that can have this key; the table is not empty. */
static struct toml_entry *candidate(const struct toml_table *t, struct str key)
{
	uint32_t at = t->top;

	while (!(at & LEAF))
		at = t->index.at[at].child[bit_of(key, t->index.at[at].bit)];
	return &t->entries.at[at & ~LEAF];
}

const struct toml_entry *toml_entry(const struct toml_table *t, struct str key)
{
	const struct toml_entry *e;

	if (!t->entries.n)
		return NULL;
	e = candidate(t, key);
	return str_eq(e->key, key) ? e : NULL;
}

const struct toml_value *toml_get(const struct toml_table *t, struct str key)
{
	const struct toml_entry *e = toml_entry(t, key);

	return e ? &e->value : NULL;
}

/* Puts a new branch at its place: below all branches that test an earlier bit. */
static bool link_leaf(struct toml_table *t, struct arena *a, struct str key, uint32_t leaf,
		      uint32_t bit)
{
	struct toml_branch *branch = vec_push(&t->index, a);
	uint32_t *link = &t->top;
	unsigned side = bit_of(key, bit);

	if (!branch)
		return false;
	while (!(*link & LEAF) && t->index.at[*link].bit < bit)
		link = &t->index.at[*link].child[bit_of(key, t->index.at[*link].bit)];
	branch->bit = bit;
	branch->child[side] = leaf;
	branch->child[!side] = *link;
	*link = (uint32_t)(t->index.n - 1);
	return true;
}

struct toml_entry *toml_table_add(struct toml_table *t, struct arena *a, struct str key)
{
	uint32_t leaf = (uint32_t)t->entries.n | LEAF;
	struct toml_entry *e;

	if (!t->entries.n)
		t->top = leaf;
	else if (!link_leaf(t, a, key, leaf, first_difference(candidate(t, key)->key, key)))
		return NULL;
	e = vec_push(&t->entries, a);
	if (e)
		e->key = key;
	return e;
}
