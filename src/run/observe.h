/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe: notes that a call which is about to be carried out will be refused.
 *
 * It never decides anything: the kernel does, and the policy says beforehand what that
 * will be. Noted is only what the policy refuses and what would have worked without
 * cordon: the object is there, or could have been made, and the caller's own permissions
 * allow it. So programs that merely try are not reported.
 *
 * Most calls concern a tree in which they are allowed. That is seen from the text of the
 * path, the directory a relative one starts in, and that no link is on the way: the last
 * two are looked up once in a while and not for every call, and so is whatever is read,
 * unless it is done strictly. A call may therefore go unnoticed when a descriptor, a
 * directory or, where it is read, a link was replaced just before. So does a link or a ".."
 * on the way of an openat2 that is to stay below a directory, and whatever lies on a file
 * system that somebody else serves, or that is mounted when it is looked at: the supervisor
 * must not wait for those.
 */
#ifndef CORDON_RUN_OBSERVE_H
#define CORDON_RUN_OBSERVE_H

#include <sys/stat.h>
#include <time.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/map.h"
#include "plan/plan.h"
#include "report/violation.h"
#include "run/request.h"

/* What a call does, and so when it would fail anyway. */
enum observed {
	OBSERVED_OPEN,
	OBSERVED_OPEN_NEW, /* the name has to be free */
	OBSERVED_MAKE,
	OBSERVED_MKDIR,
	OBSERVED_MOVE,
	OBSERVED_REMOVE,
	OBSERVED_CHANGE,
	OBSERVED_READ,
	OBSERVED_EXEC,
	OBSERVED_HOST,	 /* what it connects to is a host */
	OBSERVED_SENDS,	 /* the same, for datagrams */
	OBSERVED_ASKS,	 /* the same, which only asks for the way there */
	OBSERVED_SOCKET, /* what it connects to is covered */
	OBSERVED_COUNT
};

#define OBSERVED_BASES 16 /* a power of two */
#define OBSERVED_KNOWN 2048
#define OBSERVED_TEXT (2 * PATH_MAX)

/* What a call is about: the first half of observing it. */
struct observed_object {
	enum observed what;
	char text[OBSERVED_TEXT]; /* a path, or host:port */
};

struct observed_base {
	pid_t tid;
	int dirfd;
	size_t n; /* 0: has no path */
	char path[PATH_MAX];
};

/* Something that is known of a path for a while, by a number that its text gives. */
struct observed_known {
	uint32_t tag;
	uint32_t uses; /* how often that is still believed */
};

/* A file that the command was given as a standard stream, to write to. */
struct observed_stream {
	uint64_t mount, inode; /* inode 0: none */
	unsigned major, minor;
};
#define OBSERVED_STREAMS 3

struct observer {
	const struct plan *plan;
	struct timespec since; /* before the command; as file systems tell time */
	const struct policy *policy;
	/* Set by the owner after observer_init: told of what is allowed, and nothing is taken
	 * for ordinary. NULL: nobody wants to know. */
	void (*allowed)(void *data, enum violation_op op, struct str object);
	void *data;
	uint64_t *connects; /* set likewise: counts those that nothing leads to; or NULL */
	bool strictly; /* set likewise: nothing is believed that was looked up before */
	/* Its own. */
	struct arena *arena;
	bool inside;	   /* this process sees what the sandbox sees, and may wait there */
	bool own_view;	   /* what is not shown is not there, and what is there is shown */
	struct str tmp;	   /* without mounts, the directory that is the run's; empty: none */
	bool limits_exec;  /* rules on executing hold */
	bool limits_hosts; /* not every host is reached */
	struct map shown;  /* the operations that shape the tree, by their paths */
	struct map mounts; /* each leads to REMOTE or LOCAL; empty: not known yet */
	struct observed_stream streams[OBSERVED_STREAMS];
	struct observed_base bases[OBSERVED_BASES];
	unsigned base_uses[OBSERVED_BASES]; /* that are left; 0: not known */
	struct observed_known known[OBSERVED_KNOWN];
	unsigned services; /* how many were looked for */
};

/* False: out of memory. */
bool observer_init(struct observer *o, struct arena *a, const struct plan *plan,
		   const struct launch *launch);

/* A process is about to change its working directory. */
void observer_forget_bases(struct observer *o);

/* Does the plan let the kernel allow writing there? `path` is a normal path. */
bool observer_writable(const struct observer *o, struct str path);

/* Is something that refuses shown there, in the place of a unix socket of the host? */
bool observer_covers_socket(const struct observer *o, struct str path);
/* Nothing is there inside: may a unix socket of the host be what is missed? observe_judge looks
 * whether there is one. */
bool observer_may_miss_socket(const struct observer *o, struct str path);
/* What a call that names one path names, by its text alone; false: it cannot be told. */
bool observer_spell(const struct request *q, char text[OBSERVED_TEXT], struct str *ret);
/* May this unix socket be the sandbox's own, or one that was granted? In a directory of the
 * host's that may be written, one that is older than the run is somebody else's. */
bool observer_owns_socket(const struct observer *o, struct str path,
			  const struct target_place *place);
/* The time, as file systems tell it. */
void observer_now(struct timespec *ret);
/* Moving, linking and changing it leave that as it is; where the file system does not keep it
 * (STATX_BTIME) nobody can tell. */
bool observer_born_since(const struct statx *st, const struct timespec *since);
/* Is it in a directory that nobody outside of sandboxes sees? */
bool observer_private(const struct observer *o, struct str path);

/* Is it about something that the policy refuses? */
bool observe_find(struct observer *o, const struct request *q, struct observed_object *ret);
/* Would it have worked on the host? Then op, object (in found) and rule are set. To be
 * asked outside of the sandbox. */
bool observe_judge(struct observer *o, const struct observed_object *found, struct violation *ret);
/* Sets what a write does to its name. */
void observed_describe(enum observed what, struct violation *v);

#endif
