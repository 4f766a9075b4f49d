/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the broker and by no one else. */
#ifndef CORDON_RUN_BROKER_IN_H
#define CORDON_RUN_BROKER_IN_H

#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/path.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "report/violation.h"
#include "run/notify.h"
#include "run/observe.h"
#include "run/target.h"

/* --- the two ends ---------------------------------------------------------------- */

/* What the broker tells the supervisor, one message each. */
enum broker_word {
	/* The first four wait for an answer where a refusal ends the run. */
	BROKER_REFUSED,
	BROKER_SEEN, /* the policy refuses it; whether it would have worked is seen outside */
	BROKER_CALLED,	/* a filter refuses it */
	BROKER_CLOSED,	/* it cannot be known what the call names */
	BROKER_CONNECTS, /* to the address in `object`; waits for an answer */
	BROKER_CONFIGURES, /* git, by the lock file beside `object`; waits for an answer */
	BROKER_ALLOWED, /* for who wants to know that, too */
	BROKER_DONE, /* nobody is left who could call: it ends as it should */
};

struct broker_message {
	uint32_t word;
	uint32_t op; /* enum violation_op; seen: enum observed; called, closed: its number */
	uint32_t does; /* refused: enum observed */
	bool inner;    /* called: by this very program */
	int32_t pid, errnum;
	uint32_t links; /* refused: the call was for another name of the object */
	char program[VIOLATION_PROGRAM_MAX];
	char object[VIOLATION_OBJECT_MAX + 1]; /* as much of it as is used is sent */
};

/* The broker's descriptors, at fixed places. */
enum broker_fd {
	BROKER_FD_LISTENER = 3,
	BROKER_FD_CONTROL,
	BROKER_FD_PROC, /* the host's, with the host's numbers */
	BROKER_FD_USER_NS,
	BROKER_FD_MOUNT_NS,
	BROKER_FD_END
};

struct broker_input {
	const struct policy *policy;
	const struct plan *plan;
	uint64_t file_caps;	   /* what the command keeps of root's rights over files */
	struct observer *observer; /* after the start, each of the two has its own */
	uint64_t report;	   /* enum report */
	const struct launch *launch;
	bool lists_hosts;	   /* the supervisor has to know of connections first */
	bool learns;		   /* what is allowed is told, too */
	bool ends_run;		   /* what is refused does: nobody goes on before it is heard */
	bool hides;		   /* reading is carried out, too: else nothing would hide it */
	bool connects;		   /* so is connecting: else every unix socket were open */
	/* There are no namespaces: it is in the command's own Landlock domain, has no capability,
	 * and what the plan has of the sandbox's own is the host's. */
	bool unmounted;
	struct str tmp;	/* of those the one directory that is the command's; empty: none */
	pid_t command;	/* in the broker: who becomes the command */
};

/* A spawn_request's `child`: becomes the broker and does not return. */
int broker_child(void *data, int error_fd);
/* Says what went wrong while it became that; -1, for who returns it. */
int broker_fail(int error_fd, const char *what);
/* A launch_companion's `run`: the same where the command's own process makes it. */
void broker_companion(void *data, int control_fd, int error_fd, pid_t command);

/* --- one call --------------------------------------------------------------------- */

#define BROKER_JOBS_MAX 256
#define BROKER_CALLERS 32

struct broker_job;
struct broker_sockets; /* that the command has bound itself */

/* What is kept of who called before. */
struct broker_caller {
	pid_t tid;     /* 0: nobody */
	int proc;      /* its directory in /proc */
	int pidfd;     /* -1: not opened yet */
	int umask;	/* -1: not known */
	uint64_t seen;	/* the call at which it was found to be there, still */
};

struct broker_umask {
	pid_t tid;
	int umask;
};

struct broker_cpus {
	bool usable;
	cpu_set_t own;	 /* the broker's */
	cpu_set_t every; /* all that it could have */
	int at;		 /* where it stays while one thread calls in a row; -1: it roams */
};

/* The directory of the call before (broker_place.c). */
struct broker_place {
	int dir;  /* O_PATH; -1: none */
	bool entered; /* it is our working directory, which is /proc otherwise */
	int base; /* the directory that the text started in; -1: the root, or dir itself */
	int number; /* of the caller's descriptor for that, or AT_FDCWD */
	struct statx base_is;
	bool absolute;
	bool outside;
	int64_t since;
	char text[PATH_MAX]; /* what led there */
	size_t text_n;
	char path[PATH_MAX]; /* its own */
	size_t path_n;
};

