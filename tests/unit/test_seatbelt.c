/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Seatbelt profile: one well-formed text whatever names are in it, which says what
 * policy_decide says and in the order and the shapes asked for. It is read back by a
 * small reader of the language (sbpl_read.h); no Mac is needed.
 */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/list.h"
#include "backend/sbpl.h"
#include "backend/seatbelt.h"
#include "base/fd.h"
#include "base/path.h"
#include "policy_fixture.h"
#include "sbpl_read.h"
#include "table.h"

#define TMPDIR_VALUE "/private/scratch"

static struct caps caps;
static struct plan_input input;
static struct buf text;
static struct sbpl *profile;

static void setup(void)
{
	fixture_setup();
	fake_world_add(&fake, STR("/w/src"), NODE_DIR);
	fake_world_add(&fake, STR("/tmp"), NODE_DIR);
	fake_world_add(&fake, STR("/home/u/.claude"), NODE_DIR);
	memset(&caps, 0, sizeof(caps));
	caps.value[CAP_SANDBOX_EXEC] = 1;
	memset(&input, 0, sizeof(input));
	buf_init(&text, SEATBELT_BYTES_MAX);
}

static void teardown(void)
{
	buf_free(&text);
	fixture_teardown();
}

/* For a test that goes round often. */
static void again(void)
{
	teardown();
	setup();
}

TestSuite(seatbelt, .init = setup, .fini = teardown);

static const struct plan *compiled(enum fallback fallback)
{
	const struct backend *b;
	struct plan *plan = NULL;

	memset(&err, 0, sizeof(err));
	input.policy = built();
	input.world = &fake.world;
	input.sockets_known = true;
	if (backend_choose(&a, &input, &caps, STR("seatbelt"), fallback, &b, &plan, &err) < 0)
		return NULL;
	return plan;
}

static void write_text(const struct plan *plan)
{
	const struct places *places = &plan->policy->places;
	struct sbpl_params params = { places->workdir, places->home, STR(TMPDIR_VALUE) };
	const char *fault;

	buf_clear(&text);
	cr_assert_eq(seatbelt_profile(&a, plan, &text, &err), 0, "%s", err.message);
	profile = sbpl_read(&a, buf_str(&text), &params, &fault);
	cr_assert(profile, "%s in:\n%s", fault, text.p);
}

static void render(const char *name)
{
	const struct plan *plan;

	in.profile = name;
	plan = compiled(FALLBACK_DEGRADE);
	cr_assert(plan, "%s", err.message);
	write_text(plan);
}

static bool reads(const char *path)
{
	return sbpl_allows(profile, "file-read-data", str_of(path));
}

static bool writes(const char *path)
{
	return sbpl_allows(profile, "file-write-data", str_of(path));
}

static bool executes(const char *path)
{
	return sbpl_allows(profile, "process-exec*", str_of(path)) &&
	       sbpl_allows(profile, "file-map-executable", str_of(path));
}

static size_t at(const char *needle)
{
	const char *p = strstr(text.p, needle);

	cr_assert(p, "'%s' is not in:\n%s", needle, text.p);
	return (size_t)(p - text.p);
}

/* --- the three shapes ----------------------------------------------------------------- */

