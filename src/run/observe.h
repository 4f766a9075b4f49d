/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe: notes that a call which is about to be carried out will be refused.
 *
 * It never decides anything: the kernel does, and the policy says beforehand what that
 * will be. Noted is only what the policy refuses and what would have worked without
 * cordon: the object is there, or could have been made, and the caller's own permissions
 * allow it. So programs that merely try are not reported.
 *
 * Most calls concern a tree that may be written. That is seen from the text of an
 * absolute path, or from the directory a relative one starts in, which is looked up once
 * in a while and not for every call; a call may therefore go unnoticed.
 */
#ifndef CORDON_RUN_OBSERVE_H
#define CORDON_RUN_OBSERVE_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "plan/plan.h"
#include "run/target.h"

#define OBSERVED_BASES 16 /* a power of two */

struct observed_base {
	pid_t tid;
	int dirfd;
	unsigned uses; /* 0: not known */
	size_t n;      /* 0: has no path */
	char path[PATH_MAX];
};

/* What the call does there, and so when it would fail anyway. */
enum observed { OBSERVED_OPEN, OBSERVED_MAKE, OBSERVED_MOVE };

struct observer {
	const struct policy *policy;
	/* Its own. */
	struct map shown; /* the operations that shape the tree, by their paths */
	struct observed_base bases[OBSERVED_BASES];
};

/* False: out of memory. */
bool observer_init(struct observer *o, struct arena *a, const struct plan *plan);

/* Does the plan let the kernel allow writing there? `path` is a normal path. */
bool observer_writable(const struct observer *o, struct str path);

/* Will a write to `path`, seen from dirfd, be refused? Then *ret_object is what, in text,
 * and *ret the decision. `follow`: a link in the last place is followed. */
bool observe_write(struct observer *o, const struct target *target, enum observed what, int dirfd,
		   const char *path, bool follow, char text[2 * PATH_MAX], struct str *ret_object,
		   struct decision *ret);

#endif
