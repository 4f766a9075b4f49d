/* SPDX-License-Identifier: Apache-2.0 */
/* Another try when the first could not be set up. */
#include "run/attempt.h"

#include <errno.h>
#include <string.h>

/* Where the set-up of a backend fails for lack of what; the stages are those of the
 * errors its child reports. */
static const struct {
	const char *backend;
	const char *stage;
	enum cap cap;
} signs[] = {
	{ "native", "clone", CAP_USERNS },	{ "native", "namespaces", CAP_USERNS },
	{ "native", "mount", CAP_MOUNTNS },	{ "native", "proc", CAP_PROC_FRESH },
	{ "bwrap", "bwrap", CAP_BWRAP },	{ "native", "listener", CAP_NOTIFY },
	{ "landlock", "listener", CAP_NOTIFY },	{ "landlock", "broker", CAP_LOOK },
};

/* Something that is replaced again and again is not waited for, but what merely comes and
 * goes, at whatever pace, must not end a run. */
#define LOOKS_MAX 16
/* Looks without a sign that anything changed. */
#define BLIND_LOOKS_MAX 4

/* What the kernel says when something is not allowed or not there, as opposed to a path
 * that is gone or memory that is out. EINVAL is that for a flag of clone or
 * seccomp, elsewhere a file where a directory was; EBUSY is another listener. */
static bool says_unavailable(const struct cordon_error *error)
{
	int e = error->sys_errno;

	return e == EPERM || e == EACCES || e == ENOSPC || e == EUSERS || e == ENOSYS ||
	       (e == EINVAL && strcmp(error->stage, "clone") == 0) ||
	       ((e == EINVAL || e == EBUSY) && strcmp(error->stage, "listener") == 0);
}

bool attempt_was_overtaken(const struct cordon_error *error)
{
	int e = error->sys_errno;

	/* bubblewrap does not pass on an errno. */
	if (strcmp(error->stage, "bwrap") == 0)
		return error->code != CORDON_E_LIMIT;
	if (strcmp(error->stage, "mount") != 0 && strcmp(error->stage, "landlock") != 0)
		return false;
	return e == ESTALE || e == ENOENT || e == ENOTDIR || e == ELOOP || e == EINVAL;
}

enum cap attempt_lacks(const struct backend *backend, const struct cordon_error *error)
{
	bool wrapped = strcmp(backend->name, "bwrap") == 0;

	/* More than it takes is no fault of the machine. */
	if (error->code == CORDON_E_LIMIT || (!wrapped && !says_unavailable(error)))
		return CAP_COUNT;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strcmp(signs[i].backend, backend->name) == 0 &&
		    strcmp(signs[i].stage, error->stage) == 0)
			return signs[i].cap;
	return CAP_COUNT;
}

/* Gives up what the failure shows to be missing. False: nothing to give up. */
static bool give_up(struct arena *a, struct attempt *attempt, const struct cordon_error *why)
{
	struct caps *caps = attempt->caps;
	enum cap cap = attempt_lacks(attempt->backend, why);

	if (cap == CAP_COUNT || !caps->value[cap])
		return false;
	caps->value[cap] = 0;
	caps->assumed[cap] = false;
	caps->why[cap] = arena_dup(a, str_of(why->message));
	return true;
}

static bool is_same_op(const struct op *a, const struct op *b)
{
	return a->kind == b->kind && a->number == b->number && str_eq(a->path, b->path) &&
	       str_eq(a->source, b->source) && a->node.type == b->node.type &&
	       a->node.dev == b->node.dev && a->node.ino == b->node.ino;
}

static bool is_same_plan(const struct plan *a, const struct plan *b)
{
	if (a->ops.n != b->ops.n)
		return false;
	for (size_t i = 0; i < a->ops.n; i++)
		if (!is_same_op(&a->ops.at[i], &b->ops.at[i]))
			return false;
	return true;
}

/* One that was made again may look like the one before. */
static bool covers_sockets(const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_HIDE_FILE && op->node.type == NODE_SOCKET)
			return true;
	return false;
}

/* bubblewrap does not say why it failed: with the same plan it would do so again. */
static bool is_worth_it(const struct cordon_error *why, const struct plan *before,
			const struct plan *now, unsigned looks)
{
	return strcmp(why->stage, "bwrap") != 0 || !is_same_plan(before, now) ||
	       (covers_sockets(now) && looks < BLIND_LOOKS_MAX);
}

static int choose_again(struct attempt *attempt, struct cordon_error *err)
{
	int r = situation_plan(attempt->situation, attempt->caps, &attempt->backend, &attempt->plan,
			       err);

	return r < 0 || !attempt->changed ? r : attempt->changed(attempt->data, err);
}

/* 1 when there is something else to try, 0 when not. */
static int look_again(struct attempt *attempt, const struct cordon_error *why, unsigned looks,
		      struct cordon_error *err)
{
	const struct plan *before = attempt->plan;
	int r;

	if (!attempt->again || looks >= LOOKS_MAX || !attempt_was_overtaken(why))
		return 0;
	r = attempt->again(attempt->data, err);
	if (r == 0)
		r = choose_again(attempt, err);
	return r < 0 ? r : is_worth_it(why, before, attempt->plan, looks);
}

/* What to do about a failed set-up, if anything: 1 when there is another try, 0 when the
 * failure stands. */
static int prepare_again(struct arena *a, struct attempt *attempt, const struct cordon_error *why,
			 unsigned looks, struct cordon_error *err)
{
	int r = look_again(attempt, why, looks, err);

	if (r != 0)
		return r;
	if (!give_up(a, attempt, why))
		return 0;
	r = choose_again(attempt, err);
	/* Its own message says more than that a program which is there is needed. */
	if (r < 0 && strcmp(why->stage, "bwrap") == 0)
		return 0;
	return r < 0 ? r : 1;
}

int attempt_execute(struct arena *a, struct attempt *attempt, const struct execute_options *options,
		    struct run_result *ret, struct cordon_error *err)
{
	for (unsigned looks = 1;; looks++) {
		struct cordon_error why;
		int r = execute(a, attempt->situation, attempt->backend, attempt->plan,
				attempt->caps, options, ret, err);

		if (r < 0 || ret->cause != RUN_CAUSE_setup)
			return r;
		why = ret->error;
		r = prepare_again(a, attempt, &why, looks, err);
		if (r <= 0)
			return r;
		run_result_free(ret);
	}
}
