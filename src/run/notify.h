/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify: the supervisor's end of a seccomp listener. System calls of the sandbox wait
 * here until they are answered, one at a time.
 *
 * Whoever judges a call returns 0 to let the kernel carry it out, the errno with which it
 * fails, NOTIFY_DONE: it has been done, and the call returns 0, or NOTIFY_LEFT: it waits
 * until its process is killed. A call that has gone
 * meanwhile (its process was killed) is nobody's concern. Any other trouble with the
 * listener is final: it is closed, upon which every call that waits or comes later fails
 * with ENOSYS, and `broke` is called, which must end the run.
 */
#ifndef CORDON_RUN_NOTIFY_H
#define CORDON_RUN_NOTIFY_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "base/loop.h"

/* --- a listener, whoever looks after it ------------------------------------------ */

/* The kernel may know longer records than we do; it fills as much as it knows. */
union notify_call {
	struct seccomp_notif call;
	char room[1024];
};
union notify_answer {
	struct seccomp_notif_resp answer;
	char room[1024];
};

/* Are the kernel's records no longer than ours? If not, errno says why, or is 0. */
bool notify_fits(void);
/* Waits for a call: 0, or -1 with errno, ENOENT when its process was killed meanwhile. */
int notify_receive(int listener, union notify_call *ret);
/* 0, also when the call has gone, or -1 with errno. */
int notify_send(int listener, const union notify_answer *answer);
bool notify_is_waiting(int listener, uint64_t id);
/*
 * Who is answered can be made to run at once, on our processor: while one thread makes
 * call after call this takes a tenth of the time that waking it elsewhere does. Where
 * several are at work it is a loss, for the caller is taken away from its own processor,
 * which then stands idle, to one that has work. So the kernel is asked for it only while
 * the calls are of one thread and follow one another closely. An older kernel answers all
 * the same, only slower.
 */
struct notify_pace {
	uint32_t tid;	 /* whose call was last */
	int64_t at;	 /* when, in nanoseconds */
	unsigned streak; /* how many of that thread came before it, closely */
	bool hurries;	 /* what the kernel was asked for */
};
/* A call came, and is not answered yet. */
void notify_came(struct notify_pace *p, int listener, const struct seccomp_notif *call);
/* It is answered. */
void notify_went(struct notify_pace *p, int listener);

/* --- the supervisor's ------------------------------------------------------------- */

#define NOTIFY_DONE (-1)
#define NOTIFY_LEFT (-2)

struct notify {
	/* Set by the owner before notify_open. */
	int (*judge)(void *data, const struct seccomp_notif *call);
	void (*broke)(void *data, const struct cordon_error *why);
	void *data;
	/* Or NULL: nobody is left who could call, so there is time for what only the end
	 * knows. */
	void (*over)(void *data);
	void *over_data;
	/* Its own. */
	struct loop *loop;
	struct loop_watch watch;
	struct notify_pace pace;
	timer_t tick;
	bool has_tick, in_row;
};

/* Takes the listener over; on failure it is closed. */
int notify_open(struct notify *n, struct loop *loop, int listener, struct cordon_error *err);
void notify_close(struct notify *n); /* accepts one that is closed, or was never open */

/* Does the call still wait? If not, what was read of its process may be another's. */
bool notify_waits(const struct notify *n, const struct seccomp_notif *call);
/*
 * While one thread makes call after call, the next one is waited for where calls are received,
 * and not in the loop, which takes a fifth of the time that being told costs. Receiving always
 * waits, so a signal of our own interrupts it for what else the loop has to do. Whoever is about
 * to make a call that must not be interrupted says so first.
 */
void notify_calm(struct notify *n);

#endif
