/* SPDX-License-Identifier: Apache-2.0 */
/* What of the tree is another thing on another system. */
#ifndef CORDON_RUN_TREE_IN_H
#define CORDON_RUN_TREE_IN_H

#include "run/tree.h"

/* From now on what loses its parent comes to this process, where the kernel offers that. */
int tree_adopt(struct tree *t, struct cordon_error *err);
void tree_release(struct tree *t);

/* Calls back for each child of `parent`; for this process itself also for those of the run
 * that lost theirs and did not come to it. */
void tree_list_children(const struct tree *t, pid_t parent, void (*one)(void *data, pid_t pid),
			void *data);
/* tree.c: the children of this process that are not foreign, in a list made before the
 * first call. */
void tree_each_child(const struct tree *t, void (*one)(void *data, pid_t pid), void *data);

/* To a process that is still the one that was found. False, with errno, when nobody got it. */
bool tree_send(const struct tree_process *p, int sig);
/* To its process group, all at once as the terminal does it; only to the process when the
 * group is in our own session, where others than the command may be in it. */
bool tree_send_to_group(const struct tree_process *p, int sig);

#endif
