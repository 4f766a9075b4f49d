/* SPDX-License-Identifier: Apache-2.0 */
/* The files below the sandbox's root, for rule 11: see policy/rename.h. */
#ifndef CORDON_RUN_GUARD_TREE_H
#define CORDON_RUN_GUARD_TREE_H

#include "policy/rename.h"

/* *root is the sandbox's root, O_PATH, and must stay open as long as the tree is used. */
struct tree guard_tree(int *root);

#endif
