/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bubblewrap backend: options from the plan, and a launch around them. Whether the
 * command really started is read from bubblewrap's status descriptor afterwards.
 */
#include "backend/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backend/linux/wrapper.h"
#include "backend/list.h"
#include "base/fd.h"

#define stage "bwrap"
/* The kernel takes no larger environment, and options are far fewer. */
#define OPTIONS_BYTES_MAX ((size_t)64 << 20)
/* What bubblewrap writes about one run is far below this. */
#define STATUS_BYTES_MAX 4096
/* Beside options and command: argv[0], two options with their values, "--", the step's, NULL. */
#define STEP_WORDS 6
#define OWN_WORDS (7 + STEP_WORDS)
/* The placeholder of a descriptor's number in an option. */
#define FD_SLOT "FD"

struct writer {
	struct arena *arena;
	struct bwrap_args *args;
	bool failed;
};

static void add(struct writer *w, const char *option)
{
	const char **slot = option ? vec_push(&w->args->options, w->arena) : NULL;

	if (slot)
		*slot = option;
	else
		w->failed = true;
}

static void add2(struct writer *w, const char *option, struct str value)
{
	add(w, option);
	add(w, arena_dup(w->arena, value));
}

static void add3(struct writer *w, const char *option, struct str first, struct str second)
{
	add2(w, option, first);
	add(w, arena_dup(w->arena, second));
}

static void add_empty_file(struct writer *w, struct str path)
{
	size_t *slot;

	add(w, "--perms");
	add(w, "0000");
	add(w, "--ro-bind-data");
	slot = vec_push(&w->args->empty_file_slots, w->arena);
	if (slot)
		*slot = w->args->options.n;
	else
		w->failed = true;
	add(w, FD_SLOT);
	add(w, arena_dup(w->arena, path));
}

static void add_tmpfs(struct writer *w, const struct op *op)
{
	bool shared_bits = !str_eq(op->path, STR("/run"));

	add(w, "--perms");
	add(w, shared_bits ? "1777" : "0755");
	if (op->number) {
		add(w, "--size");
		add(w, arena_printf(w->arena, "%llu", (unsigned long long)op->number));
	}
	add2(w, "--tmpfs", op->path);
}

/* What uid 0 could write whatever its capabilities are, core_pattern among it.
 * bubblewrap leaves it writable for a caller that is root. */
static void add_proc(struct writer *w, struct str proc)
{
	static const char *const seals[] = {
#define PROC_SEAL(name, who) name,
#include "backend/proc_covers.def"
	};

	add2(w, "--proc", proc);
	for (size_t i = 0; i < sizeof(seals) / sizeof(seals[0]); i++) {
		const char *path = arena_printf(w->arena, "%.*s/%s", STR_ARG(proc), seals[i]);

		add(w, "--ro-bind-try");
		add(w, path);
		add(w, path);
	}
}

static void add_root(struct writer *w, const struct op *op)
{
	add3(w, op->number ? "--bind" : "--ro-bind", STR("/"), STR("/"));
}

/* What no rule names may be gone by then. */
static void add_readable(struct writer *w, const struct op *op)
{
	add3(w, op->found ? "--ro-bind-try" : "--ro-bind", op->source, op->path);
}

static void add_hidden_file(struct writer *w, const struct op *op)
{
	add_empty_file(w, op->path);
}

static void add_hidden_dir(struct writer *w, const struct op *op)
{
	add(w, "--perms");
	add(w, op->number ? "0111" : "0000");
	add2(w, "--tmpfs", op->path);
}

static void add_own_proc(struct writer *w, const struct op *op)
{
	add_proc(w, op->path);
}

static void add_no_caps(struct writer *w, const struct op *op)
{
	(void)op;
	add2(w, "--cap-drop", STR("ALL"));
}

/* How an operation is said to bubblewrap: an option alone, with the path, with source and
 * path, or by a function. What is not here it does unasked, is done by add_variables or by
 * the limits of its process, or is not claimed. */
