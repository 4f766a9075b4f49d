/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan to a result. */
#include "run/execute.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cgroup.h"
#include "backend/list.h"
#include "base/fd.h"
#include "base/headcount.h"
#include "base/path.h"
#include "base/scratch.h"
#include "run/inlet.h"
#include "run/keep.h"
#include "run/outlet.h"
#include "run/program.h"
#include "run/supervise.h"
#include "run/terminal.h"

#define stage "execute"

static uint64_t plan_limit(const struct plan *plan, const char *name)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_LIMIT && str_eq(op->path, str_of(name)))
			return op->number;
	return 0;
}

static struct run_limits limits_of(const struct plan *plan)
{
	return (struct run_limits){
		.timeout_ms = plan_limit(plan, "timeout"),
		.cpu_ms = plan_limit(plan, "cpu"),
		.memory = plan_limit(plan, "memory"),
		.procs = plan_limit(plan, "procs"),
		.files = plan_limit(plan, "files"),
		.output = plan_limit(plan, "output"),
		.file_size = plan_limit(plan, "file_size"),
	};
}

bool execute_output_asked(const struct policy *policy)
{
	return policy_number(policy, KEY_OUTPUT) &&
	       policy->effective[KEY_OUTPUT].origin.source != SOURCE_PROFILE;
}

bool execute_confines(const struct plan *plan)
{
	return plan->policy->confined && strcmp(plan->backend, passthrough_backend.name) != 0;
}

/* A directory as a standard stream would lead around every mount: openat on it starts in
 * the host's tree. So would some sockets around the network. */
static int check_stream(const struct plan *plan, int fd, struct cordon_error *err)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		err_set(err, CORDON_E_BLOCKED, 0, stage,
			"standard stream %d is a directory, which leads outside", fd);
		return err_hint(err, "redirect it: </dev/null");
	}
	if (fd_can_be_turned(fd, policy_net_mode(plan->policy) == NET_ON)) {
		err_set(err, CORDON_E_BLOCKED, 0, stage,
			"standard stream %d is a socket of the host's that the command could "
			"connect or send to elsewhere", fd);
		return err_hint(err, fd == STDIN_FILENO ? "pipe it: cat | cordon run ..."
							: "pipe it: cordon run ... | cat");
	}
	return 0;
}

bool execute_replaces(int fd, const struct execute_options *options)
{
	return fd == STDIN_FILENO ? options->stdin_null : options->capture;
}

static int check_streams(const struct plan *plan, const struct execute_options *options,
			 struct cordon_error *err)
{
	int r = 0;

	if (!execute_confines(plan))
		return 0;
	if (!options->stdin_null && plan_find_op(plan, OP_NOEXEC) && outlet_is_file(STDIN_FILENO)) {
		err_set(err, CORDON_E_BLOCKED, 0, stage,
			"standard input is a file that can be written, and executing is limited: "
			"what is written there could be executed");
		return err_hint(err, "open it for reading only: <FILE");
	}
	for (int fd = STDIN_FILENO; r == 0 && fd <= STDERR_FILENO; fd++)
		if (!execute_replaces(fd, options))
			r = check_stream(plan, fd, err);
	return r;
}

/* The child has its own: whoever waits for the end of a pipe or a terminal must not wait
 * for ours. */
static void close_child_ends(struct launch *launch)
{
	for (size_t i = 0; i < launch->n_fds; i++)
		close(launch->fds[i].from);
	launch->n_fds = 0;
}

/* The caller's pipes that the command gets; whoever is at their other ends is to hear when it
 * has done with them. */
static unsigned piped_streams(const struct execute_options *options)
{
	unsigned streams = 0;

	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
		if (!execute_replaces(fd, options) && fd_is_pipe(fd))
			streams |= 1u << fd;
	return streams;
}

