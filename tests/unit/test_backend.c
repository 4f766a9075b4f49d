/* SPDX-License-Identifier: Apache-2.0 */
/* The choice among backends, and bubblewrap's command line. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/bwrap.h"
#include "backend/linux/native.h"
#include "base/fd.h"
#include "base/num.h"
#include "policy_fixture.h"

static struct caps caps;
static struct plan_input input;

static void setup(void)
{
	fixture_setup();
	fake_world_add(&fake, STR("/w/src"), NODE_DIR);
	fake_world_add(&fake, STR("/tmp"), NODE_DIR);
	caps = (struct caps){ .bwrap_path = "/usr/bin/bwrap" };
	for (unsigned i = 0; i < CAP_COUNT; i++)
		caps.value[i] = 1;
	caps.value[CAP_SANDBOX_EXEC] = 0; /* another system's */
	memset(&input, 0, sizeof(input));
}

TestSuite(backend, .init = setup, .fini = fixture_teardown);

static void build(const char *profile)
{
	in.profile = profile;
	input.policy = built();
	input.world = &fake.world;
}

static const struct plan *chosen;

/* The name of what was chosen, or NULL. */
static const char *choose(const char *wanted, enum fallback fallback)
{
	const struct backend *b = NULL;
	struct plan *plan = NULL;

	memset(&err, 0, sizeof(err));
	if (backend_choose(&a, &input, &caps, str_of(wanted), fallback, &b, &plan, &err) < 0)
		return NULL;
	chosen = plan;
	cr_assert_str_eq(plan->backend, b->name);
	return b->name;
}

/* --- choice ------------------------------------------------------------------------ */

Test(backend, auto_takes_the_first_that_loses_nothing)
{
	build("moderate");
	cr_expect_str_eq(choose("auto", FALLBACK_ERROR), "native");
	caps.value[CAP_CLONE3] = 0;
	cr_expect_str_eq(choose("auto", FALLBACK_ERROR), "bwrap");
	caps.value[CAP_BWRAP] = 0;
	cr_expect_null(choose("auto", FALLBACK_ERROR));
	cr_expect_eq(err.code, CORDON_E_UNAVAILABLE);
	/* The first backend speaks: mending it gives the most. */
	cr_expect(strstr(err.message, "native") && strstr(err.message, "clone3"), "%s",
		  err.message);
}

Test(backend, auto_passes_over_one_that_loses_something_required)
{
	build("shell");
	caps.value[CAP_OPEN_TREE] = 0;
	cr_expect_null(choose("auto", FALLBACK_ERROR));
	cr_expect_str_eq(choose("auto", FALLBACK_DEGRADE), "bwrap");
	cr_expect_not(chosen->enforced[GUARANTEE_EXEC]);
	/* Degrading is for what nobody can do: here one backend can. */
	caps.value[CAP_OPEN_TREE] = 1;
	caps.value[CAP_CLONE3] = 1;
	cr_expect_str_eq(choose("auto", FALLBACK_DEGRADE), "native");
	cr_expect(chosen->enforced[GUARANTEE_EXEC]);
}

Test(backend, auto_is_never_passthrough_unless_said)
{
	build("moderate");
	caps.value[CAP_USERNS] = 0;
	cr_expect_null(choose("auto", FALLBACK_ERROR));
	/* Some confinement is better than none. */
	cr_expect_str_eq(choose("auto", FALLBACK_DEGRADE), "landlock");
	cr_expect_str_eq(choose("auto", FALLBACK_PASSTHROUGH), "landlock");
	cr_expect(chosen->enforced[GUARANTEE_NETWORK]);
	caps.value[CAP_LANDLOCK] = 0;
	cr_expect_null(choose("auto", FALLBACK_DEGRADE));
	cr_expect_str_eq(choose("auto", FALLBACK_PASSTHROUGH), "passthrough");
	cr_expect_not(chosen->enforced[GUARANTEE_FILES]);
	cr_expect_str_eq(choose("passthrough", FALLBACK_ERROR), "passthrough");
}

Test(backend, a_rule_that_cannot_be_expressed_is_not_a_reason_to_fall_back)
{
	with_flag("--allow-write", "/gone");
	build("moderate");
	cr_expect_null(choose("auto", FALLBACK_PASSTHROUGH));
	cr_expect_eq(err.code, CORDON_E_PATH);
	cr_expect_null(choose("bwrap", FALLBACK_PASSTHROUGH));
}

