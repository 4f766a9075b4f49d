/* SPDX-License-Identifier: Apache-2.0 */
/* Rule and fix of a violation. */
#include "cli/advise.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/git_hints.h"
#include "cli/remedy.h"
#include "run/refused.h"

/* Would the caller be let, without cordon? For what does not exist the directory it
 * would be in is asked, or the nearest above it. */
static bool permitted(enum violation_op op, struct str object)
{
	int mode = op == VIOLATION_read ? R_OK : op == VIOLATION_write ? W_OK : X_OK;
	char path[PATH_BYTES_MAX + 1];

	for (;;) {
		if (object.n > PATH_BYTES_MAX)
			return true;
		for (size_t i = 0; i < object.n; i++)
			path[i] = object.p[i];
		path[object.n] = '\0';
		if (faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0)
			return true;
		if (errno != ENOENT || op != VIOLATION_write || object.n <= 1)
			return errno == ENOENT;
		object = path_parent(object);
	}
}

static const char *origin_text(const struct explainer *e, const struct origin *origin)
{
	autobuf struct buf b = buf_make(16384);

	if (!origin)
		return NULL;
	origin_print(&b, origin);
	return b.failed ? NULL : arena_dup(e->opts->arena, buf_str(&b));
}

static void take(const struct explainer *e, const struct verdict *v, struct violation_advice *ret)
{
	*ret = (struct violation_advice){
		.rule = v->by,
		.origin = origin_text(e, v->origin),
		.fix = v->fix,
	};
}

/* Of a link to a program, what is said is about the program. */
static bool program_verdict(const struct explainer *e, struct str named, struct verdict *ret)
{
	const struct world *world = &e->setup.situation.world;
	struct cordon_error ignored;
	struct node node;
	struct str real;

	if (world->resolve(world, e->opts->arena, named, &real, &node, &ignored) < 0 ||
	    verdict_of_path(e, POLICY_EXEC, real, ret, &ignored) < 0)
		return false;
	remedy_by_link(e, POLICY_EXEC, real, named, &ret->fix);
	remedy_of_shim(e, named, &ret->fix);
	return true;
}

static bool path_verdict(const struct explainer *e, const struct violation *v, struct verdict *ret)
{
	static const enum policy_op ops[VIOLATION_OP_COUNT] = {
		[VIOLATION_read] = POLICY_READ,
		[VIOLATION_write] = POLICY_WRITE,
	};
	struct cordon_error ignored;

	if (!path_is_normal(v->object))
		return false;
	if (v->op == VIOLATION_exec)
		return program_verdict(e, v->object, ret);
	if (verdict_of_path(e, ops[v->op], v->object, ret, &ignored) < 0)
		return false;
	/* Writing is allowed, but not making a file there (rule 11). */
	if (ret->allowed && v->op == VIOLATION_write && !ret->fix.why_not && !v->removes &&
	    !v->directory &&
	    verdict_of_path(e, POLICY_CREATE, v->object, ret, &ignored) < 0)
		return false;
	return true;
}

/* Does it go on with a file that is there? Whoever else wants the name to be free gains nothing
 * by one, as for a lock or a temporary file. */
static bool takes_existing(const struct violation *v)
{
	return v->opens || (v->opens_new && str_eq(str_of(v->program), STR("cp")));
}

static void advise_path(const struct explainer *e, const struct violation *v,
			struct violation_advice *ret)
{
	bool of_name = v->removes || v->moves;
	struct verdict verdict;