/* R0.7: a component, what it may read and write, nothing else. */
Test(seatbelt, the_shape_of_a_component)
{
	fake_world_add(&fake, STR("/skills/x.wasm"), NODE_FILE);
	fake_world_add(&fake, STR("/skills/x.wasm.key"), NODE_FILE);
	fake_world_add(&fake, STR("/data/in"), NODE_DIR);
	fake_world_add(&fake, STR("/data/out"), NODE_DIR);
	fake_world_add(&fake, STR("/usr/libexec/cordon-wasm"), NODE_FILE);
	with_flag("--allow-read", "=/skills/x.wasm");
	with_flag("--allow-read", "/data/in");
	with_flag("--allow-write", "/data/out");
	with_flag("--allow-exec", "/usr/libexec/cordon-wasm");
	with_flag("--allow-read", "/usr/libexec/cordon-wasm");
	render("custom");
	cr_expect_lt(at("(version 1)"), at("(deny default)"));
	cr_expect_lt(at("(deny default)"), at("(allow process-fork)"));
	cr_expect(sbpl_allows_all(profile, "process-fork"));
	cr_expect(sbpl_allows_all(profile, "sysctl-read"));
	at("(allow mach-lookup (global-name ");
	cr_expect_not(sbpl_allows_all(profile, "mach-lookup"), "only what is listed");
	cr_expect(executes("/usr/libexec/cordon-wasm"));
	cr_expect_not(executes("/data/out/x"));
	cr_expect(reads("/usr/lib/libSystem.dylib"));
	cr_expect(reads("/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"));
	cr_expect(reads("/skills/x.wasm"));
	cr_expect_not(reads("/skills/x.wasm.key"));
	cr_expect_not(reads("/skills"));
	cr_expect_not(writes("/skills/x.wasm"));
	cr_expect(reads("/data/in/deep/down") && !writes("/data/in/deep/down"));
	cr_expect(reads("/data/out/x") && writes("/data/out/x"));
	cr_expect(writes(TMPDIR_VALUE "/x") && !writes("/tmp/x"));
	cr_expect_not(reads("/w/src") || reads("/home/u/notes") || reads("/etc/passwd"));
	cr_expect_not(sbpl_allows_all(profile, "network-outbound"));
	cr_expect_null(strstr(text.p, "network"));
}

Test(seatbelt, a_component_with_a_network)
{
	with_flag("--allow-network", "on");
	render("custom");
	at("(deny default)");
	cr_expect(sbpl_allows_all(profile, "network-outbound"));
}

/* R1.2: the text has neither place in it, and serves for any. */
Test(seatbelt, the_shape_of_run_shell_has_two_parameters)
{
	struct sbpl_params other = { STR("/Users/me/p"), STR("/Users/me"), { 0 } };
	const char *fault;

	in.places.workdir = in.places.data = STR("/here/project");
	in.places.home = STR("/here/home");
	in.places.cordon_home = STR("/here/home/.cordon");
	fake_world_add(&fake, STR("/here/project"), NODE_DIR);
	fake_world_add(&fake, STR("/here/home"), NODE_DIR);
	render("shell");
	cr_expect_null(strstr(text.p, "/here"), "%s", text.p);
	at("(param \"WORKDIR\")");
	at("(param \"HOME\")");
	profile = sbpl_read(&a, buf_str(&text), &other, &fault);
	cr_assert(profile, "%s", fault);
	cr_expect(writes("/Users/me/p/x") && !writes("/Users/me/p/.x"));
	cr_expect_not(reads("/Users/me/notes") || reads("/Users/me/.ssh/id"));
	/* TMPDIR was not given. */
	cr_expect_not(writes(TMPDIR_VALUE "/x"));
	/* A secret stays closed even if WORKDIR is what holds it. */
	other.workdir = other.home;
	profile = sbpl_read(&a, buf_str(&text), &other, &fault);
	cr_assert(profile, "%s", fault);
	cr_expect(reads("/Users/me/notes") && !reads("/Users/me/.ssh/id"));
}

