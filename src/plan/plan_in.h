/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that compile a plan; nobody else includes it. */
#ifndef CORDON_PLAN_PLAN_IN_H
#define CORDON_PLAN_PLAN_IN_H

#include "plan/plan.h"

struct compiler {
	struct arena *arena;
	const struct plan_input *in;
	struct plan *plan;
	bool out_of_memory;
	struct cordon_error *err;
};

/* A path that some rule mentions, or a hidden name that exists. */
struct spot {
	struct str path;
	struct node node;
	const struct rule *rule;
	bool link;   /* spelled through a symlink: rule names the target */
	bool socket; /* a unix socket of the host, to be covered unless named */
};

struct spots {
	VEC(struct spot) items;
};

/* Appends an operation; NULL (and out_of_memory) when memory is out. The pointer holds
 * until the next call. */
struct op *plan_emit(struct compiler *c, enum op_kind kind, struct str path);
void plan_emit_number(struct compiler *c, enum op_kind kind, struct str path, uint64_t number);
/* What the file tree is decided about, a directory right before what is below it. */
int plan_spots(struct compiler *c, struct spots *ret);
/* The part of the plan that shapes the file tree. */
int plan_files(struct compiler *c);
/* The hosts and ports; and, once the file tree is known, the files of the resolver. */
int plan_network(struct compiler *c);
int plan_resolver(struct compiler *c);
bool plan_counts_connections(enum key key);
/* Compares what the operations need with what the backend claims. */
int plan_losses(struct compiler *c);

#endif
