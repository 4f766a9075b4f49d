/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The landlock backend: no namespaces and no mounts, so it works in containers, on
 * hardened machines and inside cordon itself. Landlock carries the file rules, seccomp
 * closes what Landlock does not know (datagrams, unix sockets, other protocols, other
 * kernel interfaces).
 *
 * Landlock only ever grants, and a grant covers everything below. So a rule that takes
 * something away inside a writable tree is claimed only with a broker (protect = exact), as
 * is what Landlock has no hook for (metadata); what needs a view of its own (processes) is
 * not claimed at all. Where the plan has a private directory the host's is closed instead,
 * and TMPDIR names one made for the run.
 *
 * The broker is in the domain of these rules itself; the command has a second one on top, in
 * which it changes nothing, so that a call nobody thought of fails.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/grants.h"
#include "backend/linux/listen.h"
#include "backend/linux/native.h"
#include "backend/list.h"
#include "backend/unmounted.h"
#include "base/path.h"
#include "base/linux_compat.h"

#define stage "landlock"
/* Before it, truncate(2) is not checked: files that are only readable could be emptied. */
#define ABI_TRUNCATE 3
#define ABI_NETWORK 4
#define ABI_SCOPES 6

/* What keeps a broker from being there; CAP_COUNT: nothing. */
static enum cap lacks_for_broker(const struct caps *caps)
{
	if (caps->value[CAP_LANDLOCK] < ABI_TRUNCATE)
		return CAP_LANDLOCK;
	if (!caps->value[CAP_LOOK])
		return CAP_LOOK;
	return caps->value[CAP_OPENAT2] ? listen_lacks(caps) : CAP_OPENAT2;
}

/* A name in a directory that is shared stands for another one in the policy, which the broker
 * would not know. */
static bool is_brokered(const struct plan *plan, const struct caps *caps)
{
	return plan_find_op(plan, OP_EXACT) && !plan_find_op(plan, OP_SHARED_TMP) &&
	       lacks_for_broker(caps) == CAP_COUNT;
}

/* Sockets without a path are Landlock's to tell apart. */
static bool connects_by_broker(const struct plan *plan, const struct caps *caps)
{
	return plan_find_op(plan, OP_SOCKET) && is_brokered(plan, caps) &&
	       caps->value[CAP_SECCOMP] && caps->value[CAP_LANDLOCK] >= ABI_SCOPES;
}

static bool needs_broker(enum op_kind kind)
{
	return kind == OP_EXACT || kind == OP_GUARD_HIDDEN || kind == OP_GUARD_GLOB ||
	       kind == OP_HIDE_GLOB || kind == OP_KEEP_METADATA;
}

static bool needs_view(enum op_kind kind)
{
	return kind == OP_HIDE_FILE || kind == OP_HIDE_DIR || kind == OP_TMPFS ||
	       kind == OP_SHARED_TMP || kind == OP_DEV;
}

static bool landlock_enforces_op(const struct plan *plan, const struct op *op,
				 const struct caps *caps)
{
	if (needs_broker(op->kind))
		return is_brokered(plan, caps);
	/* Without a broker one socket cannot be told from another: where one is named all are
	 * open. */
	if (op->kind == OP_COVER_SOCKETS || op->kind == OP_KNOW_SOCKETS ||
	    (op->kind == OP_HIDE_FILE && op->node.type == NODE_SOCKET))
		return !plan_find_op(plan, OP_SOCKET) || connects_by_broker(plan, caps);
	if (op->kind == OP_CACHE)
		return unmounted_cache(plan, op);
	/* The directory that TMPDIR names lies on the host's disk; one that runs share is
	 * counted when a run starts, as elsewhere. */
	if (op->kind == OP_LIMIT)
		return !str_eq(op->path, STR("tmp_size")) ||
		       plan_find_op(plan, OP_SHARED_TMP);
	/* Where no socket can be made nobody gets as far as naming a host. */
	if (op->kind == OP_REPORT)
		return listen_reports(op) && !plan_find_op(plan, OP_UNSHARE_NET);
	if (op->kind == OP_BIND_RO || needs_view(op->kind))
		return !plan_is_in_writable(plan, op->path) || is_brokered(plan, caps);
	return true;
}