Test(seatbelt, the_shape_of_run_shell)
{
	static const char *const closed[] = { ".ssh/id_rsa", ".aws/credentials", ".config/gh/hosts",
					      ".bashrc", ".zshrc" };

	render("shell");
	at("(deny default)");
	/* R1.3 */
	cr_expect(reads("/w/x") && reads("/w/.hidden/x"));
	cr_expect(reads("/usr/bin/env") && reads("/usr/lib/x") && reads("/bin/sh") &&
		  reads("/lib/x"));
	cr_expect(writes("/w/x") && writes("/w/a/b/x"));
	cr_expect_not(writes("/w/.x") || writes("/w/a/.b/c") || writes("/w/a/b/.c"));
	cr_expect(executes("/usr/bin/env") && executes("/bin/sh"));
	cr_expect_not(executes("/w/x") || executes("/opt/x") || executes(TMPDIR_VALUE "/x"));
	for (const char *const *s = (const char *const[]){ "/dev/stdin", "/dev/stdout",
							   "/dev/stderr", "/dev/null", NULL };
	     *s; s++)
		cr_expect(writes(*s) && reads(*s), "%s", *s);
	/* R1.4, and said in so many words */
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
		const char *path = arena_printf(&a, "/home/u/%s", closed[i]);

		cr_expect_not(reads(path) || writes(path) || executes(path), "%s", path);
	}
	at("(deny file-read* file-write* process-exec* file-map-executable (subpath "
	   "(string-append (param \"HOME\") \"/.ssh\")))");
	/* R1.5 */
	cr_expect_null(strstr(text.p, "network"));
	cr_expect_not(writes("/usr/bin/x") || writes("/etc/x") || writes("/System/x"));
}

Test(seatbelt, run_shell_with_a_network)
{
	with_flag("--allow-network", "on");
	render("shell");
	cr_expect(sbpl_allows_all(profile, "network-outbound"));
	cr_expect_not(reads("/home/u/.ssh/id"));
}

/* R2.3, R2.4 */
Test(seatbelt, the_shape_of_a_provider)
{
	static const char *const writable[] = { "/data/x",
						"/data/a/b/.c",
						"/tmp/x",
						"/private/tmp/x",
						"/private/var/folders/ab/x",
						"/home/u/.claude/projects/x" };

	in.places.data = STR("/data");
	fake_world_add(&fake, STR("/data"), NODE_DIR);
	with_flag("--mode", "sandbox");
	render(NULL);
	cr_expect_lt(at("(version 1)"), at("(allow default)"));
	cr_expect_lt(at("(allow default)"), at("(deny file-write*)"));
	cr_expect_lt(at("(deny file-write*)"), at("(allow file-write* "));
	cr_expect_null(strstr(text.p, "(deny default)"));
	for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++)
		cr_expect(writes(writable[i]), "%s", writable[i]);
	cr_expect_not(writes("/w/x") || writes("/home/u/x") || writes("/etc/x") ||
		      writes("/datax"));
	cr_expect_not(writes("/home/u/.claude/settings.json"));
	cr_expect(reads("/home/u/.ssh/id") && reads("/etc/passwd") && executes("/opt/x"));
	cr_expect(sbpl_allows_all(profile, "network-outbound"));
	/* Otherwise a program started for it would write anywhere. */
	cr_expect_not(sbpl_allows_all(profile, "lsopen"));
	cr_expect_not(sbpl_allows_all(profile, "file-link"));
}

/* --- rules ---------------------------------------------------------------------------- */

Test(seatbelt, what_is_protected_cannot_be_moved_along)
{
	fake_world_add(&fake, STR("/w/a/b/private"), NODE_DIR);
	with_flag("--deny", "a/b/private");
	render("moderate");
	cr_expect(writes("/w/a/b/x") && !writes("/w/a/b/private/x") && !reads("/w/a/b/private"));
	for (const char *const *s =
		     (const char *const[]){ "/w", "/w/a", "/w/a/b", "/w/.git", NULL };
	     *s; s++) {
		cr_expect_not(sbpl_allows(profile, "file-write-unlink", str_of(*s)), "%s", *s);
		cr_expect_not(sbpl_allows(profile, "file-write-create", str_of(*s)), "%s", *s);
	}
	cr_expect(sbpl_allows(profile, "file-write-unlink", STR("/w/a/other")));
	cr_expect(sbpl_allows(profile, "file-write-create", STR("/w/c")));
}

