/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quarantine: where names go that should not have been made, so that nothing is lost.
 * For the owner alone, below $CORDON_HOME/quarantine:
 *
 *	RUN/N		what was taken; RUN is TIME-PID of the run, N counts from 0
 *	RUN/N.json	where it came from and when, written whole before it is moved
 *
 * RUN/N is its id. A run holds a shared lock on its directory, whoever gives back or
 * removes something an exclusive one.
 */
#ifndef CORDON_RUN_QUARANTINE_H
#define CORDON_RUN_QUARANTINE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "run/move.h"

/* --- taking, during a run ------------------------------------------------------------ */

struct quarantine {
	const char *home;   /* CORDON_HOME */
	struct str workdir; /* of the run */
	unsigned taken;
	struct move_spent copied;
	char dir[PATH_MAX]; /* "" until the first is taken */
	int held;	    /* that directory, locked; its owner sets -1 */
};

/* Something that was taken, until it lies where it stays. */
struct quarantine_ticket {
	unsigned number;
	int dir;		 /* where it waits, O_PATH; its owner closes it */
	char name[NAME_MAX + 1]; /* under this name */
};

/* Takes `name` of the directory, whose whole path is `from`, out of its place, by another
 * name beside it that nobody can foresee. Never follows a link, never replaces anything.
 * Returns 0 with a ticket, which must be given to quarantine_finish, or -errno with
 * everything as it was.
 *
 * It does not go further while the run goes on: with a directory in the quarantine as its
 * current one, a process could go up from there into cordon's home, past whatever is
 * mounted over that. */
int quarantine_take(struct quarantine *q, int dir, const char *name, struct str from,
		    struct quarantine_ticket *ret);
/* When no process of the run is left. Returns 0 with the path where it stays: in the
 * quarantine, or beside its old name when it could not be moved there (a full disk, too
 * much to copy); -ENOENT when somebody took it away. */
int quarantine_finish(struct quarantine *q, const struct quarantine_ticket *ticket,
		      char ret_path[PATH_MAX]);
bool quarantine_holds(const struct quarantine *q, const char *path);
void quarantine_release(struct quarantine *q); /* the run is over */
/* The id of what was moved to `path`: the end of that text. */
const char *quarantine_id(const char *path);

/* --- what is there -------------------------------------------------------------------- */

struct quarantined {
	const char *id, *path;
	struct str run;	    /* TIME-PID */
	struct str from;    /* empty when there is no record, or one that makes no sense */
	struct str workdir; /* of the run; likewise */
	int64_t time;	    /* seconds since 1970 */
	const char *kind;   /* file, directory, link, other; missing: a record alone */
	uint64_t bytes;	    /* of a file */
};
struct quarantined_list {
	VEC(struct quarantined) items; /* oldest run first */
};

/* Everything in quarantine; nothing when there is no such directory. */
int quarantine_list(struct arena *a, struct str home, struct quarantined_list *ret,
		    struct cordon_error *err);
/* Gives one back, to where it came from or, unless NULL, to `to`. An error when anything
 * is there already. *ret_path is the whole path it has then. */
int quarantine_restore(struct arena *a, const struct quarantined *q, const char *to,
		       const char **ret_path, struct cordon_error *err);
/* Removes one for good. */
int quarantine_clear(const struct quarantined *q, struct cordon_error *err);

#endif
