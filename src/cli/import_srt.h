/* SPDX-License-Identifier: Apache-2.0 */
/* cordon profile import srt FILE. */
#ifndef CORDON_CLI_IMPORT_SRT_H
#define CORDON_CLI_IMPORT_SRT_H

#include "cli/opts.h"

/* Prints the profile that means what the file says, and what became of each key. */
int import_srt(struct opts *o);

#endif
