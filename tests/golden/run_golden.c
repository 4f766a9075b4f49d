/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden plans. For every policy of the worlds named on the command line (the syntax of
 * table.h, without rows) the plan, the bubblewrap options and what backend_choose says on
 * four machines are written as text and compared with plan-<policy>.txt beside the
 * world; with --sbpl in front, their Seatbelt profiles with sbpl-<policy>.txt. With
 * CORDON_GOLDEN_WRITE in the environment the files are written anew: read the difference
 * before it is committed. Prints TAP.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "backend/bwrap.h"
#include "backend/seatbelt.h"
#include "base/fd.h"
#include "base/path.h"
#include "policy/profiles.h"
#include "table.h"

#define ARENA_MAX ((size_t)256 << 20)
#define TEXT_MAX ((size_t)1 << 20)

/* Machines, by what they lack of the first. */
static const struct machine {
	const char *name;
	const char *mask;
} machines[] = {
	{ "full", "sandbox-exec" },
	{ "no-landlock", "sandbox-exec,landlock" },
	{ "no-userns", "sandbox-exec,userns" },
	{ "old", "sandbox-exec,landlock=1,seccomp-notify,notify-killable,notify-sync,"
		 "mount-setattr,overlay,cgroup2" },
};
#define MACHINE_COUNT (sizeof(machines) / sizeof(machines[0]))
#define LANDLOCK_ABI 7

static const char *const caller_environ[] = {
	"HOME=/home/u",	       "PATH=/usr/bin:/bin",	   "LANG=C.UTF-8",	 "TERM=xterm",
	"GITHUB_TOKEN=hidden", "SSH_AUTH_SOCK=/run/agent", "AWS_PROFILE=hidden", NULL,
};

/* A backend may claim less for root; what is reviewed is a plain user's, whoever runs this. */
uid_t __wrap_geteuid(void);

uid_t __wrap_geteuid(void)
{
	return 1000;
}

static unsigned points, failures;
static const char *kind = "plan"; /* of the files */

static void point(bool ok, const char *name)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++points, name);
	failures += !ok;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static struct caps caps_of(const struct machine *m)
{
	struct caps caps = { .bwrap_path = "/usr/bin/bwrap" };
	struct cordon_error err;

	for (unsigned i = 0; i < CAP_COUNT; i++)
		caps.value[i] = 1;
	caps.value[CAP_LANDLOCK] = LANDLOCK_ABI;
	must(caps_mask(&caps, str_of(m->mask), &err) == 0, "a mask names no capability");
	/* Why something is missing is not what these files are about. */
	memset(caps.why, 0, sizeof(caps.why));
	return caps;
}

/* What a plan is made from: the table's policy, the hidden names and the unix sockets of
 * its world. */
struct subject {
	struct arena *arena;
	const struct table *table;
	const struct policy *policy;
	struct plan_input input;
	VEC(struct found_path) hidden, sockets;
};

static void collect_hidden(struct subject *s)
{
	struct str workdir = s->table->places.workdir;

	vec_each(e, &s->table->fake.entries) {
		struct str rest, name, path;
		struct found_path *slot;

		if (!path_below(e->path, workdir) || e->path.n == workdir.n)
			continue;
		rest = str_skip(e->path, workdir.n);
		if (!path_next(&rest, &name) || name.p[0] != '.' || e->type == NODE_SYMLINK)
			continue;
		path = str_take(e->path, (size_t)(name.p + name.n - e->path.p));
		if (s->hidden.n && str_eq(s->hidden.at[s->hidden.n - 1].path, path))
			continue;
		slot = vec_push(&s->hidden, s->arena);
		must(slot, "out of memory");
		path = str_of(arena_dup(s->arena, path));
		slot->path = path;
		slot->node.type = path.n == e->path.n ? e->type : NODE_DIR;
	}
}

static void collect_sockets(struct subject *s)
{
	vec_each(e, &s->table->fake.entries) {
		struct found_path *slot;

		if (e->type != NODE_SOCKET)
			continue;
		slot = vec_push(&s->sockets, s->arena);
		must(slot, "out of memory");
		*slot = (struct found_path){ e->path, { .type = NODE_SOCKET } };
	}
}

static int choose(struct subject *s, const struct machine *m, const char *wanted,
		  enum fallback fallback, const struct backend **ret_backend, struct plan **ret,
		  struct cordon_error *err)
{
	struct caps caps = caps_of(m);

