/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of kqueue as cordon uses, on epoll, so that what is written for macOS can be run
 * where there is no kqueue. Filters behave as the manual of macOS says: they go on being
 * told while the condition lasts, a signal that is told stays pending, and a process that
 * is gone cannot be watched.
 */
#ifndef CORDON_TESTS_DARWIN_SYS_EVENT_H
#define CORDON_TESTS_DARWIN_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_PROC (-5)
#define EVFILT_SIGNAL (-6)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_EOF 0x8000

#define NOTE_EXIT 0x80000000u

struct kevent {
	uintptr_t ident;
	int16_t filter;
	uint16_t flags;
	uint32_t fflags;
	intptr_t data;
	void *udata;
};

#define EV_SET(event, i, f, fl, ff, d, u)                                                 \
	(*(event) = (struct kevent){ .ident = (i),                                        \
				     .filter = (int16_t)(f),                              \
				     .flags = (uint16_t)(fl),                             \
				     .fflags = (ff),                                      \
				     .data = (d),                                         \
				     .udata = (u) })

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int n_changes, struct kevent *events,
	   int n_events, const struct timespec *timeout);

#endif
