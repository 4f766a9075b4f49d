/* SPDX-License-Identifier: Apache-2.0 */
/* The choice among backends, and what they share. */
#include "backend/backend.h"

#include <string.h>

#include "backend/handover.h"
#include "backend/list.h"
#include "base/fd.h"
#include "base/scratch.h"

const struct backend *backend_by_name(struct str name)
{
	for (const struct backend *const *b = backends; *b; b++)
		if (str_eq(name, str_of((*b)->name)))
			return *b;
	return NULL;
}

/* What helps where something is lacking inside a run of cordon's. */
static const char *hint_inside(const struct caps *caps)
{
	return caps->value[CAP_LANDLOCK]
		       ? "this is already inside cordon; --fallback degrade adds what Landlock can "
			 "on top of it"
		       : "this is already inside cordon, and its broker would pass any boundary in "
			 "here by; run the outer one with --protect guard";
}

int backend_needs(const char *name, const struct caps *caps, const enum cap *needed, size_t n,
		  struct cordon_error *err)
{
	for (size_t i = 0; i < n; i++) {
		enum cap cap = needed[i];

		if (caps->value[cap])
			continue;
		err_set(err, CORDON_E_UNAVAILABLE, 0, "backend", "the %s backend needs %s (%s)%s%s",
			name, cap_rows[cap].name, cap_rows[cap].purpose, caps->why[cap] ? ": " : "",
			caps->why[cap] ? caps->why[cap] : "");
		return err_hint(err, "%s", caps->inside ? hint_inside(caps) : cap_rows[cap].fix);
	}
	return 0;
}

void launch_init(struct launch *launch)
{
	*launch = (struct launch){
		.status_fd = -1,
		.handover_fd = -1,
		.stop_fd = -1,
		.began_fd = -1,
		.ruleset_fd = -1,
		.filled_fd = -1,
		.heard = -1,
	};
}

void launch_close(struct launch *launch)
{
	for (size_t i = 0; i < launch->n_fds; i++)
		fd_close(&launch->fds[i].from);
	launch->n_fds = 0;
	fd_close(&launch->status_fd);
	fd_close(&launch->handover_fd);
	fd_close(&launch->stop_fd);
	fd_close(&launch->began_fd);
	fd_close(&launch->ruleset_fd);
	fd_close(&launch->filled_fd);
	if (launch->companion) {
		fd_close(&launch->companion->our_control);
		fd_close(&launch->companion->our_error);
	}
	if (launch->scratch)
		scratch_remove(launch->scratch);
	launch->scratch = NULL;
}

int launch_add_fd(struct launch *launch, int fd, struct cordon_error *err)
{
	int to = 3 + (int)launch->n_fds;

	if (launch->n_fds == LAUNCH_FDS_MAX) {
		fd_close(&fd);
		return err_set(err, CORDON_E_LIMIT, 0, "launch",
			       "more than %d descriptors to hand over", LAUNCH_FDS_MAX);
	}
	launch->fds[launch->n_fds++] = (struct spawn_fd){ .from = fd, .to = to };
	return to;
}

int launch_add_handover(struct launch *launch, struct cordon_error *err)
{
	int inside, r;

	if (launch->handover_fd >= 0)
		return launch->handover_inside;
	r = handover_open(&launch->handover_fd, &inside, err);
	if (r < 0)
		return r;
	launch->handover_inside = launch_add_fd(launch, inside, err);
	return launch->handover_inside;
}

static char *pair(struct arena *a, struct str name, struct str value)
{
	char *text = arena_alloc(a, name.n + value.n + 2);

	if (!text)
		return NULL;
	memcpy(text, name.p, name.n);
	text[name.n] = '=';
	if (value.n)
		memcpy(text + name.n + 1, value.p, value.n);
	return text;
}

char **launch_environ(struct arena *a, const struct plan *plan, bool inside)
{
	char **envp = arena_array(a, plan->ops.n + 2, sizeof(*envp));
	size_t n = 0;

	vec_each(op, &plan->ops) {
		if (!envp || op->kind != OP_ENV_SET || str_eq(op->path, STR(LAUNCH_INSIDE)))
			continue;
		envp[n] = pair(a, op->path, op->source);
		if (!envp[n++])
			return NULL;
	}
	if (!envp || !inside)
		return envp;
	envp[n] = pair(a, STR(LAUNCH_INSIDE), str_of(plan->backend));
	return envp[n] ? envp : NULL;
}

