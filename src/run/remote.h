/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote: file systems on which looking at a file can take as long as somebody else likes:
 * a server that does not answer, a program behind FUSE, an automounter.
 */
#ifndef CORDON_RUN_REMOTE_H
#define CORDON_RUN_REMOTE_H

#include "base/arena.h"
#include "base/map.h"

/* Is the path, a normal one, on such a file system? Goes by the table of mounts, read
 * into *mounts when that is empty; true when it cannot be read. The root counts as local:
 * everything would wait for it anyway. */
bool remote_is_below(struct map *mounts, struct arena *a, struct str path);
/* The same from the text of a mountinfo. False: out of memory. */
bool remote_read(struct map *mounts, struct arena *a, struct str mountinfo);

#endif