Test(seatbelt, a_deeper_rule_gives_back_what_is_hidden)
{
	fake_world_add(&fake, STR("/w/.cache/own"), NODE_DIR);
	with_flag("--hidden-writes", "deny");
	with_flag("--allow-write", ".cache/own");
	render("moderate");
	cr_expect(writes("/w/.cache/own/x") && !writes("/w/.cache/own/.x"));
	cr_expect_not(writes("/w/.cache/x") || writes("/w/.x"));
}

Test(seatbelt, git_goes_on_writing_its_data)
{
	in.places.git_dir = STR("/w/.git");
	fake_world_add(&fake, STR("/w/.git/objects"), NODE_DIR);
	with_flag("--hidden-writes", "git");
	render("moderate");
	cr_expect(writes("/w/.git/objects/ab/cd") && writes("/w/.git/index.lock"));
	cr_expect(writes("/w/.git/HEAD") && writes("/w/.git/refs/heads/x"));
	cr_expect_not(writes("/w/.git/hooks/x") || writes("/w/.git/config") || writes("/w/.x"));
}

Test(seatbelt, patterns)
{
	with_flag("--protect", "exact");
	with_flag("--deny", "**/.env");
	with_flag("--deny", "keys/*.p[ek]m");
	with_flag("--deny", "odd/x[]a].?");
	with_flag("--allow-read", "**/*.lock");
	render("moderate");
	cr_expect_not(reads("/w/.env") || reads("/w/a/b/.env") || reads("/w/a/.env/x"));
	cr_expect(reads("/w/.envx") && reads("/w/x.env"));
	cr_expect_not(reads("/w/keys/a.pem") || reads("/w/keys/.pkm"));
	cr_expect(reads("/w/keys/a.pxm") && reads("/w/keys/a/b.pem") && reads("/w/keysx/a.pem"));
	cr_expect_not(reads("/w/odd/x].q") || reads("/w/odd/xa.q"));
	cr_expect(reads("/w/a.lock") && !writes("/w/a.lock") && writes("/w/a.lockx"));
}

/* --- network -------------------------------------------------------------------------- */

Test(seatbelt, of_hosts_only_a_port_of_localhost_can_be_said)
{
	with_flag("--share-pid", "true");
	with_flag("--allow-network", "localhost:8080");
	in.profile = "moderate";
	cr_assert(compiled(FALLBACK_ERROR), "%s", err.message);
	render("moderate");
	at("(allow network-outbound (remote ip \"localhost:8080\"))");
	cr_expect_not(sbpl_allows_all(profile, "network-outbound"));

	with_flag("--allow-network", "api.example.com:443");
	cr_expect_null(compiled(FALLBACK_ERROR));
	cr_expect_eq(err.code, CORDON_E_UNAVAILABLE);
	cr_expect(strstr(err.message, "network"), "%s", err.message);
	/* Losses accepted, it is closed rather than open. */
	render("moderate");
	cr_expect_null(strstr(text.p, "example"));
	at("; MISSING: network (no net-host)");
}

Test(seatbelt, an_address_is_not_localhost)
{
	with_flag("--allow-network", "127.0.0.1:8080");
	render("moderate");
	cr_expect_null(strstr(text.p, "network-outbound"));
	at("; MISSING: network");
}

Test(seatbelt, only_listed_ports_are_listened_on)
{
	with_flag("--allow-network", "on");
	with_flag("--allow-bind", "8080");
	render("permissive");
	at("(deny default)");
	at("(allow network-bind network-inbound (local ip \"*:8080\"))");
	cr_expect(sbpl_allows_all(profile, "network-outbound"));
	cr_expect_not(sbpl_allows_all(profile, "network-bind"));
}

Test(seatbelt, a_socket_that_is_named)
{
	fake_world_add(&fake, STR("/srv/a\"b.sock"), NODE_SOCKET);
	with_flag("--allow-unix", "/srv/a\"b.sock");
	render("moderate");
	at("(allow network-outbound (literal \"/srv/a\\\"b.sock\"))");
}

