/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise: one command from start to result.
 *
 * The supervisor is single-threaded and waits for events only. Nothing of the run is
 * left when it returns: every descendant, daemons included, has been ended and reaped
 * (see tree.h; that is also why this code belongs only in the cordon process). It
 * changes signal mask, SIGCHLD disposition and subreaper attribute while it runs and
 * puts them back.
 *
 * Streams are passed through untouched, the command then has the caller's own
 * descriptors and a closed pipe kills it as it would have without cordon, or they
 * are captured.
 *
 * Signals that reach cordon go on to the command: to its process group when it has
 * its own session, otherwise (and USR1 and USR2 always) to the process. What the
 * terminal sends (Ctrl-C, Ctrl-\, a new window size) a command in cordon's own process
 * group has already got and does not get twice. After TERM or HUP, and after INT where there
 * is no terminal, the command has the grace to end; then, or at the second such signal, the
 * whole tree is asked and killed. When the command stops in the terminal's foreground, cordon stops
 * with it; elsewhere it does not, or a command could stop its own timeout.
 *
 * new_session takes the controlling terminal away from the command, so it cannot put
 * input into it; what it gets instead is in terminal.h.
 */
#ifndef CORDON_RUN_SUPERVISE_H
#define CORDON_RUN_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/spawn.h"
#include "report/violation.h"
#include "run/capture.h"
#include "run/part.h"
#include "run/result.h"

#define RUN_GRACE_DEFAULT_MS 2000
#define RUN_CAPTURE_DEFAULT ((size_t)16 << 20)

struct run; /* a run under way */

/* 0 means no limit, in every field. */
struct run_limits {
	uint64_t timeout_ms;
	uint64_t cpu_ms;    /* of the whole tree, measured; and of each process, hard */
	uint64_t memory;    /* bytes of the whole tree, sampled (meter.h) */
	uint64_t procs;	    /* living processes and threads, sampled */
	bool procs_alone;   /* nobody else's processes count for the kernel: it helps */
	uint64_t procs_beside; /* that many of the user's count too; 0: not known */
	uint64_t files;	    /* open descriptors of each process */
	uint64_t files_soft; /* what the caller had for itself; 0: what there is */
	uint64_t file_size; /* bytes; beyond it SIGXFSZ */
	uint64_t output;    /* bytes of what is captured, or shown on the terminal */
};

/* The limit that the kernel ended the command by with this signal, or `signal`. */
enum run_cause run_cause_of_signal(const struct run_limits *limits, int sig);

struct run_request {
	const char *program; /* already searched for */
	char *const *argv;
	char *const *envp;
	const char *cwd; /* NULL: stay where cordon is */
	int cwd_fd;	 /* 0: none */

	/* Starts the process; NULL for spawn_start. A backend changes a copy of the
	 * request (program, arguments, descriptors, `child`) and passes that on. */
	int (*start)(void *data, struct run *run, const struct spawn_request *request,
		     struct spawned *ret, struct cordon_error *err);
	void *start_data;
	/* Generations at the top of the tree that are the backend's own and must not
	 * get the command's signals: 0 for a plain exec. */
	unsigned wrappers;
	/* Ending the main process ends everything, which is then tried first. */
	bool encloses;
	/* Below which control group one for the run may be made (backend/cgroup.h); NULL: none. */
	const char *cgroup;
	/* File systems in memory that belong to the run: see meter.h. */
	const char *const *places;

	/* What watches along; see part.h. They live at least as long as the run. */
	struct run_part *const *parts;
	size_t n_parts;
	/* The supervisor's end of the hand-over, closed by run_supervise; 0: none. */
	int handover_fd;

	const sigset_t *mask; /* the command's; NULL: the caller's */
	bool new_session;
	bool stdin_null;
	/* 1 << fd: pipes that end when the command has done with them: the caller writes nothing
	 * there any more. They are let go when the command is executed or, if that is not known
	 * then, when a byte comes from began_fd (0: it is known). */
	unsigned lets_go;
	int began_fd;
	bool capture;
	size_t capture_max; /* bytes kept of each stream; 0: RUN_CAPTURE_DEFAULT */
	const struct capture_sink *sink; /* gets what is captured, too; NULL: nobody */
	uint64_t grace_ms;  /* between TERM and KILL; 0: RUN_GRACE_DEFAULT_MS */
	struct run_limits limits;
	struct violations *violations; /* where refusals are noted; NULL: nowhere */
	bool end_at_violation;	       /* the first one ends the run, cause policy */
};

/* The signals that a run takes. Who makes something for it that must not be left behind blocks
 * those that end a process meanwhile. */
void run_signal_set(sigset_t *ret);

/* *ret is filled on success, and success includes a command that could not be
 * started (cause setup). Failure means that the supervisor itself broke down; the
 * tree has been killed. The caller frees *ret with run_result_free. */
int run_supervise(const struct run_request *request, struct run_result *ret,
		  struct cordon_error *err);

/* For what watches along: the loop to add descriptors and timers to, and ending the
 * run early. The first cause counts; after the command has ended none does. */
struct loop *run_loop(struct run *run);
void run_stop(struct run *run, enum run_cause cause);
/* Where what watches along notes a refusal; may be NULL, which violations_add accepts. */
struct violations *run_violations(struct run *run);
/* Is everything of it being killed? */
bool run_is_killed(const struct run *run);
/* Output is not read, or read again: for a sink that cannot keep up. */
void run_pause_output(struct run *run, bool pause);
/* A helper that a part has started: no part of the run, and the part's to end. */
int run_disown(struct run *run, pid_t pid, struct cordon_error *err);
/* And the processor time of that process is not the run's. */
void run_leave_out(struct run *run, pid_t pid);
/* Something without which the run must not go on broke down: everything is killed and
 * run_supervise fails with this error. */
void run_break(struct run *run, const struct cordon_error *why);

#endif