struct broker {
	const struct broker_input *in;
	struct broker_place place;
	struct broker_cpus cpus;
	struct target_view view;
	uint64_t *mounts; /* ids of the sandbox's mounts, in order */
	size_t n_mounts;
	int umask;   /* our own; -1: not known */
	struct broker_caller callers[BROKER_CALLERS];
	struct broker_umask changing[BROKER_CALLERS];
	size_t n_changing;
	bool never_settles;
	struct broker_job *jobs[BROKER_JOBS_MAX];
	size_t n_jobs;
	struct broker_sockets *sockets; /* NULL: none */
	struct notify_pace pace;
};

struct call;
typedef int64_t broker_fn(struct call *c);

struct broker_row {
	int nr;
	broker_fn *how;
	int dirfd, path, x, y, z;
};

/* What is put into the caller's table. */
struct broker_given {
	int fd; /* -1: nothing */
	int emptied; /* its file is, by this descriptor, once it is in place; -1: it is not */
	bool cloexec;
};
#define BROKER_NOTHING ((struct broker_given){ .fd = -1, .emptied = -1 })

struct call {
	struct broker *broker;
	const struct seccomp_notif *notif;
	const struct broker_row *row;
	struct target target;
	char path[PATH_MAX];
	int cwd; /* the caller's working directory, O_PATH; -1: not opened yet */
	struct broker_given given;
	enum observed does; /* to its object, where more is to be said than that it changes */
	bool keeps_place; /* see broker_place.c */
	bool sure;    /* it waited still after the last look at the caller */
	bool told;    /* the refusal is noted */
	bool allowed; /* by the policy; what fails then is not its doing */
};

/* Answers beside a value from 0 on and an errno, negative. */
#define BROKER_LATER INT64_MIN /* a job answers */
/* The kernel does it. Only for what it has a rule for, or where nothing is read from memory. */
#define BROKER_GO_ON (INT64_MIN + 1)

uint64_t call_argument(const struct call *c, int i);
int call_dirfd(const struct call *c);
/* Reads the row's path into c->path: 0 or -errno. */
int call_read_path(struct call *c);
/* The caller's number, and a place in it, for looking at it by that: it could be another's
 * already, which is not known before call_check. */
pid_t call_number(struct call *c);
const struct target *call_target(struct call *c);
/* Was what was found by its number the caller's? 0 or -ENOENT. */
int call_check(struct call *c);

/* An object in the sandbox's view. */
struct object {
	struct target_place place;
	bool borrowed; /* place.dir is not its own, and named */
	bool outside;  /* reached through a descriptor that leads out of the sandbox */
	bool exists;
	mode_t mode; /* of the object itself, where it exists */
	dev_t rdev;
	char text[PATH_MAX + NAME_MAX + 2];
	struct str path;	 /* empty: it has no name, so no rule is about it */
	char name[NAME_MAX + 2]; /* with the slash that followed it */
};

void object_close(struct object *o);
#define autoobject __attribute__((cleanup(object_close))) struct object

/* Each returns 0 or -errno; the object may not exist. */
int object_find(struct call *c, int dirfd, const char *path, bool follow, struct object *ret);
/* The object that c->path names, for a call that does not make it. */
int object_find_existing(struct call *c, bool follow, struct object *ret);
/* For a call that makes or takes away the name itself: whether there is one is not looked at,
 * as the kernel will say. Only what has no name is known to exist. */
int object_find_name(struct call *c, int dirfd, const char *path, struct object *ret);
/* Looks whether it exists: 0, also when it does not, or -errno. */
int object_look(struct object *o);
/* The object behind a descriptor, which belongs to it from then on, also on failure. */
int object_of_fd(struct call *c, int fd, struct object *ret);
/* Is that a file in the sandbox which the caller may write through this descriptor? Then it
 * was judged when it was opened, and whatever its name is now. */
bool object_is_open_for_writing(struct call *c, int fd);
/* An O_PATH descriptor of the object, or -errno. */
int object_hold(const struct object *o);
/* The same as a name below /proc, to be used with BROKER_FD_PROC. */
void object_link(int fd, char text[32]);

/* Does the policy allow it? */
bool object_may(struct call *c, const struct object *o, enum policy_op op);
/* Is it the host's although the policy speaks of one of the sandbox's own? Landlock keeps it
 * closed, but has no rule for every call. */
bool object_is_hosts(const struct call *c, const struct object *o);
/* 0, or the errno of a refusal, negative, which is noted. */
int object_allow(struct call *c, const struct object *o, enum policy_op op);
int object_refuse(struct call *c, const struct object *o, struct str path, enum violation_op op);

