/* SPDX-License-Identifier: Apache-2.0 */
/* utf8: one character at a time, and the hexadecimal digits of escapes. */
#ifndef CORDON_FMT_UTF8_H
#define CORDON_FMT_UTF8_H

#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

#define UTF8_BYTES_MAX 4

/* Bytes of the well-formed character at the start of s; 0 when there is none. */
size_t utf8_length(struct str s);
/* The code point of one whole well-formed character. */
uint32_t utf8_point(struct str c);
/* Writes a code point for which utf8_is_scalar holds; returns its bytes. */
size_t utf8_put(char out[UTF8_BYTES_MAX], uint32_t point);
bool utf8_is_scalar(uint32_t point); /* in range and not a surrogate */

int hex_digit(char c); /* 0 to 15, or -1 */

#endif
