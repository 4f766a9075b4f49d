/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentry: what a racing thread slipped past the guard does not stay.
 *
 * While calls that make names go on, the guarded names are looked at every few
 * milliseconds, and once more when the run is over. What is there then and was made by a
 * call from inside goes to quarantine. Inotify would tell sooner, but closing it waits for
 * the kernel longer than most runs take (8 to 20 ms).
 *
 * What is left alone, and only told: whatever was there at the start, whatever is older
 * than the run (a directory of the user's that was moved there), and what no call from
 * inside can have made - one of its kind that went on shortly before the name was made.
 * Names are looked at in the directory itself, without following a link.
 */
#ifndef CORDON_RUN_SENTRY_H
#define CORDON_RUN_SENTRY_H

#include <sys/stat.h>

#include "base/loop.h"
#include "plan/plan.h"
#include "run/quarantine.h"

#define SENTRY_CALLS 4096 /* a power of two */

enum sentry_call { SENTRY_FILE, SENTRY_DIR, SENTRY_MOVE };

struct sentry_name {
	const struct op *op;
	const char *dir, *name;
	bool there, told; /* before the first call; that it was left */
};

struct sentry {
	/* Set by the owner before sentry_begin. `kept` is NULL for what was left. */
	void (*found)(void *data, const struct op *op, const char *kept);
	void *data;
	struct quarantine quarantine;
	/* Its own. */
	struct loop *loop;
	struct loop_timer timer;
	uint64_t pause;	 /* milliseconds to the look the timer is set for */
	int64_t started; /* nanoseconds, as times of files */
	VEC(struct sentry_name) names;
	struct {
		int64_t time;
		enum sentry_call call;
	} calls[SENTRY_CALLS];
	size_t n_calls;
};

int sentry_begin(struct sentry *s, struct arena *a, struct loop *loop, const struct plan *plan,
		 struct cordon_error *err);
/* A call of this kind is about to go on. */
void sentry_saw(struct sentry *s, enum sentry_call call);
/* Looks at every name a last time. Accepts one that was never begun. */
void sentry_end(struct sentry *s);

#endif