/* --- choice and launch ---------------------------------------------------------------- */

/* R2.6 */
Test(seatbelt, without_sandbox_exec_the_fallback_decides)
{
	struct plan *plan;
	const struct backend *b;

	caps.value[CAP_SANDBOX_EXEC] = 0;
	in.profile = "agent";
	cr_expect_null(compiled(FALLBACK_ERROR));
	cr_expect_eq(err.code, CORDON_E_UNAVAILABLE);
	cr_expect(strstr(err.message, "sandbox-exec"), "%s", err.message);
	cr_expect_null(compiled(FALLBACK_DEGRADE));
	cr_assert_eq(backend_choose(&a, &input, &caps, STR("seatbelt"), FALLBACK_PASSTHROUGH, &b,
				    &plan, &err),
		     0);
	cr_expect_str_eq(b->name, "passthrough");
	cr_expect_not(plan->enforced[GUARANTEE_FILES]);
}

Test(seatbelt, what_it_cannot_do_is_declared)
{
	const struct plan *plan;

	in.profile = "shell";
	cr_expect_null(compiled(FALLBACK_ERROR), "other processes are in sight");
	plan = compiled(FALLBACK_DEGRADE);
	cr_assert(plan);
	cr_expect_not(plan->enforced[GUARANTEE_PROCESSES]);
	cr_expect_not(plan->enforced[GUARANTEE_HIDDEN] || plan->enforced[GUARANTEE_EXACT] ||
		      plan->enforced[GUARANTEE_SURVIVORS] || plan->enforced[GUARANTEE_REPORT]);
	cr_expect(plan->enforced[GUARANTEE_FILES] && plan->enforced[GUARANTEE_NETWORK] &&
		  plan->enforced[GUARANTEE_EXEC] && plan->enforced[GUARANTEE_METADATA]);
	with_flag("--share-pid", "true");
	cr_expect_null(compiled(FALLBACK_ERROR), "nothing is carried out on behalf");
	cr_expect(strstr(err.message, "'exact'"), "%s", err.message);
	with_flag("--protect", "guard");
	cr_expect(compiled(FALLBACK_ERROR), "%s", err.message);
}

Test(seatbelt, patterns_that_hide_are_refused_unless_losses_are_accepted)
{
	with_flag("--share-pid", "true");
	with_flag("--protect", "exact");
	with_flag("--deny", "**/.env");
	in.profile = "moderate";
	cr_expect_null(compiled(FALLBACK_ERROR));
	cr_expect(strstr(err.hint, "name the paths"), "%s", err.hint);
}

/* R1.7: places and command are data. */
Test(seatbelt, the_launch)
{
	static char *const argv[] = { (char *)"sh", (char *)"-c",
				      (char *)"echo \"(allow default)\"", NULL };
	static const char *const env[] = { "A=1", "TMPDIR=/nowhere", NULL };
	struct launch_input launched = { .caps = &caps, .program = "/bin/sh", .argv = argv };
	struct launch launch;
	size_t n = 0;

	in.places.workdir = in.places.data = STR("/w\")(allow default)(\"");
	fake_world_add(&fake, in.places.workdir, NODE_DIR);
	in.profile = "agent";
	input.environ = env;
	launched.plan = compiled(FALLBACK_DEGRADE);
	cr_assert(launched.plan, "%s", err.message);
	cr_assert_eq(seatbelt_backend.prepare(&a, &launched, &launch, &err), 0, "%s", err.message);
	cr_expect_str_eq(launch.program, "/usr/bin/sandbox-exec");
	cr_expect_str_eq(launch.argv[1], "-DWORKDIR=/w\")(allow default)(\"");
	cr_expect_str_eq(launch.argv[2], "-DHOME=/home/u");
	cr_expect_str_eq(launch.argv[3], "-p");
	write_text(launched.plan);
	cr_expect_str_eq(launch.argv[4], text.p);
	cr_expect_str_eq(launch.argv[5], "/bin/sh");
	cr_expect_str_eq(launch.argv[6], "-c");
	cr_expect_str_eq(launch.argv[7], "echo \"(allow default)\"");
	cr_expect_null(launch.argv[8]);
	cr_expect_str_eq(launch.cwd, "/w\")(allow default)(\"");
	while (launch.envp[n])
		n++;
	cr_expect_eq(n, 3, "the variables of the plan and CORDON_INSIDE");
	launch_close(&launch);
}