static const struct {
	const char *option;
	enum { ALONE, WITH_PATH, WITH_BOTH } shape;
	void (*add)(struct writer *w, const struct op *op);
} spellings[OP_KIND_COUNT] = {
	[OP_UNSHARE_USER] = { "--unshare-user", ALONE },
	[OP_UNSHARE_PID] = { "--unshare-pid", ALONE },
	[OP_UNSHARE_NET] = { "--unshare-net", ALONE },
	[OP_UNSHARE_IPC] = { "--unshare-ipc", ALONE },
	[OP_UNSHARE_UTS] = { "--unshare-uts", ALONE },
	[OP_UNSHARE_CGROUP] = { "--unshare-cgroup-try", ALONE },
	[OP_SESSION] = { "--new-session", ALONE },
	[OP_DIE_WITH_PARENT] = { "--die-with-parent", ALONE },
	[OP_DEV] = { "--dev", WITH_PATH },
	[OP_CHDIR] = { "--chdir", WITH_PATH },
	[OP_SYMLINK] = { "--symlink", WITH_BOTH },
	[OP_BIND_RO] = { .add = add_readable },
	[OP_BIND_RW] = { "--bind", WITH_BOTH },
	[OP_CACHE] = { "--bind", WITH_BOTH },
	[OP_SHARED_TMP] = { "--bind", WITH_BOTH },
	[OP_SOCKET] = { "--bind", WITH_BOTH },
	[OP_ROOT_HOST] = { .add = add_root },
	[OP_HIDE_FILE] = { .add = add_hidden_file },
	[OP_HIDE_DIR] = { .add = add_hidden_dir },
	[OP_TMPFS] = { .add = add_tmpfs },
	[OP_PROC] = { .add = add_own_proc },
	[OP_DROP_CAPS] = { .add = add_no_caps },
};

static void add_op(struct writer *w, const struct op *op)
{
	const char *option = spellings[op->kind].option;

	if (spellings[op->kind].add)
		spellings[op->kind].add(w, op);
	else if (!option)
		return;
	else if (spellings[op->kind].shape == WITH_BOTH)
		add3(w, option, op->source, op->path);
	else if (spellings[op->kind].shape == WITH_PATH)
		add2(w, option, op->path);
	else
		add(w, option);
}

/* What was covered by a tmpfs becomes read-only once everything below it is mounted:
 * otherwise writes to a denied directory would succeed and vanish. */
static void seal(struct writer *w, const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_HIDE_DIR || op->kind == OP_ROOT_EMPTY)
			add2(w, "--remount-ro", op->path);
}

/* `leaves_out` says what need not be done here and now; NULL: everything is. */
static int write_options(struct arena *a, const struct plan *plan,
			 bool (*leaves_out)(const struct op *op), struct bwrap_args *ret,
			 struct cordon_error *err)
{
	struct bwrap_args args = { 0 };
	struct writer w = { .arena = a, .args = &args };

	vec_each(op, &plan->ops)
		if (!leaves_out || !leaves_out(op))
			add_op(&w, op);
	seal(&w, plan);
	if (w.failed)
		return err_nomem(err, stage);
	*ret = args;
	return 0;
}

int bwrap_options(struct arena *a, const struct plan *plan, struct bwrap_args *ret,
		  struct cordon_error *err)
{
	return write_options(a, plan, NULL, ret, err);
}

/* A socket that bubblewrap could not find: it would end over that. */
static bool needs_no_cover(const struct op *op)
{
	return op->kind == OP_HIDE_FILE && op->node.type == NODE_SOCKET &&
	       (access(op->path.p, F_OK) < 0 || !wrapper_reaches(op->path));
}

static bool bwrap_enforces_op(const struct plan *plan, const struct op *op, const struct caps *caps)
{
	(void)plan;
	(void)caps;
	return !op->twin;
}

/* bubblewrap itself runs outside the boundary, so it gets none of these: its loader
 * would act on LD_PRELOAD and the like. */
