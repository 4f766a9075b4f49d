/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of one run, shared by the files of this layer and by no one else.
 *
 * Phases only go forward:
 *
 *	running -> settling   the command has ended, others of its tree have not
 *	        -> asked      TERM was sent to everything
 *	        -> killing    KILL is sent until nothing is left
 *
 * and the run is over, in any phase, when no process is left and what it wrote has arrived.
 */
#ifndef CORDON_RUN_STATE_H
#define CORDON_RUN_STATE_H

#include "backend/cgroup.h"
#include "run/capture.h"
#include "run/meter.h"
#include "run/part.h"
#include "run/supervise.h"
#include "run/tree.h"

enum run_phase {
	RUN_PHASE_running,
	RUN_PHASE_settling,
	RUN_PHASE_asked,
	RUN_PHASE_killing,
};

#define RUN_RLIMITS_MAX 5

struct run {
	const struct run_request *request;
	struct run_result result;
	struct loop *loop;
	struct terminal *terminal; /* NULL: the command has the user's, or none */
	struct tree tree;
	struct meter meter;
	struct cgroup cgroup; /* zeroed: the run has none */
	bool held; /* which holds the limits of memory and processes */
	struct run_usage seen; /* before everything was killed */
	struct capture capture;
	struct spawned main;
	struct loop_watch main_watch, outcome_watch, began_watch, handover_watch;
	struct loop_timer timeout, phase_timer, sample, stop_timer, insist;
	unsigned stop_looks; /* for a stop that the terminal asked for */
	struct violation_listener listener;
	enum run_phase phase;
	uint64_t started, killing_since;
	unsigned asked; /* how often cordon was sent a signal that is to end the command */
	int ended_by; /* a signal that came before the command had begun; 0: none */
	size_t n_begun;	      /* parts whose begin was called */
	unsigned handed_over; /* kinds that arrived */
	uint64_t printed;     /* bytes of output that were carried */
	bool main_gone;
	bool refused;	/* a process may not be killed by us */
	bool failed;	/* result.error is why the command did not start */
	bool broken;	/* result.error is why the supervisor cannot go on */
	bool cause_set; /* result.cause was given to run_stop */
	bool delivers;	/* no process is left, but what it wrote is not taken yet */
};

/* ending.c: reaps, and moves the phase on; called whenever something has ended. */
void run_progress(struct run *run);
/* Between asking and killing, in milliseconds. */
uint64_t run_grace(const struct run *run);
/* The command is not executed yet: there is nobody who could act on a request to end, and
 * what is started after it would not know of it. */
bool run_is_beginning(const struct run *run);
/* The command goes on after the grace that a signal gave it, or was sent another: all are
 * asked, and soon killed. */
void run_insist(struct run *run);
/* Who has the output does not take the rest of it, and the run does not wait any longer:
 * because of that signal, or 0. */
void run_give_up(struct run *run, int sig);
/* A part has brought to its place what there was. */
void run_delivered(struct run *run);

/* forward.c */
void run_on_signal(void *data, int sig, bool by_terminal);
/* To the command, or the foreground of its session. False when nobody got it. */
bool run_pass_on(struct run *run, int sig);
/* The command was stopped: cordon stops as the command would have stopped the user's job,
 * and goes on with it. */
void run_suspend(struct run *run);

/* parts.c */
int run_begin_parts(struct run *run, struct cordon_error *err);
/* 0 when everything that parts take has been handed over. */
int run_parts_complete(const struct run *run, struct cordon_error *err);
/* Is something of the run still on its way to who takes it? */
bool run_parts_have_more(const struct run *run);
void run_end_parts(struct run *run); /* accepts a run in which none began */

/* limits.c: ceilings the kernel holds, and the timers for those it does not. */
/* A control group for the run, where there is a limit that it can hold. */
void run_open_cgroup(struct run *run);
size_t run_rlimits(const struct run_limits *limits, struct spawn_rlimit *ret);
void run_start_limits(struct run *run);
/* For output that passes through: how much of n more bytes the limit leaves room for. The
 * run is ended where that is not all. */
size_t run_count_output(struct run *run, size_t n);
void run_output_passed(struct run *run);

#endif
