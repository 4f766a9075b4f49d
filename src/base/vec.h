/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec: a growable array in an arena. Declared in place:
 *
 *	VEC(struct rule) rules;
 *
 * starts zeroed and needs no free: the old storage stays in the arena until the
 * document goes. vec_push yields a pointer to a new zeroed element, or NULL when
 * memory runs out.
 */
#ifndef CORDON_BASE_VEC_H
#define CORDON_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"

#define VEC(type) \
	struct { \
		type *at; \
		size_t n, cap; \
	}

#define vec_push(v, a) \
	((__typeof__((v)->at))vec_grow((a), (void **)&(v)->at, &(v)->n, \
				       &(v)->cap, sizeof(*(v)->at)))

/* Room for so many elements in all, to be had before they come. */
#define vec_reserve(v, a, count) \
	vec_widen((a), (void **)&(v)->at, (v)->n, &(v)->cap, sizeof(*(v)->at), (count))

#define vec_each(item, v) \
	for (__typeof__(*(v)->at) *item = (v)->at; \
	     item && item < (v)->at + (v)->n; item++)

/* Used by vec_push and vec_reserve only. */
bool vec_widen(struct arena *a, void **at, size_t n, size_t *cap, size_t size, size_t wider);
void *vec_grow(struct arena *a, void **at, size_t *n, size_t *cap, size_t size);

#endif