/* Of these, the ones that nobody else of ours keeps. */
static unsigned let_go_of(const struct launch *launch, const struct execute_options *options)
{
	unsigned streams = options->lets_go ? piped_streams(options) : 0;

	for (int fd = STDIN_FILENO; launch->keeps_streams && fd <= STDOUT_FILENO; fd++)
		if (!launch->moved_streams[fd])
			streams &= ~(1u << fd);
	return streams;
}

static struct spawn_fd *mapping(struct spawn_fd *fds, size_t n, int to)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i].to == to)
			return &fds[i];
	return NULL;
}

/* To where the backend wants them (backend.h). */
static void move_streams(const struct launch *launch, struct spawn_fd *fds, size_t *n)
{
	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) {
		struct spawn_fd *place = launch->moved_streams[fd]
						 ? mapping(fds, *n, launch->moved_streams[fd])
						 : NULL;
		struct spawn_fd *stream = mapping(fds, *n, fd);
		int null;

		if (!place)
			continue;
		null = place->from;
		place->from = stream ? stream->from : fd;
		if (!stream)
			stream = &fds[(*n)++];
		*stream = (struct spawn_fd){ .from = null, .to = fd };
	}
}

/* spawn with the backend's program and descriptors in place of the command's. */
static int start(void *data, struct run *run, const struct spawn_request *request,
		 struct spawned *ret, struct cordon_error *err)
{
	struct launch *launch = data;
	struct spawn_request own = *request;
	struct spawn_fd fds[SPAWN_FDS_MAX];
	sigset_t all, ended;
	int r;

	(void)run;
	if (request->n_fds + launch->n_fds + 2 > SPAWN_FDS_MAX)
		return err_set(err, CORDON_E_LIMIT, 0, stage, "too many descriptors to hand over");
	memcpy(fds, request->fds, request->n_fds * sizeof(fds[0]));
	memcpy(fds + request->n_fds, launch->fds, launch->n_fds * sizeof(fds[0]));
	own.fds = fds;
	own.n_fds = request->n_fds + launch->n_fds;
	move_streams(launch, fds, &own.n_fds);
	if (launch->child) {
		*launch->command = *request;
		own.clone_flags = launch->clone_flags;
		own.ahead = launch->ahead;
		own.child = launch->child;
		own.child_data = launch->child_data;
		own.parent = launch->parent;
		own.parent_data = launch->parent_data;
		/* A signal waits for the command, or would break off what is handed over. */
		sigfillset(&all);
		own.mask = &all;
	}
	/* Who stands above the command waits for it, whatever the caller ignores. */
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	if (launch->wrappers) {
		own.ignored = NULL;
		own.defaulted = &ended;
	}
	r = spawn_start(&own, ret, err);
	if (r == 0)
		close_child_ends(launch);
	if (r == 0 && launch->meanwhile) {
		r = launch->meanwhile(launch, err);
		if (r < 0)
			spawn_discard(ret);
	}
	if (r < 0 && launch->clone_flags && (err->sys_errno == EPERM || err->sys_errno == ENOSPC))
		err_hint(err, "new namespaces are refused here, as in a chroot or by a setting; "
			      "'cordon doctor' shows what is allowed");
	return r;
}

static void refuse(struct run_result *ret, const struct cordon_error *err)
{
	*ret = (struct run_result){
		.cause = err->code == CORDON_E_BLOCKED ? RUN_CAUSE_policy : RUN_CAUSE_setup,
		.exit_code = -1,
		.error = *err,
	};
}

/* It was not read any more, because the run was over. */
static int pending_end(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t pending;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && sigpending(&pending) == 0; i++)
		if (sigismember(&pending, ends[i]) == 1)
			return ends[i];
	return 0;
}

