/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hand-over: descriptors that only the inside can make (a seccomp listener, sockets
 * of its network namespace, the terminal of its devpts) go out to the supervisor over
 * one socket.
 *
 * Inside, init and the command's process send what they have made, and the last of them
 * calls handover_finish before it executes: that says "this was all" and waits for the
 * supervisor to agree. The supervisor agrees when every kind it expects has arrived and
 * whoever wanted it could use it; otherwise it closes its end. So the command is never
 * executed without what watches it, and nothing is ever sent after it is.
 *
 * One message is one byte, the kind, with one descriptor; the end is the byte
 * HANDOVER_END without one. Each kind comes once at most.
 */
#ifndef CORDON_BACKEND_HANDOVER_H
#define CORDON_BACKEND_HANDOVER_H

#include "base/err.h"
#include "base/spawn.h"

enum handover_kind {
#define HANDOVER(id, ...) HANDOVER_##id,
#include "backend/handovers.def"
#undef HANDOVER
	HANDOVER_KIND_COUNT
};

/* Beside the kinds: what handover_take says. */
#define HANDOVER_END 0xff	/* the other side has sent all */
#define HANDOVER_NOTHING 0x100	/* no message yet */
#define HANDOVER_GONE 0x101	/* the other side ended without saying so */

#define HANDOVER_BIT(id) (1u << HANDOVER_##id)

const char *handover_kind_to_string(enum handover_kind kind);

/* Both ends CLOEXEC; the supervisor's does not block. */
int handover_open(int *ret_supervisor, int *ret_inside, struct cordon_error *err);

/* Inside. Each returns 0, or a negative code after reporting to error_fd. The sender
 * keeps fd. */
CHILD_SAFE int handover_send(int inside, enum handover_kind kind, int fd, int error_fd);
CHILD_SAFE int handover_finish(int inside, int error_fd);

/* Outside: one message. Returns its kind (then *ret_fd belongs to the caller), one of
 * the values above, or a negative code for anything that does not look as it should.
 * Never waits. */
int handover_take(int supervisor, int *ret_fd, struct cordon_error *err);
/* Lets the command be executed. */
int handover_agree(int supervisor, struct cordon_error *err);

#endif
