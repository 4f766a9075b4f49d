/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pretend: the world with one more file in it, for asking what would hold once somebody has
 * made it.
 */
#ifndef CORDON_CLI_PRETEND_H
#define CORDON_CLI_PRETEND_H

#include "policy/world.h"

struct pretended {
	struct world real;
	struct str path; /* real; nothing is there */
};

/* *ret refers to *what, whose path is set; what it was becomes the real one. */
void pretend_file(struct pretended *what, struct world *ret);

#endif