static void claim(struct claims *ret, const enum op_kind *kinds, size_t n, bool holds, enum cap cap)
{
	for (size_t i = 0; i < n; i++) {
		ret->enforces[kinds[i]] = holds;
		ret->missing[kinds[i]] = cap;
	}
}
#define CLAIM(ret, kinds, holds, cap) \
	claim(ret, kinds, sizeof(kinds) / sizeof(kinds[0]), holds, cap)

static void landlock_claims(const struct caps *caps, struct claims *ret)
{
	/* A host name and a cgroup of one's own serve a promise that dropping every
	 * capability keeps as well; so does the mount namespace, by Landlock. */
	static const enum op_kind always[] = {
		OP_UNSHARE_MOUNT, OP_UNSHARE_UTS, OP_UNSHARE_CGROUP, OP_SYMLINK, OP_BIND_RO,
		OP_BIND_RW,	  OP_HIDE_FILE,	  OP_HIDE_DIR,	     OP_TMPFS,	 OP_DEV,
		OP_SOCKET,	  OP_EXEC,	  OP_LIMIT,	     OP_SESSION, OP_DROP_CAPS,
		OP_NO_NEW_PRIVS,  OP_LANDLOCK,	  OP_ENV_CLEAR,	     OP_ENV_SET, OP_CHDIR,
		OP_CACHE,	  OP_SHARED_TMP,
	};
	static const enum op_kind roots[] = { OP_ROOT_EMPTY, OP_ROOT_HOST };
	/* No user namespace can be made inside, no socket of the kinds in question, no
	 * shared memory or queue. */
	static const enum op_kind by_filter[] = {
		OP_UNSHARE_USER, OP_UNSHARE_NET, OP_UNSHARE_IPC, OP_KNOW_SOCKETS, OP_COVER_SOCKETS,
		OP_NO_TTY_INPUT, OP_SECCOMP,	 OP_NO_PTRACE,	 OP_NO_KEYRING,
	};

	static const enum op_kind by_broker[] = { OP_KEEP_METADATA, OP_EXACT };

	*ret = (struct claims){ .enforces_op = landlock_enforces_op };
	for (size_t i = 0; i < OP_KIND_COUNT; i++)
		ret->missing[i] = CAP_COUNT;
	CLAIM(ret, always, true, CAP_COUNT);
	CLAIM(ret, roots, caps->value[CAP_LANDLOCK] >= ABI_TRUNCATE, CAP_LANDLOCK);
	CLAIM(ret, by_filter, caps->value[CAP_SECCOMP], CAP_SECCOMP);
	listen_claims(caps, ret);
	listen_claims_exact(caps, ret);
	CLAIM(ret, by_broker, lacks_for_broker(caps) == CAP_COUNT, lacks_for_broker(caps));
}

static int landlock_available(const struct caps *caps, struct cordon_error *err)
{
	static const enum cap needed[] = { CAP_LANDLOCK, CAP_CLOSE_RANGE };

	return backend_needs("landlock", caps, needed, sizeof(needed) / sizeof(needed[0]), err);
}

static void prepare_filters(struct native *n, const struct launch_input *in, struct launch *launch)
{
	const struct plan *plan = in->plan;

	if (!in->caps->value[CAP_SECCOMP])
		return;
	native_add_filter(n, listen_beside(n, SECCOMP_FILTER_base_hostns, launch));
	if (plan_find_op(plan, OP_UNSHARE_NET))
		native_add_filter(n, launch->hears_sockets ? SECCOMP_FILTER_noinet_heard
							   : SECCOMP_FILTER_noinet);
	if (!plan_find_op(plan, OP_SOCKET))
		native_add_filter(n, SECCOMP_FILTER_nounix);
	else if (launch->broker_connects)
		native_add_filter(n, SECCOMP_FILTER_unixstreams);
	if (plan_find_op(plan, OP_NO_PTRACE))
		native_add_filter(n, SECCOMP_FILTER_noptrace);
	if (plan_find_op(plan, OP_NOEXEC))
		native_add_filter(n, SECCOMP_FILTER_noexecmem);
}