static int confirm(const struct backend *backend, struct launch *launch,
		   const struct run_limits *limits, struct run_result *ret)
{
	struct cordon_error why;
	int status = -1;

	if (!backend->confirm || ret->cause == RUN_CAUSE_setup || ret->left)
		return 0;
	if (backend->confirm(launch, &status, &why) == 0) {
		ret->survivors += launch->survivors;
		if (status >= 0 && WIFSIGNALED(status)) {
			if (ret->cause == RUN_CAUSE_exited)
				ret->cause = run_cause_of_signal(limits, WTERMSIG(status));
			ret->exit_code = -1;
			ret->signal = WTERMSIG(status);
		}
		return 0;
	}
	/* What was ended from outside need not have reported. */
	if (ret->cause != RUN_CAUSE_exited)
		return 0;
	ret->exit_code = -1;
	if (!ret->told_to_end)
		ret->told_to_end = pending_end();
	/* The signal met the one who was to become the command. */
	if (ret->told_to_end) {
		ret->cause = RUN_CAUSE_signal;
		ret->signal = ret->told_to_end;
		return 0;
	}
	ret->cause = RUN_CAUSE_setup;
	ret->error = why;
	return 0;
}

/* The file systems in memory that the plan makes, for the meter. */
static const char *const *memory_places(struct arena *a, const struct plan *plan)
{
	VEC(const char *) places = { 0 };
	const char **end;

	vec_each(op, &plan->ops)
		if (op->kind == OP_TMPFS || op->kind == OP_DEV) {
			const char **place = vec_push(&places, a);

			if (place)
				*place = op->path.p;
		}
	end = vec_push(&places, a);
	if (!end)
		return NULL;
	*end = NULL;
	return places.at;
}

struct parts {
	struct run_part *at[RUN_PARTS_MAX];
	size_t n;
};

static int make_parts(struct arena *a, const struct part_input *in, struct parts *ret,
		      struct cordon_error *err)
{
	for (part_maker_fn *const *make = part_makers; *make; make++) {
		struct run_part *part = NULL;
		int r = (*make)(a, in, &part, err);

		if (r < 0)
			return r;
		if (part)
			ret->at[ret->n++] = part;
	}
	if (in->options->part)
		ret->at[ret->n++] = in->options->part;
	return 0;
}

/* Where the control group of the run may be made; NULL: none is of use. */
static const char *group_for(struct arena *a, const struct caps *caps,
			     const struct run_limits *limits)
{
	bool useful = limits->cpu_ms || limits->memory || limits->procs;

	return useful && caps->value[CAP_CGROUP2] ? cgroup_find(a) : NULL;
}

static int run_launch(struct arena *a, const struct backend *backend, struct launch *launch,
		      const struct plan *plan, const struct caps *caps,
		      const struct execute_options *options, const struct parts *parts,
		      const sigset_t *mask, struct run_result *ret, struct cordon_error *err)
{
	struct run_request request = {
		.program = launch->program,
		.argv = launch->argv,
		.envp = launch->envp,
		.cwd = launch->cwd,
		.start = start,
		.start_data = launch,
		.mask = mask,
		.wrappers = launch->wrappers,
		.encloses = launch->wrappers,
		.new_session = launch->new_session,
		.capture = options->capture,
		.sink = options->sink,
		.stdin_null = options->stdin_null,
		.lets_go = let_go_of(launch, options),
		.began_fd = launch->began_fd < 0 ? 0 : launch->began_fd,
		.limits = limits_of(plan),
		.violations = options->violations,
		.end_at_violation = options->end_at_violation,
		.parts = parts->at,
		.n_parts = parts->n,
		.handover_fd = launch->handover_fd < 0 ? 0 : steal_fd(&launch->handover_fd),
	};
	int r;

	request.cgroup = group_for(a, caps, &request.limits);
	request.limits.procs_alone = launch->own_users;
	if (request.limits.procs && !launch->own_users)
		request.limits.procs_beside = headcount();
	if (request.limits.memory) {
		request.places = memory_places(a, plan);
		if (!request.places)
			return err_nomem(err, stage);
	}
	if (!options->capture && !execute_output_asked(plan->policy))
		request.limits.output = 0;
	/* One that nobody will use would be counted as a process of the run. */
	if (!launch->ahead)
		spawn_ahead_dismiss(options->ahead);
	request.limits.files_soft = fd_allow(UINT64_MAX);
	r = run_supervise(&request, ret, err);
	fd_allow(request.limits.files_soft);
	if (r == 0)
		r = confirm(backend, launch, &request.limits, ret);
	return r;
}

