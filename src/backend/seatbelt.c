/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seatbelt backend: sandbox-exec with the profile as an argument. It replaces itself
 * by the command, so what the supervisor starts is the command.
 *
 * Seatbelt goes by names. Patterns and hidden names are in the text, but a directory that
 * is moved to where they do not apply takes its contents along, so they are not claimed;
 * nor are other processes out of sight, whose arguments anybody may ask the kernel for.
 */
#include "backend/seatbelt.h"

#include "backend/list.h"
#include "backend/sbpl.h"
#include "backend/unmounted.h"
#include "base/path.h"

#define stage "seatbelt"

/* Names that are the same for the file system and not for Seatbelt. */
static bool folds(const struct plan *plan, struct str path)
{
	vec_each(top, &plan->policy->folding)
		if (path_below(path, *top))
			return true;
	return false;
}

/* What the kernel holds for each process, or the supervisor at its own end of a pipe. What
 * counts or ends all processes of a run does not reach one that has left (tree_darwin.c). */
static bool holds_limit(struct str name)
{
	static const struct str held[] = { STR("files"), STR("file_size"), STR("output") };

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (str_eq(name, held[i]))
			return true;
	return false;
}

static bool seatbelt_enforces_op(const struct plan *plan, const struct op *op,
				 const struct caps *caps)
{
	(void)caps;
	if (op->kind == OP_NET_HOST)
		return seatbelt_says_host(op->path);
	/* With the whole network come its sockets, and what has no path is not asked about. */
	if (op->kind == OP_COVER_SOCKETS || op->kind == OP_KNOW_SOCKETS ||
	    op->kind == OP_UNSHARE_IPC)
		return plan_find_op(plan, OP_UNSHARE_NET);
	if (op->kind == OP_GUARD_NAME)
		return !folds(plan, op->path);
	if (op->kind == OP_LIMIT)
		return holds_limit(op->path);
	if (op->kind == OP_CACHE)
		return unmounted_cache(plan, op);
	return true;
}

static void seatbelt_claims(const struct caps *caps, struct claims *ret)
{
	/* There are no capabilities, cgroups or host names to keep apart, and no sandboxed
	 * program executes one that is setuid. */
	static const enum op_kind done[] = {
		OP_UNSHARE_USER, OP_UNSHARE_MOUNT,  OP_UNSHARE_NET,   OP_UNSHARE_IPC,
		OP_UNSHARE_UTS,	 OP_UNSHARE_CGROUP, OP_NET_HOST,      OP_LISTEN_PORT,
		OP_ROOT_EMPTY,	 OP_ROOT_HOST,	    OP_SYMLINK,	      OP_BIND_RO,
		OP_BIND_RW,	 OP_HIDE_FILE,	    OP_HIDE_DIR,      OP_TMPFS,
		OP_DEV,		 OP_SHARED_TMP,	    OP_CACHE,	      OP_SOCKET,
		OP_KNOW_SOCKETS, OP_COVER_SOCKETS,  OP_KEEP_METADATA, OP_NOEXEC,
		OP_EXEC,	 OP_GUARD_NAME,	    OP_LIMIT,	      OP_SESSION,
		OP_DROP_CAPS,	 OP_NO_NEW_PRIVS,   OP_NO_PTRACE,     OP_ENV_CLEAR,
		OP_ENV_SET,	 OP_CHDIR,
	};

	(void)caps;
	*ret = (struct claims){ .enforces_op = seatbelt_enforces_op };
	for (size_t i = 0; i < OP_KIND_COUNT; i++)
		ret->missing[i] = CAP_COUNT;
	for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++)
		ret->enforces[done[i]] = true;
}

static int seatbelt_available(const struct caps *caps, struct cordon_error *err)
{
	static const enum cap needed[] = { CAP_SANDBOX_EXEC };

	return backend_needs("seatbelt", caps, needed, 1, err);
}

static char *definition(struct arena *a, const char *name, struct str value)
{
	return arena_printf(a, "-D%s=%.*s", name, STR_ARG(value));
}

/* The parameters, the text, the command. */
static int build_argv(struct arena *a, const struct launch_input *in, const char *tmp,
		      struct launch *launch, struct cordon_error *err)
{
	autobuf struct buf text = buf_make(SEATBELT_BYTES_MAX);
	const struct places *places = &in->plan->policy->places;
	size_t command = 0, n = 0;
	char **argv;
	int r = seatbelt_profile(a, in->plan, &text, err);

	if (r < 0)
		return r;
	while (in->argv[command])
		command++;
	argv = arena_array(a, command + 8, sizeof(*argv));
	if (!argv)
		return err_nomem(err, stage);
	argv[n++] = (char *)"sandbox-exec";
	argv[n++] = definition(a, SBPL_WORKDIR, places->workdir);
	argv[n++] = definition(a, SBPL_HOME, places->home);
	if (tmp)
		argv[n++] = definition(a, SBPL_TMPDIR, str_of(tmp));
	argv[n++] = (char *)"-p";
	argv[n++] = arena_dup(a, buf_str(&text));
	for (size_t i = 1; i < n; i++)
		if (!argv[i])
			return err_nomem(err, stage);
	argv[n++] = (char *)in->program;
	for (size_t i = 1; i < command; i++)
		argv[n++] = in->argv[i];
	launch->argv = argv;
	return 0;
}

static int seatbelt_prepare(struct arena *a, const struct launch_input *in, struct launch *ret,
			    struct cordon_error *err)
{
	const struct op *chdir = plan_find_op(in->plan, OP_CHDIR);
	const char *tmp;
	int r;

	launch_init(ret);
	r = unmounted_scratch(a, in->plan, ret, err);
	tmp = unmounted_tmp(in->plan, ret);
	if (r == 0)
		r = build_argv(a, in, tmp, ret, err);
	ret->program = in->caps && in->caps->sandbox_exec_path ? in->caps->sandbox_exec_path
							      : SANDBOX_EXEC_PATH;
	ret->cwd = chdir ? chdir->path.p : NULL;
	ret->new_session = plan_find_op(in->plan, OP_SESSION);
	if (r == 0) {
		ret->envp = unmounted_environ(a, in->plan, tmp);
		r = ret->envp ? 0 : err_nomem(err, stage);
	}
	if (r < 0)
		launch_close(ret);
	return r;
}

const struct backend seatbelt_backend = {
	.name = "seatbelt",
	.summary = "Seatbelt, on macOS",
	.claims = seatbelt_claims,
	.available = seatbelt_available,
	.prepare = seatbelt_prepare,
};
