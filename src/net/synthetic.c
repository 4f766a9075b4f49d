/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses are numbers in the order in which names come; 198.18.0.0 is left out. */
#include "net/synthetic.h"

#include <string.h>

#define FIRST ((uint32_t)198 << 24 | (uint32_t)18 << 16)
#define BITS 15

/* What is before the number: the rest of ::ffff:0:0/96, and of the net of IPv6 with zeros. */
static const uint8_t before_four[12] = { [10] = 0xff, [11] = 0xff };
static const uint8_t before_six[12] = { 0xfd, 0x63, 0x6f, 0x72, 0x64, 0x6f, 0x6e };
#define NET_SIX_BYTES 8

static uint32_t number(const uint8_t address[4])
{
	return (uint32_t)address[0] << 24 | (uint32_t)address[1] << 16 | (uint32_t)address[2] << 8 |
	       address[3];
}

static bool is_four(const uint8_t address[4])
{
	return number(address) >> (32 - BITS) == FIRST >> (32 - BITS);
}

bool synthetic_is(const uint8_t address[16])
{
	if (memcmp(address, before_four, sizeof(before_four)) == 0)
		return is_four(address + 12);
	return memcmp(address, before_six, NET_SIX_BYTES) == 0;
}

void synthetic_six(const uint8_t four[4], uint8_t ret[16])
{
	memcpy(ret, before_six, sizeof(before_six));
	memcpy(ret + sizeof(before_six), four, 4);
}

/* The index that is kept for a name, off by one so that none is NULL. */
static bool index_of(struct synthetic *s, struct str name, uintptr_t *ret)
{
	const void *known = map_get(&s->by_name, name);
	const char **slot, *copy;

	if (known) {
		*ret = (uintptr_t)known;
		return true;
	}
	if (s->names.n == SYNTHETIC_NAMES_MAX)
		return false;
	copy = arena_dup(s->arena, name);
	slot = copy ? vec_push(&s->names, s->arena) : NULL;
	if (!slot)
		return false;
	*slot = copy;
	*ret = s->names.n;
	/* A name that is not found again gets another address the next time. */
	return map_put(&s->by_name, s->arena, str_of(copy), (const void *)*ret);
}

bool synthetic_address(struct synthetic *s, struct str name, uint8_t ret[4])
{
	uintptr_t index;
	uint32_t address;

	if (!name.n || !index_of(s, name, &index))
		return false;
	address = FIRST + (uint32_t)index;
	ret[0] = (uint8_t)(address >> 24);
	ret[1] = (uint8_t)(address >> 16);
	ret[2] = (uint8_t)(address >> 8);
	ret[3] = (uint8_t)address;
	return true;
}

const char *synthetic_name(const struct synthetic *s, const uint8_t address[16])
{
	uint32_t index = number(address + 12) - FIRST;

	if ((memcmp(address, before_four, sizeof(before_four)) != 0 &&
	     memcmp(address, before_six, sizeof(before_six)) != 0) ||
	    !is_four(address + 12) || index == 0 || index > s->names.n)
		return NULL;
	return s->names.at[index - 1];
}
