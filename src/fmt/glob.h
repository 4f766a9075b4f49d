/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Glob patterns for one path component: * ? [set] [!set] and \ to quote.
 *
 * A dot is an ordinary character: "*" matches ".git". Matching is bytewise and takes
 * time proportional to pattern times name, whatever the pattern is.
 */
#ifndef CORDON_FMT_GLOB_H
#define CORDON_FMT_GLOB_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/str.h"

/* Does the text hold an unquoted * ? or [ ? */
bool glob_has_magic(struct str text);
/* NULL when the component is a well-formed pattern, else what is wrong with it. */
const char *glob_component_fault(struct str pattern);
/* The pattern must be well-formed. */
bool glob_component_match(struct str pattern, struct str name);
/* Appends text with every special character quoted, so that it matches itself only. */
void glob_quote(struct buf *b, struct str text);
/* Appends text with its quoting removed; for text without magic. */
void glob_unquote(struct buf *b, struct str text);

#endif
