/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backends: mechanisms that carry out a plan. Each one says which operations it truly
 * enforces here (claims); a generic check turns the rest into losses or a refusal.
 *
 * A backend turns a plan into a launch: what to spawn and how. It starts nothing
 * itself and decides nothing.
 */
#ifndef CORDON_BACKEND_BACKEND_H
#define CORDON_BACKEND_BACKEND_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/spawn.h"
#include "plan/caps.h"
#include "plan/plan.h"

/* The word by which cordon is the last step before the command (cli/inside.c). */
#define LAUNCH_INSIDE_STEP "--inside"
#define LAUNCH_FDS_MAX 240

/* A broker that the child makes, because it has to be where only the child can put it. Who
 * wants one fills this in before the start. */
struct launch_companion {
	/* In the new process; `command` is the one that becomes the command. Reports to
	 * error_fd as a spawn_request's `child` does, and does not return. */
	void (*run)(void *data, int control_fd, int error_fd, pid_t command);
	void *data;
	int control_fd, error_fd;	/* in the child */
	int our_control, our_error;	/* the other ends; -1: taken */
};

struct launch {
	const char *program;
	char *const *argv;
	char *const *envp;
	const char *cwd;	/* NULL: stay */
	bool new_session;	/* the spawner makes the session, not the backend */
	unsigned wrappers;	/* processes of the backend's own above the command */
	struct spawn_fd fds[LAUNCH_FDS_MAX];	/* `from` belongs to the launch */
	size_t n_fds;
	const char *scratch;	/* a directory of this run, removed with the launch; or NULL */
	int status_fd;		/* what the backend reads afterwards; -1: none */
	int handover_fd;	/* the supervisor's end; -1: nothing is handed over */
	int handover_inside;	/* the other end's number in the child */
	unsigned hands_over;	/* HANDOVER_BIT(...): what will come over it */
	bool carries_input;	/* standard input that is a file comes through a pipe */
	/* Its own processes keep the standard streams until the end, but for those that go to
	 * other numbers in the child, while /dev/null stands in their places; 0: it stays. The
	 * descriptors are in fds. A byte comes from began_fd when all are where they belong. */
	bool keeps_streams;
	int moved_streams[2];
	int began_fd;		/* -1: nothing comes */
	bool bare_streams;	/* the other standard streams keep the host's mounts */
	bool brokered;		/* listener and namespaces are for a broker */
	struct launch_companion *companion; /* the broker is made by the child; NULL: it is not */
	bool broker_hides;	/* only the broker hides what is denied in writable trees */
	bool broker_connects;	/* only the broker tells one unix socket from another */
	uint64_t keep_caps;	/* what the command keeps of root's rights */
	size_t survivors;	/* filled by confirm: what outlived the command and was ended */
	int heard;		/* enum seccomp_filter: the filter for whose refusals the
				 * listener is asked; -1: it answers them itself */
	bool hears_sockets;	/* it is asked about sockets of the internet, and refuses them */
	int stop_fd;		/* something comes when the command was stopped; -1: nothing */
	/* For a backend that is the child itself: see struct spawn_request. The request
	 * as it would have been is put into *command before the clone. */
	uint64_t clone_flags;
	struct spawn_ahead *ahead;	/* belongs to who gave it; NULL: none */
	bool own_users;		/* in a user namespace of its own: only its processes count */
	int (*child)(void *data, int error_fd);
	void *child_data;
	struct spawn_request *command;
	int (*parent)(void *data, pid_t pid, struct cordon_error *err);
	void *parent_data;
	/* What the parent does while the child is at work, and with what; NULL: nothing. */
	int (*meanwhile)(struct launch *launch, struct cordon_error *err);
	int ruleset_fd, filled_fd;	/* -1: none */
};

/* What the command is: program is a path inside the sandbox. */
struct launch_input {
	const struct plan *plan;
	const struct caps *caps;
	const char *program;
	char *const *argv;
	unsigned terminal;	/* which of the standard streams are a terminal */
	unsigned piped;		/* which are pipes whose other end may wait for the command */
	struct spawn_ahead *ahead;	/* of backend_ahead, or NULL */
	bool strictly;		/* every refused change is to be seen, whatever that takes */
};

struct backend {
	const char *name;
	const char *summary;
	/* NULL: in the table, not in this build. */
	void (*claims)(const struct caps *caps, struct claims *ret);
	/* 0, or why it cannot be used here. */
	int (*available)(const struct caps *caps, struct cordon_error *err);
	/* On failure nothing stays open; on success launch_close lets go. */
	int (*prepare)(struct arena *a, const struct launch_input *in, struct launch *ret,
		       struct cordon_error *err);
	/* After the run: did the command really start, and how did it end, where the exit
	 * status of the process does not tell? *ret_status is a wait status and left alone
	 * when nothing more is known. NULL: the process is the command. */
	int (*confirm)(struct launch *launch, int *ret_status, struct cordon_error *err);
};

/* In the order in which `auto` tries them on this system (list_linux.c, list_darwin.c); ended
 * by NULL. */
extern const struct backend *const backends[];

/* Once the policy is known, and while the plan is made: what every plan for it is likely to
 * need and takes long. For spawn_ahead_end; NULL where there is no such thing. */
struct spawn_ahead *backend_ahead(const struct policy *policy);

/* NULL when there is no such backend. */
const struct backend *backend_by_name(struct str name);

/* 0 when all of `needed` are there; otherwise names the first that is not. */
int backend_needs(const char *name, const struct caps *caps, const enum cap *needed, size_t n,
		  struct cordon_error *err);

void launch_init(struct launch *launch);
void launch_close(struct launch *launch); /* accepts one that was closed before */
/* Gives the child a descriptor; the launch owns fd afterwards. Returns its number in
 * the child, or a negative code with fd closed. */
int launch_add_fd(struct launch *launch, int fd, struct cordon_error *err);
/* Opens the hand-over unless it is open. Returns the number of the inside's end in the
 * child, or a negative code. */
int launch_add_handover(struct launch *launch, struct cordon_error *err);
/* Set for whatever runs inside a boundary, to the name of the backend: a cordon in there
 * takes a configuration that it may not read for one that this one enforces already. */
#define LAUNCH_INSIDE "CORDON_INSIDE"
/* The environment a plan hands over, as an envp in the arena; with `inside` that variable,
 * too. NULL: out of memory. */
char **launch_environ(struct arena *a, const struct plan *plan, bool inside);

/* Picks a backend and compiles for it. `wanted` is a name or "auto". Refusals name what
 * is missing; with fallback degrade the losses are accepted, with passthrough the
 * command may run unconfined. */
int backend_choose(struct arena *a, struct plan_input *in, const struct caps *caps,
		   struct str wanted, enum fallback fallback, const struct backend **ret_backend,
		   struct plan **ret_plan, struct cordon_error *err);

#endif