Test(backend, a_named_backend_is_that_or_nothing)
{
	build("moderate");
	cr_expect_str_eq(choose("bwrap", FALLBACK_ERROR), "bwrap");
	caps.value[CAP_BWRAP] = 0;
	cr_expect_null(choose("bwrap", FALLBACK_ERROR));
	cr_expect(strstr(err.message, "bwrap") && strstr(err.hint, "install"), "%s", err.message);
	cr_expect_null(choose("bwrap", FALLBACK_DEGRADE));
	cr_expect_null(choose("seatbelt", FALLBACK_DEGRADE));
	cr_expect(strstr(err.message, "sandbox-exec"), "%s", err.message);
}

Test(backend, an_unknown_name_gets_the_nearest_one)
{
	build("moderate");
	cr_expect_null(choose("bwarp", FALLBACK_PASSTHROUGH));
	cr_expect_eq(err.code, CORDON_E_USAGE);
	cr_expect(strstr(err.hint, "'bwrap'"), "%s", err.hint);
	cr_expect_null(choose("", FALLBACK_ERROR));
}

Test(backend, unconfined_is_passthrough_whatever_is_wanted)
{
	with_flag("--mode", "rwx");
	build(NULL);
	cr_expect_str_eq(choose("native", FALLBACK_ERROR), "passthrough");
	cr_expect_eq(chosen->degraded.n, 0);
}

/* --- bubblewrap -------------------------------------------------------------------- */

static int prepare(const char *program, char *const *argv, struct launch *ret)
{
	struct launch_input launched = { .caps = &caps, .program = program, .argv = argv };

	cr_assert_str_eq(choose("bwrap", FALLBACK_DEGRADE), "bwrap");
	launched.plan = chosen;
	return backend_by_name(STR("bwrap"))->prepare(&a, &launched, ret, &err);
}

static int number_of(const char *text)
{
	uint64_t n = 0;

	cr_assert(num_parse_u64(str_of(text), INT32_MAX, &n), "%s", text);
	return (int)n;
}

/* What the descriptor with this number in the child holds. */
static struct str descriptor(const struct launch *launch, const char *number)
{
	struct str text = { 0 };

	for (size_t i = 0; i < launch->n_fds; i++)
		if (launch->fds[i].to == number_of(number))
			cr_assert_eq(fd_read_stream(&a, launch->fds[i].from, "options", 1 << 20,
						    &text, &err),
				     0, "%s", err.message);
	return text;
}

/* The options as bubblewrap will read them, NULL-terminated. */
static char **options_of(const struct launch *launch)
{
	struct str text, word;
	char **words = arena_array(&a, BWRAP_ARGS_MAX + 1, sizeof(*words));
	size_t n = 0;

	cr_assert_str_eq(launch->argv[3], "--args");
	cr_assert_str_eq(launch->argv[5], "--");
	text = descriptor(launch, launch->argv[4]);
	while (text.n) {
		str_cut(text, '\0', &word, &text);
		cr_assert_lt(n, BWRAP_ARGS_MAX);
		words[n++] = arena_dup(&a, word);
	}
	return words;
}

