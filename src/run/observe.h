/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe: notes that a call which is about to be carried out will be refused.
 *
 * It never decides anything: the kernel does, and the policy says beforehand what that
 * will be. Noted is only what the policy refuses and what would have worked without
 * cordon: the object is there, or could have been made, and the caller's own permissions
 * allow it. So programs that merely try are not reported.
 *
 * Most calls concern a tree in which they are allowed. That is seen from the text of an
 * absolute path, or from the directory a relative one starts in, which is looked up once
 * in a while and not for every call; a call may therefore go unnoticed. So does whatever
 * lies on a file system that somebody else serves, or that is mounted when it is looked
 * at: the supervisor must not wait for those.
 */
#ifndef CORDON_RUN_OBSERVE_H
#define CORDON_RUN_OBSERVE_H

#include "base/arena.h"
#include "base/map.h"
#include "plan/plan.h"
#include "report/accesses.h"
#include "report/violation.h"
#include "run/request.h"

#define OBSERVED_BASES 16 /* a power of two */
#define OBSERVED_TEXT (2 * PATH_MAX)

struct observed_base {
	pid_t tid;
	int dirfd;
	unsigned uses; /* 0: not known */
	size_t n;      /* 0: has no path */
	char path[PATH_MAX];
};

struct observer {
	const struct policy *policy;
	/* Its own. */
	struct arena *arena;
	bool own_view;	   /* what is not shown is not there, and what is there is shown */
	bool limits_hosts; /* not every host is reached */
	struct accesses *accesses; /* what is allowed is noted here, and nothing taken for
				    * ordinary; NULL: nobody wants to know */
	struct map shown;  /* the operations that shape the tree, by their paths */
	struct map mounts; /* each leads to REMOTE or LOCAL; empty: not known yet */
	struct observed_base bases[OBSERVED_BASES];
};

/* False: out of memory. */
bool observer_init(struct observer *o, struct arena *a, const struct plan *plan);

/* Does the plan let the kernel allow writing there? `path` is a normal path. */
bool observer_writable(const struct observer *o, struct str path);

/* Will it be refused? Then op, object (in text) and rule are set. */
bool observe_request(struct observer *o, const struct request *q, char text[OBSERVED_TEXT],
		     struct violation *ret);

#endif
