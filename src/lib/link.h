/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link: a `cordon --supervise` of our own, and the frames it sends.
 *
 * It is no child of the caller. The socket and the process are watched together, because
 * either alone can be kept from ending: a program that forks hands copies of its
 * descriptors to whatever it forks.
 */
#ifndef CORDON_LIB_LINK_H
#define CORDON_LIB_LINK_H

#include "fmt/frame.h"
#include "lib/lib.h"

struct link {
	int socket, process, both; /* `both` is readable when one of them is */
	struct buf in;
	size_t taken; /* of in, by link_find */
	bool greeted;
};

/* words: from lib_words. stdin_fd 0: nothing to read. */
int link_open(const struct cordon_policy *policy, const struct buf *words, int stdin_fd,
	      struct link *ret, struct cordon_error *err);
/* The other side ends its run, if it has one. Accepts a zeroed link. */
void link_close(struct link *link);

/* One read without waiting: 1 something came, 0 nothing now, negative: nothing ever, which
 * before an answer is an error. */
int link_receive(struct link *link, struct cordon_error *err);
/* The next complete frame that came: 1, or 0 when there is none. Its body lasts until the
 * next call of either. */
int link_find(struct link *link, struct frame *ret, struct cordon_error *err);
/* Waits until link_receive has something to do, at most so long; negative: without end. */
void link_wait(const struct link *link, int timeout_ms);
/* Without waiting for the other side to have it. */
int link_cancel(struct link *link, struct cordon_error *err);

#endif