static int add_variables(struct arena *a, const struct plan *plan, struct bwrap_args *args,
			 struct cordon_error *err)
{
	struct writer w = { .arena = a, .args = args };

	add(&w, "--clearenv");
	vec_each(op, &plan->ops)
		if (op->kind == OP_ENV_SET)
			add3(&w, "--setenv", op->path, op->source);
	add3(&w, "--setenv", STR(LAUNCH_INSIDE), str_of(plan->backend));
	return w.failed ? err_nomem(err, stage) : 0;
}

/* Of the host's sockets it covers those bound to a full path (OP_HIDE_FILE); nobody looks at
 * connects, so OP_COVER_SOCKETS is not claimed. */
static void bwrap_claims(const struct caps *caps, struct claims *ret)
{
	static const enum op_kind done[] = {
		OP_UNSHARE_USER,   OP_UNSHARE_MOUNT, OP_UNSHARE_PID,
		OP_UNSHARE_NET,	   OP_UNSHARE_IPC,   OP_UNSHARE_UTS,
		OP_UNSHARE_CGROUP, OP_ROOT_EMPTY,    OP_ROOT_HOST,
		OP_SYMLINK,	   OP_BIND_RO,	     OP_BIND_RW,
		OP_HIDE_FILE,	   OP_HIDE_DIR,	     OP_TMPFS,
		OP_PROC,	   OP_DEV,	     OP_SOCKET,
		OP_LIMIT,	   OP_SESSION,	     OP_DIE_WITH_PARENT,
		OP_DROP_CAPS,	   OP_NO_NEW_PRIVS,  OP_ENV_CLEAR,
		OP_ENV_SET,	   OP_CHDIR,	     OP_CACHE,
		OP_SHARED_TMP,
	};

	*ret = (struct claims){ .enforces_op = bwrap_enforces_op };
	for (size_t i = 0; i < OP_KIND_COUNT; i++)
		ret->missing[i] = CAP_COUNT;
	for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++)
		ret->enforces[done[i]] = true;
	ret->enforces[OP_KEEP_METADATA] = wrapper_keeps_metadata(caps);
}

static int bwrap_available(const struct caps *caps, struct cordon_error *err)
{
	/* It mounts a /proc or ends. */
	static const enum cap needed[] = { CAP_BWRAP, CAP_USERNS, CAP_MOUNTNS,
					   CAP_PIDNS, CAP_NETNS,  CAP_PROC_FRESH };

	return backend_needs("bwrap", caps, needed, sizeof(needed) / sizeof(needed[0]), err);
}

/* Every masked file is an empty file of its own: bubblewrap reads the descriptor to its
 * end and closes it. */
static int open_empty_files(struct arena *a, struct bwrap_args *args, struct launch *launch,
			    struct cordon_error *err)
{
	vec_each(slot, &args->empty_file_slots) {
		int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		const char *number;
		int to;

		if (fd < 0)
			return err_set(err, CORDON_E_SYSTEM, errno, stage, "open /dev/null");
		to = launch_add_fd(launch, fd, err);
		if (to < 0)
			return to;
		number = arena_printf(a, "%d", to);
		if (!number)
			return err_nomem(err, stage);
		args->options.at[*slot] = number;
	}
	return 0;
}

/* The options as NUL-separated text in an anonymous file. */
static int options_to_fd(const struct bwrap_args *args, struct cordon_error *err)
{
	autoclose int fd = fd_memory("bwrap-options");
	autobuf struct buf text = buf_make(OPTIONS_BYTES_MAX);
	int r = fd < 0 ? -errno : 0;

	vec_each(option, &args->options)
		buf_add(&text, (struct str){ *option, strlen(*option) + 1 });
	if (text.failed)
		return err_nomem(err, stage);
	if (r == 0)
		r = fd_write_all(fd, text.p, text.n);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		return err_set(err, CORDON_E_SYSTEM, -r, stage, "write the options");
	return steal_fd(&fd);
}

static int add_status_pipe(struct launch *launch, const char **ret_number, struct arena *a,
			   struct cordon_error *err)
{
	int end, r = fd_pipe(&launch->status_fd, &end);

