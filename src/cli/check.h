/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a configuration file, for `config check` and `profile check`. */
#ifndef CORDON_CLI_CHECK_H
#define CORDON_CLI_CHECK_H

#include "cli/opts.h"
#include "policy/config.h"

/* path "-" means standard input. */
int check_read(struct opts *o, const char *path, enum source source, struct config *ret,
	       struct cordon_error *err);
/* Prints "ok" or the first error; returns the exit status. */
int check_file(struct opts *o, const char *path, enum source source);

#endif
