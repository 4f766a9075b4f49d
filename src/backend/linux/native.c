/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native backend in the parent: turns a plan into the steps of native.h. Everything
 * that allocates, formats or decides is here; the child only carries out.
 */
#include "backend/linux/native.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/handover.h"
#include "backend/linux/grants.h"
#include "backend/linux/idmap.h"
#include "backend/linux/listen.h"
#include "backend/linux/routes.h"
#include "backend/list.h"
#include "base/fd.h"
#include "base/path.h"

#define stage "native"
/* Numbers that the kernel gives to nobody once it has come to the end; and, as in
 * run/limits.c, how much above its limit a run may get before it is sampled. */
#define PIDS_RESERVED 300
#define PIDS_SLACK 32

static const struct {
	enum op_kind op;
	uint64_t flag;
	enum cap cap;
} namespaces[] = {
	{ OP_UNSHARE_USER, CLONE_NEWUSER, CAP_USERNS },
	{ OP_UNSHARE_MOUNT, CLONE_NEWNS, CAP_MOUNTNS },
	{ OP_UNSHARE_PID, CLONE_NEWPID, CAP_PIDNS },
	{ OP_UNSHARE_NET, CLONE_NEWNET, CAP_NETNS },
	{ OP_UNSHARE_IPC, CLONE_NEWIPC, CAP_IPCNS },
	{ OP_UNSHARE_UTS, CLONE_NEWUTS, CAP_UTSNS },
	{ OP_UNSHARE_CGROUP, CLONE_NEWCGROUP, CAP_CGROUPNS },
};
#define NAMESPACE_COUNT (sizeof(namespaces) / sizeof(namespaces[0]))

/* Operations that are enforced when the capability is there. */
static const struct {
	enum op_kind op;
	enum cap cap;
} dependent[] = {
	{ OP_PROC, CAP_PROC_FRESH },	   { OP_LANDLOCK, CAP_LANDLOCK },
	{ OP_SECCOMP, CAP_SECCOMP },	   { OP_NO_PTRACE, CAP_SECCOMP },
	{ OP_RESOLVER, CAP_NETNS },	   { OP_NO_KEYRING, CAP_SECCOMP },
	{ OP_NO_TTY_INPUT, CAP_SECCOMP },  { OP_NOEXEC, CAP_SECCOMP },
	{ OP_DIE_WITH_PARENT, CAP_PIDNS }, { OP_NET_HOST, CAP_RELAY },
	{ OP_NET_DENY, CAP_RELAY },	   { OP_PUBLISH, CAP_RELAY },
};

static bool is_brokered(const struct plan *plan)
{
	return policy_number(plan->policy, KEY_PROTECT) == PROTECT_EXACT;
}

/* What a mount on one spelling cannot hold. In a tree that is only read, Landlock grants each
 * spelling that is listed, by itself; it knows no connecting. Nobody executes on behalf: a
 * broker does not help there. */
static bool holds_twin(const struct plan *plan, const struct op *op, const struct caps *caps)
{
	bool hidden = op->kind == OP_HIDE_FILE || op->kind == OP_HIDE_DIR;

	if (op->kind == OP_NOEXEC || op->node.type == NODE_SOCKET)
		return false;
	if (is_brokered(plan) && listen_lacks(caps) == CAP_COUNT && !op->runs)
		return true;
	return hidden && caps->value[CAP_LANDLOCK] && !plan_is_in_writable(plan, op->path);
}

/* Those bound to a full path are covered by mounts. Others take somebody who looks at connects.
 * Sockets without a path belong to the network namespace; in the host's, Landlock keeps them
 * apart from ABI 6 on. */
static bool holds_sockets(const struct plan *plan, const struct caps *caps)
{
	return listen_judges_connects(plan, caps) &&
	       (caps->value[CAP_LANDLOCK] >= 6 ||
		(plan_find_op(plan, OP_UNSHARE_NET) && caps->value[CAP_NETNS]));
}

static bool native_enforces_op(const struct plan *plan, const struct op *op,
			       const struct caps *caps)
{
	if (op->kind == OP_REPORT)
		return listen_reports(op);
	if (op->kind == OP_EXACT || op->kind == OP_GUARD_HIDDEN || op->kind == OP_GUARD_GLOB ||
	    op->kind == OP_HIDE_GLOB)
		return is_brokered(plan);
	if (op->twin)
		return holds_twin(plan, op, caps);
	if (op->kind == OP_NET_HOST || op->kind == OP_NET_DENY || op->kind == OP_PUBLISH)
		return caps->value[CAP_NETNS];
	return op->kind != OP_COVER_SOCKETS || holds_sockets(plan, caps);
}

