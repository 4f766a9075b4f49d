/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper: a process that gives the user's terminal its settings back when cordon is killed
 * (SIGKILL) while the terminal is in raw mode. It does nothing else, and ends with cordon.
 *
 * Best effort: without it the terminal stays as it is then. What somebody else has set
 * meanwhile, such as a shell that noticed first, is left alone.
 */
#ifndef CORDON_RUN_KEEPER_H
#define CORDON_RUN_KEEPER_H

#include <stdbool.h>
#include <termios.h>

#include "base/spawn.h"

struct keeper {
	struct spawned child;
	int control; /* -1: there is none */
};

struct keeper_settings {
	bool changed; /* from `before` to `now`; otherwise there is nothing to give back */
	struct termios before, now;
};

/* The process is the caller's to disown. */
int keeper_start(struct keeper *k, int terminal, struct cordon_error *err);
void keeper_tell(const struct keeper *k, const struct keeper_settings *settings);
void keeper_end(struct keeper *k); /* accepts one that was not started */

#endif
