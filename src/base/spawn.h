/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn: the one clone/exec primitive. Everything cordon starts goes through here.
 *
 * The request is a plain value; nothing in it is owned or changed. The child does
 * what the request says, in this order, and executes only if all of it worked:
 *
 *  1. signal dispositions and mask
 *  2. session or process group
 *  3. death with the parent
 *  4. cwd_fd
 *  5. descriptors: the map, then every other one from 3 up is closed
 *  6. `child` instead of the rest, when given
 *  7. resource limits, cwd, execve
 *
 * Failure travels as one struct cordon_error over a CLOEXEC pipe. The end of that
 * pipe without an error means that the program has been executed.
 *
 * Between clone and exec the child has a copy of the memory of a parent that may have
 * held any lock - or that memory itself, where it does nothing but execute (vfork): it
 * makes system calls and calls functions marked CHILD_SAFE, which do not allocate, do not
 * use stdio and do not format.
 */
#ifndef CORDON_BASE_SPAWN_H
#define CORDON_BASE_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/* Marks what may run between clone and exec; tests/unit/test_spawn_child.c proves it. */
#define CHILD_SAFE

/* For what calls a function that does not return: on a stack that is not the thread's own,
 * AddressSanitizer cannot clean up before that, and says so. */
#define BORROWS_STACK __attribute__((no_sanitize("address")))

#define SPAWN_FDS_MAX 250
#define SPAWN_TARGET_MAX 255 /* the highest descriptor a map may ask for */

struct spawn_fd {
	int from; /* in the parent */
	int to;	  /* in the child, without CLOEXEC */
};

/* A ceiling: what the caller already has less of stays as it is. */
struct spawn_rlimit {
	int resource;
	uint64_t soft, hard;
};

struct spawn_ahead;

struct spawn_request {
	const char *program; /* a path, already searched for */
	char *const *argv;
	char *const *envp;
	const char *cwd; /* NULL: stay */
	int cwd_fd;	 /* a directory, before cwd; 0: none, for 0 is always stdin */

	uint64_t clone_flags; /* CLONE_NEW* */
	/* Has some of them, or NULL; serves one start. The child waits until it has gone, or
	 * would die with it. */
	struct spawn_ahead *ahead;
	/* The directory of a control group to begin in; 0: none. Best effort: in_cgroup of
	 * struct spawned says whether it does. */
	int cgroup_fd;
	/* Runs in the child, must be CHILD_SAFE, and returns only after it has
	 * reported a failure with spawn_child_fail. It lets go of error_fd (by
	 * exec or close) when the command has started. */
	int (*child)(void *data, int error_fd);
	void *child_data;

	/* Runs in the parent once the child exists, or who is in its namespaces; the child
	 * waits for it before it does anything. NULL: nothing to do. */
	int (*parent)(void *data, pid_t pid, struct cordon_error *err);
	void *parent_data;

	bool new_session;
	bool new_group;	      /* without effect when new_session is set */
	bool die_with_parent; /* SIGKILL when the thread that started it ends; not on macOS */
	/* Not a child of the caller, who therefore gets no SIGCHLD and no status: for a
	 * library, whose host may reap every child there is. Only for what does nothing but
	 * execute. The outcome is known when spawn_start returns. On macOS a process that ends
	 * at once is the caller's child, with its SIGCHLD. */
	bool detached;

	/* Handlers become the default action and what is ignored stays ignored,
	 * except for these sets, with which the caller's own changes are undone. */
	const sigset_t *ignored;
	const sigset_t *defaulted;
	const sigset_t *mask; /* NULL: the mask at the time of the call */

	const struct spawn_fd *fds; /* 0, 1 and 2 are inherited when not in here */
	size_t n_fds;
	const struct spawn_rlimit *rlimits;
	size_t n_rlimits;
};

