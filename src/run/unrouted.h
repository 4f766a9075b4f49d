/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unrouted: the part of a run that tells of UDP which was sent, without connecting first, to
 * an address that nothing leads to.
 *
 * The kernel refuses that by itself. Being told of each such call would make every datagram
 * of the command slow, also those on its own loopback, so nobody is; but the kernel counts in
 * the sandbox's network what it found no way for. That counts connects as well, and those are
 * seen one by one (observe.h): what is left were datagrams. How many is known at the end, and
 * where to is not.
 */
#ifndef CORDON_RUN_UNROUTED_H
#define CORDON_RUN_UNROUTED_H

#include "run/notify.h"
#include "run/observe.h"
#include "run/part.h"

struct unrouted;

/* A part_maker_fn, for a run with a network of its own whose connects are seen. It has to come
 * before the parts that see them, which end first. */
int unrouted_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		  struct cordon_error *err);

/* For such a part: its observer counts connects. With the listener, the kernel's counters are
 * read when that is over: what is still to end then takes longer. */
void unrouted_feed(struct unrouted *u, struct observer *observer, struct notify *listener);

/* The number in the text of /proc/net/snmp or /proc/net/snmp6; 0: there is none. */
uint64_t unrouted_four(const char *text);
uint64_t unrouted_six(const char *text);

#endif
