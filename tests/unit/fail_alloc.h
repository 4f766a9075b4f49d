/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets every allocation of our own code fail in turn. The linker redirects them here
 * (wrap_alloc in meson.build).
 */
#ifndef CORDON_TESTS_FAIL_ALLOC_H
#define CORDON_TESTS_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

/* Runs `step` with the first, second, ... allocation failing until none does, alone or
 * with all later ones. A step that does not free everything fails the test. Returns how
 * many times it ran. */
size_t fail_alloc_each(void (*step)(void), bool all_later);
/* Within a step: has an allocation failed yet? */
bool fail_alloc_failed(void);

#endif
