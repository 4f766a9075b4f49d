/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentry: what a racing thread slipped past the guard does not stay.
 *
 * While calls that make names go on, the guarded names are looked at every few
 * milliseconds, and once more when the run is over; so are the directories that lead to
 * them, where nothing may be but a directory. What is there then and was made, or moved
 * there, by a call from inside is taken away (quarantine.h). Inotify would tell sooner, but
 * closing it waits for the kernel longer than most runs take (8 to 20 ms).
 *
 * What is left alone, and told: what no call from inside can have put there - one of its
 * kind that was under way when it was made (inflight.h), nor, if it is a file, one that opens
 * files for writing until it was changed last. As root it is known who made a file, and who
 * opened it (witness.h): what others alone put there and opened is left, unless something was
 * moved or linked meanwhile. What was there at the start is left alone as long as it is the same
 * object; what changes in it is judged as below.
 *
 * A file that is left is not read-only inside. If it is changed and a call from inside can have
 * opened it, whenever that was, it is the command's. What is in a directory that is left is not
 * looked at.
 *
 * Names are looked at in the directory itself, without following a link; a directory whose
 * owner has no rights is given them for that long.
 */
#ifndef CORDON_RUN_SENTRY_H
#define CORDON_RUN_SENTRY_H

#include <sys/stat.h>

#include "base/loop.h"
#include "plan/plan.h"
#include "run/inflight.h"
#include "run/quarantine.h"
#include "run/witness.h"

/* What is taken beyond either of these keeps its other name, and is counted. */
#define SENTRY_TAKEN_MAX 4096
#define SENTRY_DIRS_MAX 64 /* each holds a descriptor */

struct sentry_id {
	uint64_t ino;
	uint32_t major, minor;
	int64_t born; /* a removed object's number is given to the next */
};

/* A guarded name, or a directory on the way to one. */
struct sentry_place {
	const char *path, *name;
	const struct rule *rule;
	size_t above; /* its number; the first place is "/", and they stand as in a walk */
	size_t latest; /* the last one added in it; 0: none */
	bool guarded; /* nothing may be here; otherwise a directory may */
	bool leads;   /* to another place */
	bool holds;   /* a guarded name is in this directory */
	bool blind;   /* it could not be looked at from the start: not the caller's */
	/* What is left alone: from the start, or for it is not the command's (told). */
	bool known, told;
	struct sentry_id left;
	int64_t changed; /* when that was, as of the last look */
	bool shows;	 /* a change since then is in that time */
	bool in_reach;	 /* since it is there a call was under way that can have got hold of it */
	bool elsewhere;	 /* it may have been somewhere else before */
	/* What should go and could not be taken. */
	bool stuck;
	struct sentry_id prey;
	int why;	 /* for what it could not be taken or looked at: errno */
	int64_t fine_at; /* when nothing was wrong here last */
	int64_t fine_files; /* by the clock of files */
	struct sentry_id here; /* the directory, and since which look it is that one */
	int64_t here_since;
	/* During a look. */
	int fd; /* the directory, O_PATH */
	bool unseen; /* it, or something that leads to it, could not be looked at */
	bool opened_up;
	mode_t former;
};

struct sentry_taken {
	const char *path;
	struct quarantine_ticket ticket; /* its directory is one of the sentry's */
};

struct sentry {
	/* Set by the owner before sentry_begin. A violation, once for each object; and in
	 * the end what became of it: `kept` is where it is; or NULL when it is still there,
	 * with `why` an errno, 0: it is not known to be the command's. */
	void (*caught)(void *data, struct str path, const struct rule *rule);
	void (*told)(void *data, struct str path, const char *kept, int why);
	void *data;
	struct quarantine quarantine;
	/* Its own. */
	struct loop *loop;
	struct loop_timer timer, settler;
	uint64_t pause; /* milliseconds to the look the timer is set for */
	uint64_t patience; /* microseconds to when it is asked the next time what is over */
	int64_t settled;   /* when that was asked last */
	bool began;	/* the first call was seen */
	bool opens;	/* one was that can open a file for writing */
	bool foreign;	/* something under a guarded name is not the command's */
	int64_t looks;	/* when the look at hand began */
	int64_t looks_files; /* by the clock of files: what is younger was made since */
	VEC(struct sentry_place) places;
	struct inflight inflight;
	struct witness witness;
	struct arena *arena;
	VEC(struct sentry_taken) taken;
	int dirs[SENTRY_DIRS_MAX]; /* where they wait */
	size_t n_dirs;
	size_t lost; /* how many were taken and are not among those */
};

int sentry_begin(struct sentry *s, struct arena *a, struct loop *loop, const struct plan *plan,
		 struct cordon_error *err);
/* A call of this thread is about to go on. */
void sentry_saw(struct sentry *s, pid_t tid, int nr, enum inflight_kind kind);
/* Looks a last time, when no process of the run is left. Accepts one that was never
 * begun. What nothing was told of, and keeps its other name, is in `lost`. */
void sentry_end(struct sentry *s);

#endif