	if (!path_verdict(e, v, &verdict))
		return;
	take(e, &verdict, ret);
	if (!verdict.allowed && (v->directory || takes_existing(v)))
		remedy_narrow(e, v->object, v->directory, &ret->fix);
	if (of_name && !verdict.allowed)
		remedy_of_name(e, v->object, &ret->fix);
	if (v->op == VIOLATION_write && !verdict.allowed)
		git_hints_fix(e, v->object, &ret->fix);
	if (v->directory)
		remedy_makes_directory(e, v->object, &ret->fix);
	if (v->source == VIOLATION_BY_kernel)
		ret->fix = (struct fix){
			.why_not = "SIGSYS ended it: programs of another architecture (32-bit, "
				   "x32) do not run inside",
		};
	else if (!permitted(v->op, of_name ? path_parent(v->object) : v->object))
		ret->fix = (struct fix){
			.why_not = "ordinary permissions refuse it as well, so no flag would help",
		};
	else if (verdict.allowed && v->several)
		*ret = (struct violation_advice){
			.fix.why_not = "rules are on what is in it, which 'cordon explain --last' "
				       "lists",
		};
	else if (verdict.allowed && !verdict.fix.why_not)
		ret->fix = (struct fix){
			.why_not = "the rules on the path allow it; what was done to it is refused",
		};
}

/* What the list covers was refused by the relay. */
static void advise_listed(const struct explainer *e, const struct host *host,
			  const struct verdict *verdict, struct violation_advice *ret)
{
	if (host->kind == HOST_NAME) {
		*ret = (struct violation_advice){
			.fix.why_not = "the host is listed; what TLS asked for is not the name "
				       "that was connected to, or cannot be read",
		};
		return;
	}
	ret->rule = "a net does not stand for addresses of this machine, nor a wide one for "
		    "private ones";
	remedy_of_host(e, host, verdict->layer, &ret->fix);
}

/* Which host was meant nobody knows: of all of them none is listed. */
static void advise_network(const struct explainer *e, struct violation_advice *ret)
{
	struct cordon_error ignored;
	struct verdict verdict;
	struct host any;

	if (host_parse_target(STR("unknown.invalid:443"), &any, &ignored) < 0 ||
	    verdict_of_host(e, &any, &verdict, &ignored) < 0)
		return;
	take(e, &verdict, ret);
	ret->rule = arena_printf(e->opts->arena, "%s, and on this backend localhost, too",
				 verdict.by);
	if (ret->fix.flags)
		ret->fix.note = NULL;
}

static void advise_host(const struct explainer *e, const struct violation *v,
			struct violation_advice *ret)
{
	struct cordon_error ignored;
	struct verdict verdict;
	struct host host;

	if (str_eq(v->object, STR(REFUSED_NETWORK))) {
		advise_network(e, ret);
		return;
	}
	if (str_starts(v->object, STR("/"))) {
		ret->rule = VERDICT_SOCKETS;
		ret->fix = remedy_of_socket(e, v->object);
		return;
	}
	if (host_parse_target(v->object, &host, &ignored) < 0 ||
	    verdict_of_host(e, &host, &verdict, &ignored) < 0)
		return;
	take(e, &verdict, ret);
	if (verdict.allowed && v->source == VIOLATION_BY_relay)
		advise_listed(e, &host, &verdict, ret);
}

static void advise(void *data, const struct violation *v, struct violation_advice *ret)
{
	const struct explainer *e = data;

	switch (v->op) {
	case VIOLATION_read:
	case VIOLATION_write:
	case VIOLATION_exec:
		advise_path(e, v, ret);
		return;
	case VIOLATION_connect:
	case VIOLATION_resolve:
		advise_host(e, v, ret);
		return;
	case VIOLATION_call:
		ret->rule = v->reason;
		if (v->source != VIOLATION_BY_notify)
			ret->fix.why_not =
				"run a copy of it that you may read; --protect off looks at fewer "
				"calls and may let it";
		return;
	case VIOLATION_send:
		ret->fix.why_not =
			v->advisory ? "UDP does not leave the sandbox, only TCP does; a program "
				      "that then uses TCP, as with QUIC, lacks nothing"
				    : "UDP does not leave the sandbox, only TCP does; nothing but "
				      "--allow-network, for all of the network, opens it";
		return;
	case VIOLATION_bind:
	case VIOLATION_OP_COUNT:
		return;
	}
}

struct violation_advisor advisor_of(struct explainer *e)
{
	return (struct violation_advisor){ .advise = advise, .data = e };
}