/* --- the text says what policy_decide says --------------------------------------------- */

static bool is_below_any(struct str path, const char *const *trees)
{
	for (; *trees; trees++)
		if (path_below(path, str_of(*trees)))
			return true;
	return false;
}

/* What programs do not start without is there whatever the policy says. */
static bool is_given(struct str path)
{
	static const char *const trees[] = { "/usr/lib", "/usr/share", "/System", "/Library",
					     "/private", "/dev",       NULL };

	return path.n == 1 || is_below_any(path, trees);
}

static bool has_patterns(const struct ruleset *rules)
{
	for (size_t i = 0; i < ruleset_count(rules); i++)
		if (ruleset_at(rules, i)->kind == RULE_GLOB)
			return true;
	return false;
}

static bool may_be_stricter(const struct policy *policy, const struct decision *d)
{
	bool stricter = has_patterns(policy->trusted.rules);

	vec_each(o, &policy->narrowing)
		stricter |= has_patterns((*o)->settings.rules);
	return stricter || (d->trusted_rule && d->trusted_rule->flags & RULE_PRIVATE);
}

/* Never more than the policy, and less only where said. Returns whether it was the same. */
static bool compare(const struct policy *policy, struct str object)
{
	struct decision d = policy_decide(policy, object);
	bool read = sbpl_allows(profile, "file-read-data", object);
	bool write = sbpl_allows(profile, "file-write-data", object);
	bool exec = sbpl_allows(profile, "process-exec*", object);
	bool wider = (read && d.data < ACCESS_READ) || (write && d.data < ACCESS_WRITE) ||
		     (exec && !d.exec);
	bool narrower = (!read && d.data >= ACCESS_READ) || (!write && d.data == ACCESS_WRITE) ||
			(!exec && d.exec);

	if (is_given(object))
		return false;
	cr_assert_not(wider, "%.*s: %d%d%d, the policy %d %d\n%s", STR_ARG(object), read, write,
		      exec, d.data, d.exec, text.p);
	cr_assert(!narrower || may_be_stricter(policy, &d), "%.*s: %d%d%d, the policy %d %d\n%s",
		  STR_ARG(object), read, write, exec, d.data, d.exec, text.p);
	return !narrower;
}

/* A plan with nothing but what the text of files depends on, so that rules on what does
 * not exist are tried, too. */
static void write_bare(const struct policy *policy)
{
	struct op op = { .kind = OP_UNSHARE_NET };
	struct plan plan = { .policy = policy, .backend = "seatbelt" };

	if (policy_net_mode(policy) != NET_ON) {
		plan.ops.at = &op;
		plan.ops.n = 1;
	}
	write_text(&plan);
}

static size_t compare_table(const char *path)
{
	struct str source;
	struct table t;
	size_t same = 0;

	cr_assert_eq(fd_read_file(&a, path, 1 << 20, &source, &err), 0, "%s", err.message);
	cr_assert_eq(table_read(&a, source, path, &t, &err), 0, "%s", err.message);
	cr_assert_eq(table_build(&t, &builtin, &err), 0, "%s", err.message);
	vec_each(p, &t.policies) {
		if (!(*p)->policy->confined || (*p)->policy->folding.n)
			continue;
		write_bare((*p)->policy);
		vec_each(row, &t.rows)
			if (row->kind == ROW_PATH)
				same += compare((*p)->policy, row->object);
	}
	return same;
}

