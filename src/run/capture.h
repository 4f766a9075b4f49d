/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: the command's stdout and stderr, drained into two buffers.
 *
 * Both pipes are read whenever they have something, so neither can block the
 * command. What passes `keep` bytes of one stream is read and dropped; when both
 * streams together pass `limit`, on_limit is called once and everything later is
 * dropped. A sink gets everything up to that limit as it comes, and may have reading
 * paused: the command then waits, as for any reader that is slow.
 */
#ifndef CORDON_RUN_CAPTURE_H
#define CORDON_RUN_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/loop.h"

struct capture;

struct capture_sink {
	void (*chunk)(void *data, bool is_error, struct str text);
	void *data;
};

struct capture_stream {
	struct capture *owner;
	struct loop_watch watch; /* watch.fd is ours; -1 at the end of the stream */
	int child_end;		 /* to be mapped into the child; -1 once closed */
	struct buf text;
	bool truncated;
};

struct capture {
	struct loop *loop;
	struct capture_stream out, err;
	uint64_t total;
	uint64_t limit; /* 0: none */
	const struct capture_sink *sink; /* NULL: none */
	void (*on_limit)(void *data);
	void (*on_end)(void *data); /* both streams have ended */
	void *data;
};

int capture_open(struct capture *c, struct loop *loop, size_t keep,
		 struct cordon_error *err);
/* Lets go of the child's ends, in the parent, once the child has them.
 * Accepts a zeroed capture. */
void capture_started(struct capture *c);
bool capture_ended(const struct capture *c);
/* Stops reading, or goes on; accepts a zeroed capture. */
int capture_pause(struct capture *c, bool pause, struct cordon_error *err);
/* Reads what is there now, without waiting, and closes the pipes: for when no
 * process of the run is left, whoever else may hold the other end. */
void capture_finish(struct capture *c);
/* Frees everything but texts that were taken; accepts a zeroed capture. */
void capture_close(struct capture *c);

#endif
