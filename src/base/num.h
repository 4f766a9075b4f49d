/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where numbers, sizes and durations are read from text.
 *
 * Strict: no sign, no leading or trailing space, no empty text, no overflow; what
 * does not parse whole is false and leaves *ret alone.
 */
#ifndef CORDON_BASE_NUM_H
#define CORDON_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"

bool num_parse_u64(struct str s, uint64_t max, uint64_t *ret);
/* A decimal number in C notation, whatever the locale; false when it is too large.
 * A number too small to tell from zero is zero. */
bool num_parse_real(const char *text, double *ret);
/* Bytes: digits with an optional K, M, G or T (powers of 1024; "KiB" and "KB" mean
 * the same, case does not matter). */
bool num_parse_size(struct str s, uint64_t *ret_bytes);
/* Milliseconds: digits with ms, s, m, h or d; without a unit, seconds. Units may be
 * joined from large to small: "1h30m". */
bool num_parse_duration(struct str s, uint64_t *ret_ms);

/* The shortest spelling that parses back to the same value. */
void num_print_size(struct buf *b, uint64_t bytes);
void num_print_duration(struct buf *b, uint64_t ms);

#endif