/* Tells the supervisor; op as in the message. */
void call_tell(struct call *c, enum broker_word word, unsigned op, struct str object, int errnum);
/* Tells what it connects to and waits until the supervisor is ready for that. */
void call_announce(struct call *c, const void *address, size_t n);
/* Has the supervisor, for whom it is not read-only, add to a protected git configuration what
 * git's lock file beside it says (git_rewrite.h). False when that must not be. */
bool call_configures(struct call *c, struct str config);
/* After it was served with that answer: notes it when a call that has failed, or is left to
 * the kernel, is one that the policy refuses. */
void call_observe(struct call *c, int64_t value);

/* A call begins: what is kept of the one before ends, unless it is sure to be the same. */
void place_begin(struct call *c);
void place_drop(struct broker *b);
/* Is the directory at `parent`, from the working directory, the root or an open directory on, the
 * one that is kept?
 * Then the object has it, with its path as text. */
bool place_recall(struct call *c, int dirfd, bool absolute, struct str parent, struct object *ret);
/* Keeps the directory of an object whose text begins with its path. */
struct place_found {
	int dirfd;
	bool absolute;
	struct str parent;
	int base;	/* where the text started; -1: in the root, or it is the directory itself */
	size_t path_n;	/* bytes of the path */
};
void place_remember(struct call *c, const struct place_found *found, struct object *o);
/* What the caller's working directory is: 0, or -1 with errno. */
int call_look_at_cwd(struct call *c, struct statx *ret);
/* Opens something below the caller's directory in /proc, O_PATH: -1 with errno. */
int call_open(struct call *c, const char *what);
void broker_changes_umask(struct broker *b, pid_t tid, int mask);
/* A copy of the caller's descriptor, or -errno. Whose it was is known after call_check, where
 * the caller called for the first time. */
int call_take_fd(struct call *c, int fd);
/* Makes the broker's umask the caller's, which waits still then: 0 or -errno. */
int call_take_umask(struct call *c);
/* Of the caller: its session and controlling terminal as /proc/PID/stat has them. */
int call_session(struct call *c, int *ret_session, unsigned *ret_tty);
/* Are signals waiting for the caller? */
bool call_has_signal(pid_t tid);

/* --- jobs: what may take its time -------------------------------------------------- */

/* Does `work` in a process of its own, and answers the call with what it returns: a
 * value, or an errno; with *ret_fd set, that is put into the caller's table. Returns
 * BROKER_LATER or -errno. */
struct broker_work {
	int64_t (*work)(const struct broker_work *work, int *ret_fd);
	int fd; /* belongs to the job from then on, and so does the next */
	int to; /* -1: none */
	int flags;
	const void *address; /* as long as the call is served */
	socklen_t address_n;
};
int64_t broker_begin_job(struct call *c, const struct broker_work *work);
int broker_job_fd(const struct broker_job *job);
/* Looks after a job whose descriptor is readable, or all of them now and then. */
void broker_finish_job(struct broker *b, size_t i);
void broker_check_jobs(struct broker *b);

bool broker_waits(uint64_t id); /* does the call still wait? */
/* Takes the one capability that is not the command's, or lays it down: 0, or -1 with errno. */
int broker_look(const struct broker *b, bool may);
/* Answers a call of tid. What is given is closed. */
struct broker_waiting {
	uint64_t id;
	pid_t tid;
};
void broker_answer(struct broker *b, struct broker_waiting to, int64_t value,
		   struct broker_given given);

/* --- broker and caller on one processor ------------------------------------------------ */

struct broker_near {
	bool held;
	pid_t tid;
	cpu_set_t was, here; /* of the caller */
};

void broker_near_init(struct broker *b);
/* Where that cannot be had, nothing is held, and all goes on. */
void broker_draw_near(struct broker *b, pid_t tid, struct broker_near *ret);
void broker_let_go(const struct broker *b, const struct broker_near *near);
/* The broker itself stays where it is until this. */
void broker_roam(struct broker *b);

/* --- the calls ---------------------------------------------------------------------- */

/* Some of them have no call on some architectures. */
broker_fn broker_open, broker_creat;
broker_fn broker_mkdir, broker_mknod, broker_symlink, broker_link, broker_rename;
broker_fn broker_unlink, broker_rmdir;
broker_fn broker_truncate, broker_chmod, broker_fchmod, broker_chown, broker_lchown, broker_fchown;
broker_fn broker_utime, broker_utimes, broker_utimensat;
broker_fn broker_setxattr, broker_lsetxattr, broker_fsetxattr;
broker_fn broker_removexattr, broker_lremovexattr, broker_fremovexattr;
broker_fn broker_ioctl, broker_bind, broker_connect, broker_umask, broker_exec;
broker_fn broker_absent, broker_refused;

#endif
