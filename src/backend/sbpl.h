/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of Seatbelt's profile language, which is Scheme. Whatever comes from outside
 * is written as a string here and nowhere else: no byte of a path can end the string it
 * stands in.
 *
 * Paths at or below the workdir and the home are written with the parameters WORKDIR and
 * HOME, so the text holds neither name.
 */
#ifndef CORDON_BACKEND_SBPL_H
#define CORDON_BACKEND_SBPL_H

#include "base/buf.h"
#include "base/str.h"
#include "policy/world.h"

#define SBPL_WORKDIR "WORKDIR"
#define SBPL_HOME "HOME"
#define SBPL_TMPDIR "TMPDIR"

/* "text", quoted. */
void sbpl_string(struct buf *b, struct str text);
/* A filter for one path: (literal PATH), (subpath PATH) ... by its name. */
void sbpl_filter(struct buf *b, const char *filter, const struct places *places, struct str path);
/* What has a component with a dot in front, strictly below the path. */
void sbpl_hidden_below(struct buf *b, const struct places *places, struct str path);
/* What the glob of a rule matches, and all below it; where a set of characters has no
 * plain spelling, any character. */
void sbpl_glob(struct buf *b, const struct places *places, struct str glob);

#endif