/* The filter ends a program of another architecture by this signal; everything else it
 * refuses with an error. */
static void note_bad_call(const struct plan *plan, const char *program,
			  struct violations *violations, const struct run_result *result)
{
	struct violation v = { .op = VIOLATION_exec,
			       .source = VIOLATION_BY_kernel,
			       .object = str_of(program) };

	if (result->signal == SIGSYS && plan->enforced[GUARANTEE_SURFACE])
		violations_add(violations, &v);
}

/* Setuid bits and capabilities of files have no effect inside, also for root. */
static void note_powerless(const struct plan *plan, const char *program, struct run_result *result)
{
	struct stat st;
	bool gains;

	if (result->exit_code <= 0 || !plan->enforced[GUARANTEE_PRIVILEGES] ||
	    stat(program, &st) < 0)
		return;
	gains = st.st_mode & S_ISUID && (st.st_uid != geteuid() || geteuid() == 0);
	if (gains || fd_has_file_caps(program))
		result->powerless = program;
}

/* Before the launch is closed, because the user is to know what stays behind. */
static void remove_scratch(struct launch *launch, struct run_result *ret)
{
	if (launch->scratch && scratch_remove(launch->scratch) < 0)
		ret->debris = launch->scratch;
	launch->scratch = NULL;
}

/* What is made for a run is removed whenever a signal comes: it waits for the run, or for the
 * end of this. */
static void hold_signals(sigset_t *ret_before)
{
	sigset_t held;

	run_signal_set(&held);
	sigdelset(&held, SIGCHLD);
	sigdelset(&held, SIGPIPE);
	sigprocmask(SIG_BLOCK, &held, ret_before);
}

int execute(struct arena *a, const struct situation *s, const struct backend *backend,
	    const struct plan *plan, const struct caps *caps, const struct execute_options *options,
	    struct run_result *ret, struct cordon_error *err)
{
	struct launch_input in = { .plan = plan,
				   .caps = caps,
				   .argv = options->argv,
				   .ahead = options->ahead,
				   .strictly = options->strictly };
	autoclose int caches = -1, tmp = -1;
	struct parts parts = { .n = 0 };
	struct cordon_error why;
	struct launch launch;
	struct egress *egress = NULL;
	struct unrouted *unrouted = NULL;
	struct part_input about = { .situation = s,
				    .plan = plan,
				    .caps = caps,
				    .launch = &launch,
				    .options = options,
				    .egress = &egress,
				    .unrouted = &unrouted };
	sigset_t before;
	int r;

	launch_init(&launch);
	in.terminal = terminal_streams(plan, options);
	in.piped = piped_streams(options);
	r = check_streams(plan, options, &why);
	if (r == 0)
		r = keep_hold(s->policy, &caches, &why);
	if (r == 0)
		r = keep_hold_tmp(a, s->policy, &tmp, &why);
	if (r == 0)
		r = program_find(s, a, plan, options, &in.program, &why);
	hold_signals(&before);
	if (r == 0)
		r = backend->prepare(a, &in, &launch, &why);
	if (r == 0)
		r = inlet_check(plan, &launch, options, &why);
	if (r == 0)
		r = make_parts(a, &about, &parts, &why);
	if (r < 0) {
		launch_close(&launch);
		sigprocmask(SIG_SETMASK, &before, NULL);
		refuse(ret, &why);
		return 0;
	}
	r = run_launch(a, backend, &launch, plan, caps, options, &parts, &before, ret, err);
	if (r == 0) {
		remove_scratch(&launch, ret);
		note_bad_call(plan, in.program, options->violations, ret);
		note_powerless(plan, in.program, ret);
	}
	launch_close(&launch);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