struct spawned {
	pid_t pid;
	int pidfd; /* readable when the process has ended */
	int error_fd; /* readable when the outcome is known; -1 once it was read */
	bool in_cgroup;
	bool introduced; /* the request's `parent` has been called */
};

/* Opens /dev/null on each of 0, 1 and 2 that is closed, so that no later
 * descriptor can be taken for a standard stream. */
int spawn_sane_stdio(struct cordon_error *err);

/* Begins to make namespaces for a child to come, while the caller does something else. NULL
 * where that cannot be; then, as when what was begun fails or is not what the child needs,
 * spawn_start makes them. */
struct spawn_ahead *spawn_ahead_start(uint64_t clone_flags);
/* It will not be used, or was: its process ends. Also for NULL. */
void spawn_ahead_dismiss(struct spawn_ahead *a);
/* Used, unused or NULL. */
void spawn_ahead_end(struct spawn_ahead *a);

/* On success the child exists and the caller owns *ret: it reads the outcome, waits
 * for the child and closes both descriptors, or calls spawn_discard. Of what was started
 * detached the caller owns the pidfd only. */
int spawn_start(const struct spawn_request *request, struct spawned *ret,
		struct cordon_error *err);

/* The outcome of the exec without waiting: SPAWN_PENDING, 0 when the program was
 * executed, or the child's error. */
#define SPAWN_PENDING 1
int spawn_check(struct spawned *s, struct cordon_error *err);
/* The same, waiting for it. */
int spawn_wait(struct spawned *s, struct cordon_error *err);
/* To the process, which was not waited for yet. 0, or -1 with errno. */
int spawn_signal(const struct spawned *s, int sig);
/* Is it a descriptor like pidfd? Also when that process has ended. */
bool spawn_is_pidfd(int fd);
/* Kills the child if it still runs, waits for it (unless it changed its user and may
 * not be killed) and closes the descriptors.
 * Accepts what was discarded before and what was zeroed. */
void spawn_discard(struct spawned *s);

/* Finds `name` as a shell would: a name with a slash is taken below cwd, any other
 * is looked for in path_env (NULL: /bin and /usr/bin; an empty part is cwd). Not
 * there: NOT_FOUND. There, but not executable: EXEC. */
int spawn_search_path(struct arena *a, const char *name, const char *path_env,
		      const char *cwd, const char **ret_path, struct cordon_error *err);

/* For `child` functions. Sends "what object" to the parent, which adds the text for
 * errnum; object and hint may be NULL. Returns -code. */
CHILD_SAFE int spawn_child_fail(int error_fd, enum cordon_code code, int errnum,
				const char *stage, const char *what, const char *object,
				const char *hint);
/* Nobody else of the user may look into this process, where the kernel offers that. */
CHILD_SAFE void spawn_child_hide(void);
/* Writes text to an existing file, such as one in /proc, in one call. */
CHILD_SAFE int spawn_child_write(int error_fd, const char *stage, const char *path,
				 const char *text);
/* Step 7: into the directory, if there is one; then the program, with the request's mask.
 * The latter returns only on failure. Both have reported what went wrong. */
CHILD_SAFE int spawn_child_enter(const struct spawn_request *request, int error_fd);
CHILD_SAFE int spawn_child_exec(const struct spawn_request *request, int error_fd);
/* What to do about a program that could not be executed; "": nothing is known. */
CHILD_SAFE const char *spawn_exec_hint(int errnum, const char *program);
/* The pipes between the two halves, as the child sees them. */
struct spawn_pipes {
	int error_write;
	int error_read;	 /* the parent's end */
	int go_read;	 /* a byte here lets the child begin; -1: it need not wait */
	int go_write;	 /* the parent's end */
};
/* Steps 1 to 7; does not return. Used by spawn_start only. */
CHILD_SAFE BORROWS_STACK _Noreturn void
spawn_child_main(const struct spawn_request *request, const struct spawn_pipes *pipes,
		 const sigset_t *mask);

#endif