	if (r < 0)
		return err_set(err, CORDON_E_SYSTEM, -r, stage, "make a pipe");
	r = launch_add_fd(launch, end, err);
	if (r < 0)
		return r;
	*ret_number = arena_printf(a, "%d", r);
	return *ret_number ? 0 : err_nomem(err, stage);
}

static size_t count(char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	return n;
}

static int check_count(const struct bwrap_args *args, size_t command, struct cordon_error *err)
{
	size_t total = args->options.n + command + OWN_WORDS;

	if (total <= BWRAP_ARGS_MAX)
		return 0;
	err_set(err, CORDON_E_LIMIT, 0, stage,
		"%zu options and %zu arguments are more than bubblewrap's limit of %d",
		args->options.n, command, BWRAP_ARGS_MAX);
	return err_hint(err, "put the arguments into a file or script, or use fewer rules "
			     "and variables");
}

/* The number of the descriptor that holds the options, as text. They are not on the
 * command line, which every user of the machine can read: values may be secret. */
static int add_options(struct arena *a, const struct bwrap_args *args, struct launch *launch,
		       const char **ret_number, struct cordon_error *err)
{
	int fd = options_to_fd(args, err);

	if (fd >= 0)
		fd = launch_add_fd(launch, fd, err);
	if (fd < 0)
		return fd;
	*ret_number = arena_printf(a, "%d", fd);
	return *ret_number ? 0 : err_nomem(err, stage);
}

static bool is_script(const char *program)
{
	autoclose int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char start[2];

	return fd >= 0 && read(fd, start, 2) == 2 && memcmp(start, "#!", 2) == 0;
}

/* Pipes need it; and scripts, because bubblewrap does not tell a missing interpreter from a
 * boundary that could not be made. It is found by descriptor, and must run where no library is. */
static bool needs_step(const struct launch_input *in)
{
	return wrapper_is_alone() && plan_find_op(in->plan, OP_PROC) &&
	       (in->piped || is_script(in->program));
}

/* Opens what is there for the launch to hand over; its number in the child. */
static int add_opened(struct launch *launch, const char *path, int flags, struct cordon_error *err)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? err_set(err, CORDON_E_SYSTEM, errno, stage, "open %s", path)
		      : launch_add_fd(launch, fd, err);
}

/* A place for each stream that is moved, where it begins with /dev/null. */
static int add_places(struct launch *launch, unsigned piped, struct cordon_error *err)
{
	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) {
		int r = piped & 1u << fd ? add_opened(launch, "/dev/null", O_RDWR, err) : 0;

		if (r < 0)
			return r;
		launch->moved_streams[fd] = r;
	}
	return 0;
}

static int add_began(struct launch *launch, struct cordon_error *err)
{
	int end, r = fd_pipe(&launch->began_fd, &end);

	return r < 0 ? err_set(err, CORDON_E_SYSTEM, -r, stage, "make a pipe")
		     : launch_add_fd(launch, end, err);
}

/* bubblewrap's two processes hold the standard streams until the end, and whoever is at the
 * other end of a pipe waits for that. Other descriptors they let go. So pipes come to the
 * command as such, and this program, executed in its place, puts them where they belong. */
static int add_step(struct arena *a, unsigned piped, struct launch *launch, char **argv, size_t *n,
		    struct cordon_error *err)
{
	int self = add_opened(launch, "/proc/self/exe", O_RDONLY, err);
	int r = self < 0 ? self : add_places(launch, piped, err);
	int began = r < 0 ? r : add_began(launch, err);
	const int numbers[] = { launch->moved_streams[0], launch->moved_streams[1], began, self };

	if (began < 0)
		return began;
	argv[(*n)++] = arena_printf(a, "/proc/self/fd/%d", self);
	argv[(*n)++] = (char *)LAUNCH_INSIDE_STEP;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		argv[(*n)++] = arena_printf(a, "%d", numbers[i]);
	for (size_t i = *n - STEP_WORDS; i < *n; i++)
		if (!argv[i])
			return err_nomem(err, stage);
	return 0;
}

