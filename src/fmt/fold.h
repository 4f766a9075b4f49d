/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as a directory compares them that does not tell cases apart: by the case folding
 * of Unicode, without the characters that nobody sees. What folds to ASCII is known
 * completely, be it a Kelvin sign, a ligature or a joiner in between; beyond ASCII,
 * composed and decomposed spellings of one letter stay different.
 *
 * Bytes that are no UTF-8 stand for themselves.
 */
#ifndef CORDON_FMT_FOLD_H
#define CORDON_FMT_FOLD_H

#include <stdbool.h>
#include "base/str.h"

/* Writes text folded, not terminated; false when it does not fit. Also for a pattern:
 * what is special in one folds to itself. */
bool fold_text(struct str text, char *out, size_t size, struct str *ret);
/* Are they the same name, folded? */
bool fold_eq(struct str a, struct str b);

#endif
