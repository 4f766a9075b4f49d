/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: a command with a session of its own does not get the user's terminal but
 * one made for it, and cordon carries what is typed and what is shown from one to the
 * other. So it can do to its terminal what it likes (raw mode, stopping the output, job
 * control) and the user's is as it was when the run is over.
 *
 * Every standard stream that is a terminal becomes the new one; pipes and files stay what
 * they are. The user's terminal is in raw mode meanwhile, while cordon is in the foreground;
 * it is never waited for. When input or output is a pipe, at whose other end there may be
 * somebody who reads keys, that is so only while the command waits for keys itself; a pager at
 * the end of a pipe has them from then on.
 *
 * Ctrl-C and its kin are the business of the new terminal where the command has it as
 * its controlling terminal. Where it does not (bubblewrap), and for Ctrl-Z where the
 * command has no parent in its session that could continue it (no pid namespace), the
 * keys are turned into signals here.
 */
#ifndef CORDON_RUN_TERMINAL_H
#define CORDON_RUN_TERMINAL_H

#include "run/part.h"

struct terminal;
struct plan;

/* The standard streams of this process that are to be a terminal of the command's own,
 * as bits: none without a new session. */
unsigned terminal_streams(const struct plan *plan, const struct execute_options *options);

part_maker_fn terminal_make;

/* For signals that concern the terminal; each accepts NULL. */
void terminal_resize(struct terminal *t);
void terminal_leave(struct terminal *t); /* the user's terminal as it was */
void terminal_enter(struct terminal *t); /* and taken again, in the foreground */
void terminal_forget_stops(struct terminal *t); /* that were told and are over */

#endif