/* argv[0], status descriptor, the descriptor of the options, "--", command. */
static int build_argv(struct arena *a, const struct launch_input *in, struct bwrap_args *args,
		      struct launch *launch, struct cordon_error *err)
{
	size_t command = count(in->argv), n = 0;
	char **argv = arena_array(a, command + OWN_WORDS, sizeof(*argv));
	const char *status, *options;
	int r;

	if (!argv)
		return err_nomem(err, stage);
	r = add_status_pipe(launch, &status, a, err);
	if (r == 0)
		r = add_options(a, args, launch, &options, err);
	if (r < 0)
		return r;
	argv[n++] = (char *)"bwrap";
	argv[n++] = (char *)"--json-status-fd";
	argv[n++] = (char *)status;
	argv[n++] = (char *)"--args";
	argv[n++] = (char *)options;
	argv[n++] = (char *)"--";
	if (needs_step(in))
		r = add_step(a, in->piped, launch, argv, &n, err);
	if (r < 0)
		return r;
	argv[n++] = (char *)in->program;
	for (size_t i = 1; i < command; i++)
		argv[n++] = in->argv[i];
	launch->argv = argv;
	return 0;
}

/* bubblewrap runs outside the boundary: one that a command could have changed is no
 * boundary. */
static int check_own(const struct launch_input *in, struct cordon_error *err)
{
	struct decision d = policy_decide(in->plan->policy, str_of(in->caps->bwrap_path));

	if (d.data != ACCESS_WRITE)
		return 0;
	err_set(err, CORDON_E_UNAVAILABLE, 0, stage, "%s lies where the command may write",
		in->caps->bwrap_path);
	return err_hint(err, "use the system's bwrap, or another --backend");
}

static int bwrap_prepare(struct arena *a, const struct launch_input *in, struct launch *ret,
			 struct cordon_error *err)
{
	static char *const no_variables[] = { NULL };
	struct bwrap_args args;
	int r = write_options(a, in->plan, needs_no_cover, &args, err);

	launch_init(ret);
	if (r == 0)
		r = check_own(in, err);
	if (r == 0)
		r = add_variables(a, in->plan, &args, err);
	if (r == 0)
		r = check_count(&args, count(in->argv), err);
	if (r == 0)
		r = open_empty_files(a, &args, ret, err);
	if (r == 0)
		r = build_argv(a, in, &args, ret, err);
	ret->program = in->caps->bwrap_path;
	ret->envp = no_variables;
	ret->wrappers = 2; /* bwrap outside and its pid 1 inside */
	ret->carries_input = true;
	ret->keeps_streams = true;
	if (r == 0)
		r = wrapper_prepare(a, in->caps, ret, err);
	/* Ctrl-C is for the command: bubblewrap would die of it and take all with it. */
	vec_each(op, &in->plan->ops)
		ret->new_session |= op->kind == OP_SESSION;
	if (r < 0)
		launch_close(ret);
	return r;
}

/* bubblewrap reports the exit code of the command only when the command was started. */
static int bwrap_confirm(struct launch *launch, int *ret_status, struct cordon_error *err)
{
	autobuf struct buf text = buf_make(STATUS_BYTES_MAX);
	long got;

	(void)ret_status;
	do
		got = buf_read(&text, launch->status_fd, STATUS_BYTES_MAX);
	while (got > 0 || got == -EINTR);
	if (memmem(text.p, text.n, "\"exit-code\"", 11))
		return 0;
	err_set(err, CORDON_E_INIT, 0, stage, "bubblewrap could not set up the boundary");
	return err_hint(err,
			"its own message is above; 'cordon doctor' shows what this machine allows");
}

const struct backend bwrap_backend = {
	.name = "bwrap",
	.summary = "bubblewrap, driven by the same plan",
	.claims = bwrap_claims,
	.available = bwrap_available,
	.prepare = bwrap_prepare,
	.confirm = bwrap_confirm,
};
