/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree: the processes of a run, found, measured, signalled and reaped.
 *
 * They are all descendants of this process, and on Linux stay so whatever they do, because
 * tree_open makes it a child subreaper: a daemon that forks twice and starts its own
 * session comes back as our child. This belongs only in the cordon process, never in
 * a library's host, whose own orphans would be taken in as well.
 *
 * Children that existed before tree_open (a shell's background job when cordon was
 * exec'ed over it, a helper of cordon's own) are foreign: they are neither signalled
 * nor reaped.
 */
#ifndef CORDON_RUN_TREE_H
#define CORDON_RUN_TREE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

/* A run with more processes than this many bytes of records is cut short there; the
 * next walk finds the rest. */
#define TREE_WALK_BYTES_MAX ((size_t)64 << 20)

struct tree_process {
	pid_t pid, parent;
	unsigned depth; /* generations below the main process; TREE_ORPHAN */
};

#define TREE_ORPHAN (~0u) /* its line to the main process is broken */

struct tree {
	pid_t main; /* set by the caller once it is known */
	unsigned wrappers; /* generations at the top that belong to the backend */
	bool was_subreaper;
	bool no_children_files; /* kernel without CONFIG_PROC_CHILDREN */
	struct arena memory; /* of the foreign list */
	VEC(pid_t) foreign;
	/* Called for each process that is reaped, the main one included. */
	void (*reaped)(void *data, const siginfo_t *info, const struct rusage *usage);
	void *data;
};

/* `reaped`, `data` and `wrappers` are set before. */
int tree_open(struct tree *t, struct cordon_error *err);
void tree_close(struct tree *t); /* accepts a zeroed tree */

/* A child that belongs to cordon and not to the run, from now on foreign as well: whoever
 * started it ends and reaps it. */
int tree_disown(struct tree *t, pid_t pid, struct cordon_error *err);

/* Sends sig to every process below the backend's wrappers. Returns how many got it. */
size_t tree_signal(const struct tree *t, int sig);
/* Sends sig to the command alone, or to its process group when that has a session of its
 * own. False when nobody got it. */
bool tree_signal_command(const struct tree *t, int sig, bool group);
/* Is the command stopped, by a signal or a tracer? */
bool tree_command_stopped(const struct tree *t);
/* Is it the program that was asked for, and no longer a process of the backend's? */
bool tree_command_executes(const struct tree *t);

/* Is this the command's own process group, as of a shell that waits for input? */
bool tree_command_leads(const struct tree *t, pid_t group);

/* What tree_suspend stopped. */
struct tree_stopped {
	struct arena memory;
	VEC(pid_t) pids;
};
/* Stops every process below the wrappers; tree_resume continues those that were not
 * stopped before. Nothing of the run moves in between, and nothing is measured. */
void tree_suspend(const struct tree *t, struct tree_stopped *ret);
void tree_resume(const struct tree *t, struct tree_stopped *s);
/* Stops everything, so that nothing can fork away, then kills it. Returns how many
 * living processes there were, and in *ret_refused whether one of them may not be
 * signalled. Those killed still have to be reaped: they end when the kernel gets to it. */
size_t tree_kill(const struct tree *t, bool *ret_refused);
/* Living processes, zombies not counted. */
size_t tree_count(const struct tree *t);
/* Calls back for every process, zombies too; `wrapper` is true for the backend's own. */
void tree_each(const struct tree *t,
	       void (*one)(void *data, const struct tree_process *p, bool wrapper), void *data);

/* Takes in every process that has ended. False when none of the run is left. */
bool tree_reap(const struct tree *t);

#endif