	return backend_choose(s->arena, &s->input, &caps, str_of(wanted), fallback, ret_backend,
			      ret, err);
}

static void print_error(struct buf *b, const struct cordon_error *err)
{
	buf_addf(b, "refused: %s\n", err->message);
	if (err->hint[0])
		buf_addf(b, "         hint: %s\n", err->hint);
}

static void print_enforced(struct buf *b, const struct plan *plan)
{
	buf_adds(b, "enforced:");
	for (unsigned g = 0; g < GUARANTEE_COUNT; g++)
		if (plan->enforced[g])
			buf_addf(b, " %s", guarantee_rows[g].name);
	buf_addc(b, '\n');
}

/* Backend, what holds and what is lost; the operations are the same on every machine,
 * and if ever they are not, that shows. */
static void print_outcome(struct buf *b, struct subject *s, const struct machine *m,
			  const char *wanted, enum fallback fallback, const struct plan *whole)
{
	autobuf struct buf ops = buf_make(TEXT_MAX), reference = buf_make(TEXT_MAX);
	const struct backend *backend;
	struct cordon_error err;
	struct plan *plan;
	struct plan bare;

	if (choose(s, m, wanted, fallback, &backend, &plan, &err) < 0) {
		print_error(b, &err);
		return;
	}
	buf_addf(b, "%s\n         ", backend->name);
	print_enforced(b, plan);
	vec_each(loss, &plan->degraded)
		buf_addf(b, "         %s: %s (no %s%s%s)\n",
			 loss->required ? "MISSING" : "degraded",
			 guarantee_rows[loss->guarantee].name, op_rows[loss->op].name,
			 loss->missing == CAP_COUNT ? "" : " without ",
			 loss->missing == CAP_COUNT ? "" : cap_rows[loss->missing].name);
	bare = *plan;
	bare.backend = whole->backend;
	bare.degraded.n = 0;
	plan_print(&ops, &bare);
	bare = *whole;
	bare.degraded.n = 0;
	plan_print(&reference, &bare);
	if (!str_eq(buf_str(&ops), buf_str(&reference)))
		buf_addf(b, "other operations than above:\n%s", ops.p);
}

static void print_machine(struct buf *b, struct subject *s, const struct machine *m,
			  const struct plan *whole)
{
	static const enum fallback ways[] = { FALLBACK_ERROR, FALLBACK_DEGRADE,
					      FALLBACK_PASSTHROUGH };
	autobuf struct buf before = buf_make(TEXT_MAX);

	buf_addf(b, "\n== machine %s\n", m->name);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		autobuf struct buf now = buf_make(TEXT_MAX);

		print_outcome(&now, s, m, "auto", ways[i], whole);
		buf_addf(b, "auto, fallback %s -> %s",
			 choice_to_string(CHOICES_FALLBACK, (unsigned)ways[i]),
			 str_eq(buf_str(&now), buf_str(&before)) ? "the same\n" : now.p);
		buf_clear(&before);
		buf_add(&before, buf_str(&now));
	}
	buf_adds(b, "bwrap, fallback error -> ");
	print_outcome(b, s, m, "bwrap", FALLBACK_ERROR, whole);
}

/* One option a line, its arguments behind it. */
static void print_options(struct buf *b, const struct bwrap_args *args)
{
	vec_each(option, &args->options) {
		struct str word = str_of(*option);

		buf_adds(b, str_starts(word, STR("--")) ? "\n" : " ");
		buf_add_escaped(b, word);
	}
	buf_addc(b, '\n');
}

static void print_bwrap(struct buf *b, struct subject *s)
{
	const struct backend *backend;
	struct cordon_error err;
	struct bwrap_args args;
	struct plan *plan;

	buf_adds(b, "\n== bwrap options");
	if (choose(s, &machines[0], "bwrap", FALLBACK_DEGRADE, &backend, &plan, &err) < 0 ||
	    bwrap_options(s->arena, plan, &args, &err) < 0) {
		buf_addc(b, '\n');
		print_error(b, &err);
		return;
	}
	print_options(b, &args);
}

static void print_sbpl(struct buf *b, struct subject *s)
{
	struct caps caps = { .value = { [CAP_SANDBOX_EXEC] = 1 } };
	const struct backend *backend;
	struct cordon_error err;
	struct plan *plan;

	if (backend_choose(s->arena, &s->input, &caps, STR("seatbelt"), FALLBACK_DEGRADE, &backend,
			   &plan, &err) < 0 ||
	    seatbelt_profile(s->arena, plan, b, &err) < 0)
		print_error(b, &err);
}