/* How bubblewrap reads its options: the number of arguments each takes. */
static int arity(const char *option)
{
	static const struct {
		const char *name;
		int n;
	} known[] = {
		{ "--clearenv", 0 },	{ "--setenv", 2 },	{ "--unshare-user", 0 },
		{ "--unshare-pid", 0 }, { "--unshare-net", 0 }, { "--unshare-ipc", 0 },
		{ "--unshare-uts", 0 }, { "--ro-bind", 2 },	{ "--unshare-cgroup-try", 0 },
		{ "--bind", 2 },	{ "--symlink", 2 },	{ "--perms", 1 },
		{ "--size", 1 },	{ "--tmpfs", 1 },	{ "--ro-bind-data", 2 },
		{ "--proc", 1 },	{ "--dev", 1 },		{ "--new-session", 0 },
		{ "--cap-drop", 1 },	{ "--chdir", 1 },	{ "--die-with-parent", 0 },
		{ "--remount-ro", 1 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(option, known[i].name))
			return known[i].n;
	return -1;
}

static void read_options(char *const *words)
{
	while (*words) {
		int n = arity(*words);

		cr_assert(n >= 0, "'%s' would be read as an option", *words);
		for (words++; n > 0; n--, words++)
			cr_assert(*words);
	}
}

Test(backend, no_path_and_no_command_is_taken_for_an_option)
{
	static char *const argv[] = { (char *)"--version", (char *)"--", (char *)"--bind",
				      (char *)"-", NULL };
	struct launch launch;
	const size_t at = 6;

	in.places.workdir = in.places.data = STR("/--bind");
	fake_world_add(&fake, STR("/--bind/--"), NODE_DIR);
	fake_world_add(&fake, STR("/--args"), NODE_DIR);
	fake_world_add(&fake, STR("/--bind/--help"), NODE_FILE);
	with_flag("--deny", "{workdir}/--help");
	with_flag("--allow-read", "{workdir}/--");
	with_flag("--allow-write", "/--args");
	build("moderate");
	cr_assert_eq(prepare("--version", argv, &launch), 0, "%s", err.message);
	read_options(options_of(&launch));
	cr_expect_str_eq(launch.argv[at], "--version");
	cr_expect_str_eq(launch.argv[at + 1], "--");
	cr_expect_str_eq(launch.argv[at + 2], "--bind");
	cr_expect_str_eq(launch.argv[at + 3], "-");
	cr_expect_null(launch.argv[at + 4]);
	launch_close(&launch);
}

static char **many_arguments(size_t n)
{
	char **argv = arena_array(&a, n + 1, sizeof(*argv));

	for (size_t i = 0; i < n; i++)
		argv[i] = (char *)"x";
	return argv;
}

Test(backend, more_arguments_than_bubblewrap_takes_are_refused_before_it_starts)
{
	struct launch launch;

	build("moderate");
	cr_assert_eq(prepare("/bin/true", many_arguments(8000), &launch), 0, "%s", err.message);
	launch_close(&launch);
	cr_assert_eq(prepare("/bin/true", many_arguments(9000), &launch), -CORDON_E_LIMIT);
	cr_expect(strstr(err.message, "9000"), "%s", err.message);
	cr_expect(err.hint[0]);
	cr_expect_eq(launch.n_fds, 0);
	cr_expect_eq(launch.status_fd, -1);
}

static void many_directories(unsigned n, const char *flag_name, enum node_type type)
{
	for (unsigned i = 0; i < n; i++) {
		const char *path = arena_printf(&a, "/d%u", i);

		fake_world_add(&fake, str_of(path), type);
		with_flag(flag_name, path);
	}
}

Test(backend, the_options_travel_over_a_descriptor_and_the_variables_after_them)
{
	static const char *const env[] = { "A=1", "GITHUB_TOKEN=x", "EMPTY=", NULL };
	static const char *const wanted[] = { "--clearenv",  "--setenv", "A", "1",
					      "--setenv",    "EMPTY",	 "",  "--setenv",
					      LAUNCH_INSIDE, "bwrap" };
	static char *const argv[] = { (char *)"true", NULL };
	struct bwrap_args args;
	struct launch launch;
	char **words;

	many_directories(300, "--allow-write", NODE_DIR);
	build("permissive");
	input.environ = env;
	cr_assert_eq(prepare("/bin/true", argv, &launch), 0, "%s", err.message);
	words = options_of(&launch);
	cr_assert_eq(bwrap_options(&a, chosen, &args, &err), 0);
	vec_each(option, &args.options)
		cr_assert_str_eq(*words++, *option);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		cr_assert_str_eq(*words++, wanted[i]);
	cr_assert_null(*words);
	launch_close(&launch);
}

/* It runs outside the boundary: LD_PRELOAD would be obeyed there. */
Test(backend, bubblewrap_itself_has_no_environment)
{
	static const char *const env[] = { "LD_PRELOAD=/w/evil.so", NULL };
	static char *const argv[] = { (char *)"true", NULL };
	struct launch launch;

	with_flag("--env", "LD_LIBRARY_PATH=/w");
	build("moderate");
	input.environ = env;
	cr_assert_eq(prepare("/bin/true", argv, &launch), 0, "%s", err.message);
	cr_assert_null(launch.envp[0]);
	for (size_t i = 0; launch.argv[i]; i++)
		cr_expect_null(strstr(launch.argv[i], "/w"), "%s", launch.argv[i]);
	launch_close(&launch);
}

Test(backend, variables_count_towards_the_limit_of_bubblewrap)
{
	static char *const argv[] = { (char *)"true", NULL };
	const char **env = arena_array(&a, 3001, sizeof(*env));
	struct launch launch;

	for (unsigned i = 0; i < 3000; i++)
		env[i] = arena_printf(&a, "V%u=x", i);
	build("moderate");
	input.environ = env;
	cr_assert_eq(prepare("/bin/true", argv, &launch), -CORDON_E_LIMIT);
	cr_expect(strstr(err.hint, "variables"), "%s", err.hint);
}

Test(backend, too_many_options_are_refused)
{
	static char *const argv[] = { (char *)"true", NULL };
	struct launch launch;

	many_directories(3100, "--allow-write", NODE_DIR);
	build("moderate");
	cr_assert_eq(prepare("/bin/true", argv, &launch), -CORDON_E_LIMIT);
	cr_expect(strstr(err.message, "bubblewrap"), "%s", err.message);
}

/* Each hidden file takes a descriptor; they are named one by one and let go on failure. */
Test(backend, hidden_files_each_get_an_empty_file)
{
	static char *const argv[] = { (char *)"true", NULL };
	int before = dup(0), after;
	struct launch launch;
	size_t seen = 0;
	char **words;

	many_directories(20, "--deny", NODE_FILE);
	build("moderate");
	cr_assert_eq(prepare("/bin/true", argv, &launch), 0, "%s", err.message);
	words = options_of(&launch);
	for (size_t i = 0; words[i]; i++)
		if (!strcmp(words[i], "--ro-bind-data")) {
			cr_expect_eq(number_of(words[i + 1]), 3 + (int)seen);
			cr_expect_eq(descriptor(&launch, words[i + 1]).n, 0);
			seen++;
		}
	cr_expect_eq(seen, 20);
	launch_close(&launch);
	close(before);

	many_directories(LAUNCH_FDS_MAX + 1, "--deny", NODE_FILE);
	build("moderate");
	cr_assert_eq(prepare("/bin/true", argv, &launch), -CORDON_E_LIMIT);
	after = dup(0);
	cr_expect_eq(after, before, "a descriptor was left open");
	close(after);
}

/* --- native ------------------------------------------------------------------------ */

/* The names of the filters that a run would load, "base noptrace". */
static const char *filters_loaded(void)
{
	static char *const argv[] = { (char *)"true", NULL };
	struct launch_input launched = { .caps = &caps, .program = "/bin/true", .argv = argv };
	struct buf names = buf_make(1024);
	const struct native *n;
	struct launch launch;
	const char *text;

	cr_assert_str_eq(choose("native", FALLBACK_DEGRADE), "native");
	launched.plan = chosen;
	cr_assert_eq(backend_by_name(STR("native"))->prepare(&a, &launched, &launch, &err), 0, "%s",
		     err.message);
	n = launch.child_data;
	for (size_t i = 0; i < n->n_filters; i++)
		buf_addf(&names, "%s%s", i ? " " : "", n->filters[i]->name);
	if (n->listener)
		buf_addf(&names, " %s", n->listener->name);
	launch_close(&launch);
	text = arena_dup(&a, buf_str(&names));
	buf_free(&names);
	return text;
}

/* Without it the run is declared to be less confined, and must then not fail of it. */
Test(backend, no_filter_is_loaded_where_seccomp_is_missing)
{
	build("moderate");
	caps.value[CAP_SECCOMP] = 0;
	cr_expect_str_eq(filters_loaded(), "");
}

Test(backend, what_a_missing_namespace_shares_is_refused)
{
	build("moderate");
	cr_expect_str_eq(filters_loaded(), "base_heard notify_writes");
	caps.value[CAP_IPCNS] = 0;
	cr_expect_str_eq(filters_loaded(), "base_heard noipc notify_writes");
	caps.value[CAP_PIDNS] = 0;
	cr_expect_str_eq(filters_loaded(), "base_heard noipc nopidns notify_writes");
}

Test(backend, the_keyring_is_open_to_who_is_given_it)
{
	with_flag("--keyring", "true");
	build("moderate");
	cr_expect_str_eq(filters_loaded(), "base_keyring_heard notify_writes");
}

/* What passes beside a listener that asks must not pass beside one that does not. */
Test(backend, refused_calls_pass_only_beside_a_listener_that_asks)
{
	build("moderate");
	caps.value[CAP_NOTIFY] = 0;
	cr_expect_str_eq(filters_loaded(), "base");
	caps.value[CAP_NOTIFY] = 1;
	with_flag("--report", "none");
	build("moderate");
	cr_expect_str_eq(filters_loaded(), "base notify_create");
}