static void native_claims(const struct caps *caps, struct claims *ret)
{
	static const enum op_kind always[] = {
		OP_ROOT_EMPTY,	  OP_ROOT_HOST,	    OP_SYMLINK,	  OP_BIND_RO, OP_BIND_RW,
		OP_HIDE_FILE,	  OP_HIDE_DIR,	    OP_TMPFS,	  OP_DEV,     OP_SOCKET,
		OP_COVER_SOCKETS, OP_KEEP_METADATA, OP_EXEC,	  OP_LIMIT,   OP_SESSION,
		OP_DROP_CAPS,	  OP_NO_NEW_PRIVS,  OP_ENV_CLEAR, OP_ENV_SET, OP_CHDIR,
		OP_CACHE,	  OP_SHARED_TMP,
	};

	*ret = (struct claims){ .enforces_op = native_enforces_op };
	for (size_t i = 0; i < OP_KIND_COUNT; i++)
		ret->missing[i] = CAP_COUNT;
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		ret->enforces[always[i]] = true;
	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		ret->enforces[namespaces[i].op] = caps->value[namespaces[i].cap];
		ret->missing[namespaces[i].op] = namespaces[i].cap;
	}
	for (size_t i = 0; i < sizeof(dependent) / sizeof(dependent[0]); i++) {
		ret->enforces[dependent[i].op] = caps->value[dependent[i].cap];
		ret->missing[dependent[i].op] = dependent[i].cap;
	}
	listen_claims(caps, ret);
	listen_claims_exact(caps, ret);
}

static int native_available(const struct caps *caps, struct cordon_error *err)
{
	static const enum cap needed[] = { CAP_USERNS,	   CAP_MOUNTNS,	      CAP_OPENAT2,
					   CAP_OPEN_TREE,  CAP_MOUNT_SETATTR, CAP_CLONE3,
					   CAP_CLOSE_RANGE };

	return backend_needs("native", caps, needed, sizeof(needed) / sizeof(needed[0]), err);
}

struct preparation {
	struct arena *arena;
	const struct plan *plan;
	const struct caps *caps;
	struct native *native;
	struct cordon_error *err;
};

/* A namespace that is missing is lost, but what can be closed instead is. */
static void prepare_filters(struct preparation *p, struct launch *launch)
{
	struct native *n = p->native;
	enum seccomp_filter base = plan_find_op(p->plan, OP_NO_KEYRING)
					   ? SECCOMP_FILTER_base
					   : SECCOMP_FILTER_base_keyring;

	if (!plan_find_op(p->plan, OP_SECCOMP) || !p->caps->value[CAP_SECCOMP])
		return;
	native_add_filter(n, listen_beside(n, base, launch));
	if (!(launch->clone_flags & CLONE_NEWIPC))
		native_add_filter(n, SECCOMP_FILTER_noipc);
	if (!n->pid_namespace)
		native_add_filter(n, SECCOMP_FILTER_nopidns);
	if (plan_find_op(p->plan, OP_UNSHARE_NET) && !(launch->clone_flags & CLONE_NEWNET))
		native_add_filter(n, SECCOMP_FILTER_noinet);
	if (launch->broker_connects)
		native_add_filter(n, SECCOMP_FILTER_unixstreams);
	if (plan_find_op(p->plan, OP_NO_PTRACE))
		native_add_filter(n, SECCOMP_FILTER_noptrace);
	if (plan_find_op(p->plan, OP_NOEXEC))
		native_add_filter(n, SECCOMP_FILTER_noexecmem);
}

/* What real root keeps, in a user namespace that maps all ids: enough to work with
 * files of other users where the boundary lets it. */
#define ROOT_FILE_CAPS \
	((uint64_t)1 << CAP_CHOWN | (uint64_t)1 << CAP_DAC_OVERRIDE | (uint64_t)1 << CAP_FOWNER | \
	 (uint64_t)1 << CAP_FSETID)

static int prepare_ids(struct preparation *p, struct launch *launch)
{
	struct native *n = p->native;

	if (idmap_by_parent()) {
		n->keep_caps = launch->keep_caps = ROOT_FILE_CAPS;
		launch->parent = idmap_write;
		return 0;
	}
	n->uid_map = arena_printf(p->arena, "%u %u 1", geteuid(), geteuid());
	n->gid_map = arena_printf(p->arena, "%u %u 1", getegid(), getegid());
	return n->uid_map && n->gid_map ? 0 : err_nomem(p->err, stage);
}

static int prepare_ipc(struct preparation *p, const struct launch *launch)
{
	uint64_t memory = policy_number(p->plan->policy, KEY_MEMORY);

	if (!memory || !(launch->clone_flags & CLONE_NEWIPC))
		return 0;
	p->native->no_ipc = seccomp_program(SECCOMP_FILTER_noipc, SECCOMP_ARCH_NATIVE);
	p->native->shm_pages = arena_printf(p->arena, "%llu",
					    (unsigned long long)memory / (uint64_t)getpagesize());
	return p->native->shm_pages ? 0 : err_nomem(p->err, stage);
}

