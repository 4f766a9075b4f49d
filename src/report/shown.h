/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown: lines that a command prints because they stand somewhere, not because something
 * happened to it: what grep, diff and ls print, numbered lines, results of tests, source.
 *
 * Only what can be told by the line itself. A log shown by cat looks as the program that
 * wrote it did.
 */
#ifndef CORDON_REPORT_SHOWN_H
#define CORDON_REPORT_SHOWN_H

#include <stdbool.h>

#include "base/str.h"

bool shown_line(struct str line);

/* The words of an error as programs print them, between what stands before and after them
 * on the line; not in prose, nor as a string of a source. */
bool shown_as_error(struct str before, struct str after);

#endif