/* Without the capability the secure bits and the bounding set stay as they are, which
 * no_new_privs makes harmless; with it nothing may stay. */
static int prepare_lock_down(struct native *n, struct cordon_error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, stage, "read the own capabilities");
	n->no_setpcap = !(data[0].effective & 1u << CAP_SETPCAP);
	return 0;
}

static int prepare_landlock(struct arena *a, const struct launch_input *in, const char *scratch,
			    struct native *n, struct cordon_error *err)
{
	struct grants_options options = {
		.abi = in->caps->value[CAP_LANDLOCK],
		.alone = true,
		.program = in->program,
		.scratch = scratch,
	};
	int r = grants_collect(a, in->plan, &options, &n->landlock, err);

	if (r == 0 && options.abi >= ABI_NETWORK && plan_find_op(in->plan, OP_UNSHARE_NET))
		n->landlock.handled_net = LANDLOCK_ACCESS_NET_BIND_TCP |
					  LANDLOCK_ACCESS_NET_CONNECT_TCP;
	return r;
}

/* Is something hidden that Landlock shows, because it is in a writable tree? */
static bool hides_inside(const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (needs_view(op->kind) && plan_is_in_writable(plan, op->path))
			return true;
	return false;
}

static int prepare_broker(struct arena *a, const struct launch_input *in, struct native *n,
			  struct launch *launch, struct cordon_error *err)
{
	struct grants_options options = {
		.abi = in->caps->value[CAP_LANDLOCK],
		.alone = true,
		.inner = true,
		.hides = hides_inside(in->plan),
		.program = in->program,
		.scratch = unmounted_tmp(in->plan, launch),
	};

	int r = native_prepare_companion(a, n, launch, err);

	launch->broker_hides = options.hides;
	launch->broker_connects = connects_by_broker(in->plan, in->caps);
	return r < 0 ? r : grants_collect(a, in->plan, &options, &n->inner, err);
}

static int landlock_prepare(struct arena *a, const struct launch_input *in, struct launch *ret,
			    struct cordon_error *err)
{
	struct native *n = arena_new(a, struct native);
	const struct op *chdir = plan_find_op(in->plan, OP_CHDIR);
	int r;

	launch_init(ret);
	if (!n)
		return err_nomem(err, stage);
	n->new_keyring = plan_find_op(in->plan, OP_NO_KEYRING);
	n->terminal = in->terminal;
	r = prepare_lock_down(n, err);
	if (r == 0)
		r = unmounted_scratch(a, in->plan, ret, err);
	if (r == 0)
		r = prepare_landlock(a, in, unmounted_tmp(in->plan, ret), n, err);
	if (r == 0 && listen_is_exact(in->plan))
		r = prepare_broker(a, in, n, ret, err);
	if (r == 0)
		r = listen_prepare(in, n, ret, err);
	if (r == 0 && plan_find_op(in->plan, OP_UNSHARE_NET))
		r = listen_for_sockets(a, n, ret, err);
	prepare_filters(n, in, ret);
	ret->program = in->program;
	ret->argv = in->argv;
	ret->cwd = chdir ? chdir->path.p : NULL;
	ret->new_session = plan_find_op(in->plan, OP_SESSION);
	ret->child = native_child_alone;
	ret->child_data = n;
	ret->command = &n->command;
	if (r == 0)
		ret->envp = unmounted_environ(a, in->plan, unmounted_tmp(in->plan, ret));
	if (r == 0 && !ret->envp)
		r = err_nomem(err, stage);
	if (r < 0)
		launch_close(ret);
	return r;
}

const struct backend landlock_backend = {
	.name = "landlock",
	.summary = "Landlock and seccomp, without namespaces",
	.claims = landlock_claims,
	.available = landlock_available,
	.prepare = landlock_prepare,
};