Test(seatbelt, every_row_of_the_truth_tables, .timeout = 120)
{
	size_t same = 0;
	glob_t found;

	cr_assert_eq(glob(TESTS_DIR "/table/*.t", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		/* Another language, for commands that are run. */
		if (!strstr(found.gl_pathv[i], "/live.t"))
			same += compare_table(found.gl_pathv[i]);
	globfree(&found);
	cr_expect_gt(same, 5000, "%zu", same);
}

/* --- random rules and hostile names ---------------------------------------------------- */

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t roll(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 16) % n);
}

static const char *const plain_names[] = { "a", "b", ".c", "ab", "x.k", ".ssh" };

static const char *random_path(const char *const *names, uint32_t n_names)
{
	static const char *const roots[] = { "", "/w", "/w/a", "/home/u", "/home/u/.ssh" };
	const char *path = roots[roll(5)];

	for (uint32_t n = roll(4); n; n--)
		path = arena_printf(&a, "%s/%s", path, names[roll(n_names)]);
	return *path ? path : "/";
}

static void random_rules(const char *const *names, uint32_t n_names)
{
	static const char *const flags_of[] = { "--allow-read", "--allow-write", "--allow-exec",
						"--deny" };

	for (uint32_t n = 1 + roll(8); n; n--) {
		const char *path = random_path(names, n_names);
		autobuf struct buf quoted = buf_make(8192);
		struct str rest = str_of(path);

		if (roll(6) == 0)
			buf_addc(&quoted, '=');
		/* Patterns are another test's. */
		for (size_t i = 0; i < rest.n; i++) {
			if (strchr("*?[\\{}", rest.p[i]))
				buf_addc(&quoted, '\\');
			buf_addc(&quoted, rest.p[i]);
		}
		with_flag(flags_of[roll(4)], arena_dup(&a, buf_str(&quoted)));
	}
	if (roll(3) == 0)
		with_flag("--hidden-writes", roll(2) ? "deny" : "git");
}

Test(seatbelt, random_rules_mean_the_same, .timeout = 120)
{
	static const char *const profiles[] = { "custom",     "moderate", "strict",
						"permissive", "shell",	  "agent" };

	for (unsigned i = 0; i < 300; i++) {
		const struct policy *policy;

		again();
		in.profile = profiles[roll(6)];
		random_rules(plain_names, 6);
		policy = built();
		write_bare(policy);
		for (unsigned j = 0; j < 40; j++)
			compare(policy, str_of(random_path(plain_names, 6)));
	}
}

/* Names that would end a string, a list, a comment or a line, begin an escape or a
 * pattern, or are no text at all. */
static const char *hostile_name(void)
{
	static const char *const words[] = {
		"\"",
		"\\",
		"(",
		")",
		"\n",
		"\r",
		"\t",
		";",
		"#",
		"\x01",
		"\x7f",
		"\xff",
		"\xc3\xa9",
		"\xc3",
		"\xe2\x80\xae",
		"\"))(allow default)(\"",
		"\\\"",
		"\\x41",
		"#|",
		"|#",
		".",
		"^",
		"$",
		"*",
		"+",
		"?",
		"[",
		"]",
		"{1}",
		"|",
		" ",
		"(param \"HOME\")",
		"%s",
		"\x1b[2J",
		"'",
		"`",
		"a",
		"\xf0\x9f\x92\xa3",
		"\\n",
		"\n(allow default)\n",
		"..a",
		"-",
		"=",
	};
	autobuf struct buf b = buf_make(4096);

	for (uint32_t n = 1 + roll(5); n; n--)
		buf_adds(&b, words[roll(sizeof(words) / sizeof(words[0]))]);
	if (str_eq(buf_str(&b), STR(".")) || str_eq(buf_str(&b), STR("..")))
		buf_addc(&b, 'a');
	return arena_dup(&a, buf_str(&b));
}

