/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git_config: what a git configuration file says, without running git.
 *
 * Read as git reads it (git-config(1)): sections, subsections in quotes, continued
 * lines, quotes and escapes in values. Nothing is followed: an include is a setting like
 * any other. A file that git would refuse is refused as a whole.
 */
#ifndef CORDON_RUN_GIT_CONFIG_H
#define CORDON_RUN_GIT_CONFIG_H

#include <stdbool.h>
#include "base/str.h"

/* Longer keys and values are not paths. */
#define GIT_CONFIG_TEXT_MAX 4096

/* key: "section.name" or "section.subsection.name", section and name in small letters.
 * value: without quotes; empty for a name alone. Both last only for the call. */
typedef void git_config_fn(void *data, struct str key, struct str value);

/* False when the text is no configuration; what came before was told all the same. */
bool git_config_read(struct str text, git_config_fn *tell, void *data);

#endif
