/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Landlock rules of a plan: the same grants as the mounts make, once more.
 *
 * Landlock can only grant, and a grant covers everything below. So in trees that are not
 * writable a directory with something denied in it is not granted itself; its other
 * children are. That barrier does not depend on a mount staying where it is: a secret
 * that is replaced by rename on the host stays closed. This is done for what the caller
 * could read without the mount; so only root pays for the siblings of /etc/shadow.
 * Writable trees are granted whole, because new files must be possible there.
 */
#ifndef CORDON_BACKEND_LINUX_GRANTS_H
#define CORDON_BACKEND_LINUX_GRANTS_H

#include "backend/linux/native.h"
#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"

/* A directory with more entries is granted whole, denied children or not; the mounts
 * still hide those. */
#define GRANTS_PER_DIRECTORY 1000
/* So is one that would make them more in all: each costs the start some microseconds. */
#define GRANTS_IN_ALL 2000
/* The same where there are no mounts: more is an error. */
#define GRANTS_PER_DIRECTORY_ALONE 20000

struct grants_options {
	unsigned abi;
	/* No mounts: only what may be reached is granted, not even names elsewhere. The
	 * sandbox's own directories are the host's then, and nothing of them but the
	 * plain devices and reading /proc is granted. */
	bool alone;
	const char *program;	/* the command, as a known name; NULL: none */
	const char *scratch;	/* granted like a private /tmp; NULL: none */
	/* For a command whose changes a broker carries out: it changes nothing itself. With
	 * `hides` it reads and executes nothing itself, either, that is hidden in a writable
	 * tree, nor what is made beside that. */
	bool inner;
	bool hides;
};

/* abi 0, or a plan without Landlock: ret->abi is 0 and nothing else is filled. */
int grants_collect(struct arena *a, const struct plan *plan, const struct grants_options *options,
		   struct native_landlock *ret, struct cordon_error *err);
/* What is left for the parent: the children of the trees that are not granted whole. Once,
 * and not where it is `alone`, which leaves nothing. */
int grants_expand(const struct native_landlock *l, const struct landlock_step **ret, size_t *ret_n,
		  struct cordon_error *err);

/* The rights that a kernel with this ABI knows. */
uint64_t grants_handled(unsigned abi);

#endif