static int not_built(const struct backend *b, struct cordon_error *err)
{
	err_set(err, CORDON_E_UNAVAILABLE, 0, "backend", "the backend '%s' is not in this build",
		b->name);
	return err_hint(err, "use --backend auto; 'cordon doctor' lists what there is");
}

/* Compiles for one backend; a loss of something required is an error unless accepted. A
 * plan that is refused reaches nobody: what it enforces will not be enforced. */
static int try_backend(struct arena *a, struct plan_input *in, const struct caps *caps,
		       const struct backend *b, bool accept_losses, struct plan **ret,
		       struct cordon_error *err)
{
	struct claims *claims = arena_new(a, struct claims);
	struct plan *plan;
	int r;

	if (!claims)
		return err_nomem(err, "backend");
	if (!b->claims)
		return not_built(b, err);
	r = b->available(caps, err);
	if (r < 0)
		return r;
	b->claims(caps, claims);
	claims->backend = b->name;
	claims->caps = caps;
	in->claims = claims;
	r = plan_compile(a, in, &plan, err);
	if (r == 0 && !accept_losses)
		r = plan_check(plan, err);
	if (r == 0)
		*ret = plan;
	return r;
}

static int unknown_backend(struct str wanted, struct cordon_error *err)
{
	const char *names[16] = { "auto" };
	const char *near;

	for (size_t i = 0; backends[i]; i++)
		names[i + 1] = backends[i]->name;
	near = str_nearest(wanted, names);
	err_set(err, CORDON_E_USAGE, 0, "backend", "there is no backend '%.*s'", STR_ARG(wanted));
	return near ? err_hint(err, "did you mean '%s'?", near)
		    : err_hint(err, "'cordon doctor' lists them");
}

/* The first of the table that loses nothing required; then, if losses are
 * accepted, the first that works at all. The error kept is that of the first backend
 * which is part of this build. */
static int choose_auto(struct arena *a, struct plan_input *in, const struct caps *caps,
		       bool accept_losses, const struct backend **ret_backend, struct plan **ret,
		       struct cordon_error *err)
{
	bool have_error = false;

	for (int pass = 0; pass <= accept_losses; pass++)
		for (const struct backend *const *b = backends; *b; b++) {
			struct cordon_error why;
			int r;

			if (*b == &passthrough_backend || !(*b)->claims)
				continue;
			r = try_backend(a, in, caps, *b, pass, ret, &why);
			if (r == 0) {
				*ret_backend = *b;
				return 0;
			}
			/* A rule that cannot be expressed is the user's to mend. */
			if (why.code != CORDON_E_UNAVAILABLE || !have_error)
				*err = why;
			have_error = true;
			if (why.code != CORDON_E_UNAVAILABLE)
				return r;
		}
	if (!have_error)
		return err_set(err, CORDON_E_UNAVAILABLE, 0, "backend",
			       "no backend is part of this build");
	return -err->code;
}

int backend_choose(struct arena *a, struct plan_input *in, const struct caps *caps,
		   struct str wanted, enum fallback fallback, const struct backend **ret_backend,
		   struct plan **ret_plan, struct cordon_error *err)
{
	/* What the system locked is not given up, whatever else is. */
	bool accept = fallback != FALLBACK_ERROR && !policy_is_locked(in->policy);
	const struct backend *b;
	int r;

	if (!in->policy->confined) {
		*ret_backend = &passthrough_backend;
		return try_backend(a, in, caps, *ret_backend, true, ret_plan, err);
	}
	if (str_eq(wanted, STR("auto"))) {
		r = choose_auto(a, in, caps, accept, ret_backend, ret_plan, err);
	} else {
		b = backend_by_name(wanted);
		if (!b)
			return unknown_backend(wanted, err);
		*ret_backend = b;
		/* Asking for no confinement by name is a decision of its own. */
		accept |= b == &passthrough_backend && !policy_is_locked(in->policy);
		r = try_backend(a, in, caps, b, accept, ret_plan, err);
	}
	if (r == -CORDON_E_UNAVAILABLE && fallback == FALLBACK_PASSTHROUGH &&
	    !policy_is_locked(in->policy)) {
		*ret_backend = &passthrough_backend;
		r = try_backend(a, in, caps, *ret_backend, true, ret_plan, err);
	}
	return r;
}