/* Since Linux 6.14 every pid namespace has a limit of its own; before, this is the host's.
 * The child looks whether it is another one before it writes. */
static bool has_own_pid_max(void)
{
	unsigned major, minor;
	struct utsname kernel;

	return uname(&kernel) == 0 && sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 14));
}

/* "" when it cannot be read, NULL: out of memory. */
static const char *read_pid_max(struct arena *a)
{
	char text[32] = "";
	autoclose int fd = open(NATIVE_PID_MAX, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	return arena_dup(a, (struct str){ text, n > 0 ? (size_t)n : 0 });
}

/* Behind the samples: root is not held to RLIMIT_NPROC. */
static int prepare_pids(struct preparation *p, const struct launch *launch)
{
	uint64_t procs = policy_number(p->plan->policy, KEY_PROCS);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t least = cpus > 0 ? (uint64_t)cpus * 8 : 0;

	if (!procs || !(launch->clone_flags & CLONE_NEWPID) || !has_own_pid_max())
		return 0;
	procs += PIDS_RESERVED + PIDS_SLACK;
	p->native->host_pid_max = read_pid_max(p->arena);
	p->native->pid_max = arena_printf(p->arena, "%llu",
					  (unsigned long long)(procs > least ? procs : least));
	return p->native->pid_max && p->native->host_pid_max ? 0 : err_nomem(p->err, stage);
}

static int prepare_status(struct preparation *p, struct launch *launch)
{
	int end, r = fd_pipe(&launch->status_fd, &end);

	if (r < 0)
		return err_set(p->err, CORDON_E_SYSTEM, -r, stage, "make a pipe");
	r = launch_add_fd(launch, end, p->err);
	if (r < 0)
		return r;
	p->native->status_fd = r;
	return 0;
}

/* A terminal in the sandbox's own devpts, when it has one. */
static int prepare_terminal(struct preparation *p, unsigned streams, struct launch *launch)
{
	struct native *n = p->native;
	int end, r;

	if (!streams || !plan_find_op(p->plan, OP_DEV))
		return 0;
	r = fd_pipe(&launch->stop_fd, &end);
	if (r < 0)
		return err_set(p->err, CORDON_E_SYSTEM, -r, stage, "make a pipe");
	n->stop_fd = launch_add_fd(launch, end, p->err);
	if (n->stop_fd < 0)
		return n->stop_fd;
	n->handover_fd = launch_add_handover(launch, p->err);
	n->terminal = streams;
	launch->hands_over |= HANDOVER_BIT(TERMINAL);
	return n->handover_fd < 0 ? n->handover_fd : 0;
}

static void prepare_launch(struct preparation *p, const struct launch_input *in,
			   struct launch *launch)
{
	const struct op *chdir = plan_find_op(p->plan, OP_CHDIR);

	for (size_t i = 0; i < NAMESPACE_COUNT; i++)
		if (plan_find_op(p->plan, namespaces[i].op) && p->caps->value[namespaces[i].cap])
			launch->clone_flags |= namespaces[i].flag;
	launch->own_users = launch->clone_flags & CLONE_NEWUSER;
	p->native->pid_namespace = launch->clone_flags & CLONE_NEWPID;
	p->native->loopback = launch->clone_flags & CLONE_NEWNET;
	p->native->own_dev = plan_find_op(p->plan, OP_DEV);
	p->native->new_keyring = plan_find_op(p->plan, OP_NO_KEYRING);
	launch->program = in->program;
	launch->argv = in->argv;
	launch->envp = launch_environ(p->arena, p->plan, true);
	launch->cwd = chdir ? chdir->path.p : NULL;
	launch->new_session = plan_find_op(p->plan, OP_SESSION);
	launch->wrappers = p->native->pid_namespace;
	launch->child = native_child;
	launch->child_data = p->native;
	launch->command = &p->native->command;
	launch->ahead = in->ahead;
}

static int prepare_resolver(struct preparation *p, struct launch *launch)
{
	int inside;

	if (!plan_find_op(p->plan, OP_RESOLVER) || !p->native->loopback)
		return 0;
	inside = launch_add_handover(launch, p->err);
	if (inside < 0)
		return inside;
	p->native->handover_fd = inside;
	p->native->resolver = true;
	launch->hands_over |= HANDOVER_BIT(DNS_UDP) | HANDOVER_BIT(DNS_TCP);
	return 0;
}

/* Where a server takes several spellings for one name the kernel does not, and a mount covers
 * the one it was put on: only the broker knows the others. */
static bool hides_folded(const struct plan *plan)
{
	vec_each(op, &plan->ops) {
		if (op->kind != OP_HIDE_FILE && op->kind != OP_HIDE_DIR)
			continue;
		vec_each(dir, &plan->policy->folding)
			if (path_below(op->path, *dir))
				return true;
	}
	return false;
}

static int prepare_listener(struct preparation *p, const struct launch_input *in,
			    struct launch *launch)
{
	int r;

	launch->broker_hides = hides_folded(p->plan);
	r = listen_prepare(in, p->native, launch, p->err);
	if (r < 0 || !listen_is_exact(p->plan))
		return r;
	p->native->brokered = launch->brokered = true;
	launch->broker_connects = launch->clone_flags & CLONE_NEWNET;
	launch->hands_over |= HANDOVER_BIT(USER_NS) | HANDOVER_BIT(MOUNT_NS);
	return 0;
}

/* Of what is beside the workdir in a private directory the supervisor is to tell. */
static int prepare_private(struct preparation *p, struct launch *launch)
{
	const struct op *chdir = plan_find_op(p->plan, OP_CHDIR);
	struct str above = chdir ? plan_private_above(p->plan, chdir->path) : (struct str){ 0 };

	if (!above.n)
		return 0;
	p->native->private = arena_dup(p->arena, above);
	if (!p->native->private)
		return err_nomem(p->err, stage);
	p->native->handover_fd = launch_add_handover(launch, p->err);
	launch->hands_over |= HANDOVER_BIT(PRIVATE);
	return p->native->handover_fd < 0 ? p->native->handover_fd : 0;
}

/* What stands for names, and the addresses that are listed themselves. */
static int prepare_egress(struct preparation *p, struct launch *launch)
{
	bool lists = plan_find_op(p->plan, OP_NET_HOST);
	int r = 0;

	p->native->publishes = plan_find_op(p->plan, OP_PUBLISH);
	p->native->sockets = (lists || p->native->publishes) && p->native->loopback &&
			     p->caps->value[CAP_RELAY];
	if (!p->native->sockets)
		return 0;
	if (lists)
		r = routes_collect(p->arena, p->plan->policy, p->native, p->err);
	if (r < 0)
		return r;
	r = launch_add_handover(launch, p->err);
	if (r < 0)
		return r;
	p->native->handover_fd = r;
	launch->hands_over |= HANDOVER_BIT(SOCKETS);
	return 0;
}

static int native_prepare(struct arena *a, const struct launch_input *in, struct launch *ret,
			  struct cordon_error *err)
{
	struct preparation p = {
		.arena = a,
		.plan = in->plan,
		.caps = in->caps,
		.err = err,
		.native = arena_new(a, struct native),
	};
	struct grants_options grants = { .abi = in->caps->value[CAP_LANDLOCK] };
	int r;

	launch_init(ret);
	if (!p.native)
		return err_nomem(err, stage);
	prepare_launch(&p, in, ret);
	if (!ret->envp)
		return err_nomem(err, stage);
	r = native_prepare_mounts(a, in->plan, in->caps, p.native, err);
	if (r == 0)
		r = prepare_ids(&p, ret);
	if (r == 0)
		r = grants_collect(a, in->plan, &grants, &p.native->landlock, err);
	if (r == 0)
		r = native_landlock_share(&p.native->landlock, ret, err);
	if (r == 0)
		r = prepare_ipc(&p, ret);
	if (r == 0)
		r = prepare_pids(&p, ret);
	if (r == 0)
		r = prepare_status(&p, ret);
	if (r == 0)
		r = prepare_listener(&p, in, ret);
	prepare_filters(&p, ret);
	if (r == 0)
		r = prepare_resolver(&p, ret);
	if (r == 0)
		r = prepare_egress(&p, ret);
	if (r == 0)
		r = prepare_private(&p, ret);
	if (r == 0)
		r = prepare_terminal(&p, in->terminal, ret);
	if (r < 0)
		launch_close(ret);
	return r;
}

static int native_confirm(struct launch *launch, int *ret_status, struct cordon_error *err)
{
	const struct native *n = launch->child_data;
	int status, left;

	if (!n->pid_namespace)
		return 0;
	if (read(launch->status_fd, &status, sizeof(status)) == (ssize_t)sizeof(status)) {
		*ret_status = status;
		if (read(launch->status_fd, &left, sizeof(left)) == (ssize_t)sizeof(left) &&
		    left > 0)
			launch->survivors = (size_t)left;
		return 0;
	}
	return err_set(err, CORDON_E_INIT, 0, stage, "init ended before the command did");
}

const struct backend native_backend = {
	.name = "native",
	.summary = "namespaces, mounts, Landlock and seccomp",
	.claims = native_claims,
	.available = native_available,
	.prepare = native_prepare,
	.confirm = native_confirm,
};
