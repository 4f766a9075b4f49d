/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener: a filter whose calls wait for the supervisor. Loaded last, by the
 * command's own process, and handed over before it executes.
 */
#ifndef CORDON_BACKEND_LINUX_LISTEN_H
#define CORDON_BACKEND_LINUX_LISTEN_H

#include "backend/backend.h"
#include "backend/linux/native.h"

/* Names that do not exist yet are held by the guard, and refusals are seen by who is asked
 * about calls; both need the listener. */
void listen_claims(const struct caps *caps, struct claims *ret);
/* Does this level of reporting (OP_REPORT) rest on the listener? What a command prints is
 * not always seen. */
bool listen_reports(const struct op *op);
/* Hidden names and patterns besides, by a broker; only with protect = exact. */
void listen_claims_exact(const struct caps *caps, struct claims *ret);
/* What it would take and is not there; CAP_COUNT: nothing. */
enum cap listen_lacks(const struct caps *caps);
bool listen_is_exact(const struct plan *plan);
/* Is each connect(2) looked at? A socket of the host that is bound to no full path is covered by
 * no mount, and Landlock does not know connecting. */
bool listen_judges_connects(const struct plan *plan, const struct caps *caps);
/* In the parent, after launch->broker_hides is set: plans for a listener when the plan needs
 * one and there can be one. */
int listen_prepare(const struct launch_input *in, struct native *n, struct launch *launch,
		   struct cordon_error *err);
/* After that: the filter to load where `base` is wanted. Beside a listener that is asked
 * about refused calls it is one that lets those pass. */
enum seccomp_filter listen_beside(const struct native *n, enum seccomp_filter base,
				  struct launch *launch);
/* The same for a plan without a network, where the command has the host's: whoever listens is
 * asked about sockets of the internet, too, so that somebody hears that they are refused. */
int listen_for_sockets(struct arena *a, struct native *n, struct launch *launch,
		       struct cordon_error *err);
/* In the child: loads the filter and hands the listener over. */
CHILD_SAFE int listen_start(const struct native *n, int error_fd);

#endif
