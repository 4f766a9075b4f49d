/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts: what watches along during a run (the guard, the name responder, the terminal,
 * a meter). Each is a value of its own that plugs into the supervisor's loop; the
 * supervisor knows none of them by name.
 *
 *	begin	the process exists; watches and timers go into run_loop(run). Failing
 *		ends the run before the command was executed (cause setup).
 *	took	a descriptor of one of the kinds in `takes` arrived, and belongs to the
 *		part. The command is executed only after every kind of every part was
 *		taken with success (backend/handover.h).
 *	has_more	no process of the run is left: is there something of it on its way
 *		to somebody who is slow to take it? The part goes on in the loop, and calls
 *		run_delivered when that may have changed. Asked more than once.
 *	end	no process of the run is left; the loop still exists, so that watches can
 *		be removed. Called exactly once when begin was called, also when begin, a
 *		hand-over or the exec failed; what the part found goes into the result.
 *
 * What the inside hands over and what parts take must agree: both follow from the plan.
 * Callbacks never wait. Each may be NULL but for `took` where `takes` is not 0.
 */
#ifndef CORDON_RUN_PART_H
#define CORDON_RUN_PART_H

#include "backend/handover.h"
#include "base/arena.h"
#include "base/err.h"
#include "run/result.h"

#define RUN_PARTS_MAX 10

struct run;
struct situation;
struct plan;
struct caps;
struct launch;
struct execute_options;
struct egress;
struct unrouted;

struct run_part {
	const char *name;
	unsigned takes; /* HANDOVER_BIT(...) */
	int (*begin)(struct run_part *part, struct run *run, struct cordon_error *err);
	int (*took)(struct run_part *part, enum handover_kind kind, int fd,
		    struct cordon_error *err);
	bool (*has_more)(struct run_part *part);
	void (*end)(struct run_part *part, struct run_result *result);
	void *data;
};

/* What a part is made from; everything outlives the run. */
struct part_input {
	const struct situation *situation;
	const struct plan *plan;
	const struct caps *caps;
	struct launch *launch; /* after prepare */
	const struct execute_options *options;
	struct egress **egress; /* set by its maker; NULL in it: the run has none */
	struct unrouted **unrouted; /* the same */
};

/* Makes a part in the arena; *ret stays NULL when this run needs none. */
typedef int part_maker_fn(struct arena *a, const struct part_input *in, struct run_part **ret,
			  struct cordon_error *err);

/* What watches along on this system (makers_linux.c, makers_darwin.c), each deciding from
 * the plan whether it is needed; in the order in which parts begin, and they end the other
 * way round. Ended by NULL. */
extern part_maker_fn *const part_makers[];

#endif