/* The statement of a path with this name, through the same quoting as a user would. */
static void with_path(const char *flag, const char *path)
{
	autobuf struct buf quoted = buf_make(8192);

	for (const char *p = path; *p; p++) {
		if (strchr("*?[\\{}", *p))
			buf_addc(&quoted, '\\');
		buf_addc(&quoted, *p);
	}
	with_flag(flag, arena_dup(&a, buf_str(&quoted)));
}

Test(seatbelt, two_hundred_hostile_paths, .timeout = 120)
{
	static const char *const profiles[] = { "moderate", "shell", "agent" };
	static const char *const plain[] = { "/plain1", "/plain2", "/plain3", "/plain4" };

	for (unsigned i = 0; i < 200; i++) {
		const char *path[4];
		size_t forms[2];

		again();
		in.profile = profiles[i % 3];
		for (unsigned pass = 0; pass < 2; pass++) {
			const struct policy *policy;
			const char *own;

			for (unsigned j = 0; j < 4; j++)
				path[j] = pass ? plain[j]
					       : arena_printf(&a, "/%u%s", j, hostile_name());
			memset(&flags, 0, sizeof(flags));
			in.places.workdir = in.places.data = str_of(path[0]);
			in.places.home = str_of(path[1]);
			in.places.cordon_home = str_of(arena_printf(&a, "%s/.cordon", path[1]));
			with_path("--deny", arena_printf(&a, "%s/x%s", path[0], path[2]));
			with_path("--allow-write", path[2]);
			/* Hidden names below it are a pattern that begins with it. */
			own = arena_printf(&a, "%s/.h%s", path[0], path[3]);
			with_path("--allow-write", own);
			with_path("--allow-read", path[3]);
			policy = built();
			write_bare(policy);
			forms[pass] = sbpl_count(profile);
			compare(policy, str_of(arena_printf(&a, "%s/x", own)));
			compare(policy, str_of(arena_printf(&a, "%s/x/.y", own)));
			for (unsigned j = 0; j < 4; j++) {
				const char *below = arena_printf(&a, "%s/deep", path[j]);
				const char *beside = arena_printf(&a, "%sx", path[j]);

				compare(policy, str_of(path[j]));
				compare(policy, str_of(below));
				compare(policy, str_of(beside));
				compare(policy,
					str_of(arena_printf(&a, "%s/x%s", path[0], path[j])));
			}
		}
		/* The text is as long as with harmless names: nothing was let in. */
		cr_expect_eq(forms[0], forms[1], "%s", text.p);
	}
}

Test(seatbelt, the_reader_finds_what_is_wrong)
{
	static const char *const bad[] = {
		"",
		"(version 1)(allow default",
		"(version 1)(allow default))",
		"(version 1)(allow file-read* (subpath \"/a\\q\"))",
		"(version 1)(allow file-read* (subpath \"/a))",
		"(version 1)(allow file-read* (subpath \"/a\n\"))",
		"(version 1)(allow everything)",
		"(version 1)(allow file-read* (pathlike \"/a\"))",
		"(version 1)(import \"x\")",
		"(version 1)(allow file-read* (regex \"^(\"))",
		"(allow default)(version 1)",
	};
	struct sbpl_params params = { STR("/w"), STR("/h"), { 0 } };
	const char *fault;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_null(sbpl_read(&a, str_of(bad[i]), &params, &fault), "%s", bad[i]);
}

Test(seatbelt, too_much_text_is_an_error)
{
	const struct plan *plan;
	struct buf small = buf_make(1000);

	in.profile = "shell";
	plan = compiled(FALLBACK_DEGRADE);
	cr_assert_eq(seatbelt_profile(&a, plan, &small, &err), -CORDON_E_LIMIT);
	cr_expect(err.hint[0]);
	buf_free(&small);
}
