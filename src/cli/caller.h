/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of the socket: a program with libcordon in it, which wants to be told of
 * a run while it goes on and may end it (fmt/frame.h).
 *
 * Nothing here waits while a command runs. What the caller does not read is kept, and when
 * that is much the command's output is not read either, so that the command waits. When
 * the caller closes its end or dies the run is ended, whoever else still holds a copy of
 * the socket: a program that forks has given one away.
 */
#ifndef CORDON_CLI_CALLER_H
#define CORDON_CLI_CALLER_H

#include "base/loop.h"
#include "fmt/frame.h"
#include "report/violation.h"
#include "run/execute.h"
#include "run/part.h"

/* Descriptors that `cordon --supervise` is started with. */
#define CALLER_SOCKET 3
#define CALLER_LIFE 4 /* a pidfd of the caller; may be closed */

struct caller {
	int fd, life;
	struct buf in, out;
	size_t sent;	/* of out */
	bool gone;	/* nobody is there any more */
	bool cancelled;
	struct run *run;	/* NULL: none is under way */
	struct loop_watch watch, life_watch;
	bool paused;
	struct run_part part;
	struct capture_sink sink;
	struct violation_listener listener;
	const struct violation_advisor *advisor;
};

/* Takes the two descriptors; an error when they are not what they should be. */
int caller_open(struct caller *h, struct cordon_error *err);
void caller_close(struct caller *h);

/* The first frame, waiting for it. Words in the arena. */
int caller_read_request(struct caller *h, struct arena *a, char ***ret, struct cordon_error *err);
/* 0, or a negative errno when it could not be kept for sending. */
int caller_send(struct caller *h, enum frame_kind kind, struct str body);
/* Waits until the caller has everything, or is gone. */
void caller_flush(struct caller *h);

/* The caller follows the run that `options` describes. */
void caller_joins(struct caller *h, struct violations *violations,
		const struct violation_advisor *advisor, struct execute_options *options);

#endif