static void print_subject(struct buf *b, struct subject *s)
{
	const struct backend *backend;
	struct cordon_error err;
	struct plan *plan;

	buf_adds(b, "== plan\n");
	if (choose(s, &machines[0], "auto", FALLBACK_DEGRADE, &backend, &plan, &err) < 0) {
		print_error(b, &err);
		return;
	}
	plan_print(b, plan);
	vec_each(warning, &s->policy->warnings)
		buf_addf(b, "warning: %s\n", *warning);
	for (size_t i = 0; i < MACHINE_COUNT; i++)
		print_machine(b, s, &machines[i], plan);
	if (s->policy->confined)
		print_bwrap(b, s);
}

static bool same_as_file(const char *path, const struct buf *now)
{
	autoarena struct arena a;
	struct cordon_error err = { 0 };
	struct str then = { 0 };

	if (getenv("CORDON_GOLDEN_WRITE")) {
		FILE *out = fopen(path, "we");

		must(out && fputs(now->p, out) >= 0 && fclose(out) == 0, path);
	}
	arena_init(&a, ARENA_MAX);
	if (fd_read_file(&a, path, TEXT_MAX, &then, &err) < 0)
		printf("# %s\n", err.message);
	return str_eq(then, buf_str(now)) && then.n;
}

static void print_as_comment(struct str text)
{
	struct str line;

	while (text.n) {
		str_cut(text, '\n', &line, &text);
		printf("# %.*s\n", STR_ARG(line));
	}
}

static void run_policy(struct arena *a, const struct table *t, const struct table_policy *p,
		       const char *dir)
{
	autobuf struct buf text = buf_make(TEXT_MAX);
	const char *path = arena_printf(a, "%s/%s-%.*s.txt", dir, kind, STR_ARG(p->name));
	struct subject s = {
		.arena = a,
		.table = t,
		.policy = p->policy,
		.input = { .policy = p->policy, .world = &t->fake.world },
	};
	bool ok;

	must(path, "out of memory");
	s.input.environ = caller_environ;
	collect_hidden(&s);
	s.input.hidden = s.hidden.at;
	s.input.hidden_count = s.hidden.n;
	collect_sockets(&s);
	s.input.sockets = s.sockets.at;
	s.input.socket_count = s.sockets.n;
	s.input.sockets_known = true;
	if (strcmp(kind, "sbpl") == 0)
		print_sbpl(&text, &s);
	else
		print_subject(&text, &s);
	ok = !text.failed && same_as_file(path, &text);
	point(ok, path + strlen(dir) + 1);
	if (!ok) {
		printf("# %s differs; now:\n", path);
		print_as_comment(buf_str(&text));
	}
}

static void run_world(const struct config *builtin, const char *path)
{
	autoarena struct arena a;
	struct cordon_error err;
	const char *dir;
	struct table t;
	struct str text;
	int r;

	arena_init(&a, ARENA_MAX);
	r = fd_read_file(&a, path, TEXT_MAX, &text, &err);
	if (r == 0)
		r = table_read(&a, text, path, &t, &err);
	if (r == 0)
		r = table_build(&t, builtin, &err);
	must(r == 0, err.message);
	dir = arena_dup(&a, str_take(str_of(path), (size_t)(strrchr(path, '/') - path)));
	must(dir, "out of memory");
	vec_each(p, &t.policies)
		run_policy(&a, &t, *p, dir);
}

/* A file that no policy writes any more would be reviewed for nothing. */
static void check_strays(const char *world)
{
	const char *slash = strrchr(world, '/');
	unsigned policies = points;
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%.*s/%s-*.txt", (int)(slash - world), world, kind);
	must(glob(pattern, 0, NULL, &found) == 0, pattern);
	point(found.gl_pathc == policies, "every file belongs to a policy");
	globfree(&found);
}

int main(int argc, char **argv)
{
	autoarena struct arena a;
	struct cordon_error err = { 0 };
	struct config builtin;

	arena_init(&a, ARENA_MAX);
	must(profiles_load(&a, &builtin, &err) == 0, err.message);
	if (argc > 1 && strcmp(argv[1], "--sbpl") == 0) {
		kind = "sbpl";
		argv++;
		argc--;
	}
	for (int i = 1; i < argc; i++)
		run_world(&builtin, argv[i]);
	if (argc > 1)
		check_strays(argv[1]);
	printf("1..%u\n", points);
	return failures || !points;
}
