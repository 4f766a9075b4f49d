/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy/policy.h"
#include "policy_fixture.h"

/* One set of inputs; the tests fill in what they are about. */
static struct config configs[SOURCE_PROJECT + 1];

static void setup(void)
{
	struct fake_entry *loop;

	fixture_setup();
	loop = fake_world_add(&fake, STR("/w/loop"), NODE_SYMLINK);
	loop->target = STR("loop");
}

TestSuite(policy, .init = setup, .fini = fixture_teardown);

static void with(enum source source, const char *text)
{
	const char *file = arena_printf(&a, "%s.toml", source_to_string(source));
	int r = config_parse(&a, str_of(text), file, source, &configs[source], &err);

	cr_assert_eq(r, 0, "%s", err.message);
	if (source == SOURCE_SYSTEM)
		in.system = &configs[source];
	else if (source == SOURCE_USER)
		in.user = &configs[source];
	else
		in.project = &configs[source];
}

static void refused(enum cordon_code code, const char *message)
{
	struct policy *p = NULL;

	cr_assert_eq(policy_build(&a, &in, &p, &err), -(int)code, "%s", err.message);
	cr_assert_str_eq(err.message, message, "%s", err.message);
	cr_assert_null(p);
}

/* --- choosing the profile ------------------------------------------------------------ */

Test(policy, unknown_profile)
{
	in.profile = "modrate";
	refused(CORDON_E_CONFIG, "there is no profile 'modrate'");
	cr_assert_str_eq(err.hint, "did you mean 'moderate'?");
	in.profile = "\x1b[2J";
	refused(CORDON_E_CONFIG, "there is no profile '\\x1b[2J'");
	cr_assert_str_eq(err.hint, "'cordon profile list' shows what there is");
	in.profile = NULL;
	with(SOURCE_USER, "[sandbox]\n\ndefault_profile = \"x9\"\n");
	refused(CORDON_E_CONFIG, "user.toml:3:19: there is no profile 'x9'");
	in.user = NULL;
	in.profile = "p";
	with(SOURCE_USER, "[sandbox.profiles.p]\nextends = \"nope\"\n");
	refused(CORDON_E_CONFIG, "user.toml:2:11: there is no profile 'nope'");
}

Test(policy, extends_cycle)
{
	in.profile = "a";
	with(SOURCE_USER, "[sandbox.profiles.a]\nextends = \"b\"\n"
			  "[sandbox.profiles.b]\nextends = \"a\"\n");
	refused(CORDON_E_CONFIG,
		"user.toml:2:11: profiles extend each other more than 8 times (a cycle through "
		"'b'?)");
	with(SOURCE_USER, "[sandbox.profiles.a]\nextends = \"a\"\n");
	refused(CORDON_E_CONFIG, "user.toml:2:11: profile 'a' extends itself");
	in.profile = "strict";
	with(SOURCE_USER, "[sandbox.profiles.strict]\nextends = \"strict\"\ntmp = \"shared\"\n");
	cr_assert_eq(policy_number(built(), KEY_TMP), TMP_SHARED, "amending is no cycle");
}

Test(policy, mode_and_profile)
{
	with_flag("--mode", "rx");
	cr_assert_str_eq(built()->profile, "agent");
	in.profile = "strict";
	refused(CORDON_E_USAGE, "--mode and --profile both choose a profile; give one of them");
}

Test(policy, mode_in_a_file)
{
	with(SOURCE_USER, "[sandbox]\nmode = \"rwx\"\n");
	cr_assert(built()->confined, "only --mode lifts the boundary");
	cr_assert_str_eq(built()->profile, "moderate");
	cr_assert_eq(policy_number(built(), KEY_MODE), MODE_RWX);
	with_flag("--mode", "rwx");
	cr_assert_not(built()->confined);
	cr_assert_str_eq(built()->unconfined_reason, "mode rwx");
}

Test(policy, unconfined)
{
	cr_assert(built()->confined);
	cr_assert_str_eq(built()->profile, "moderate");
	in.no_sandbox = true;
	cr_assert_str_eq(built()->unconfined_reason, "--no-sandbox");
	in.no_sandbox = false;
	with(SOURCE_SYSTEM, "[sandbox]\nenabled = false\n");
	cr_assert_str_eq(built()->unconfined_reason, "enabled = false");
	with(SOURCE_USER, "[sandbox]\nenabled = true\n");
	cr_assert(built()->confined);
}

/* --- paths --------------------------------------------------------------------------- */

Test(policy, bad_paths)
{
	static const struct {
		const char *path, *message;
	} rows[] = {
		{ "@secret", "user.toml:2:9: path '@secret': there is no such set" },
		{ "{hme}/x", "user.toml:2:9: path '{hme}/x': unknown placeholder" },
		{ "{home", "user.toml:2:9: path '{home': a '{' without its '}'" },
		{ "/a/[b", "user.toml:2:9: path '/a/[b': a '[' without its ']'" },
		{ "/a/b\\\\", "user.toml:2:9: path '/a/b\\\\': a backslash with nothing after it" },
		{ "/a/\\\\x0", "user.toml:2:9: path '/a/\\\\x0': \\x takes two hexadecimal digits, "
			       "not both 0" },
		{ "/a/\\\\x00*", "user.toml:2:9: path '/a/\\\\x00*': \\x takes two hexadecimal "
				 "digits, not both 0" },
		{ "/a/x**", "user.toml:2:9: path '/a/x**': '**' must be a whole component" },
		{ "../*", "user.toml:2:9: path '../*': a glob cannot hold '.' or '..'" },
		{ "=/a*", "user.toml:2:9: path '=/a*': '=' and a glob do not go together" },
		{ "=", "user.toml:2:9: path '=': empty" },
		{ "loop/x", "user.toml:2:9: /w/loop/x: Too many levels of symbolic links" },
		{ "loop/*", "user.toml:2:9: /w/loop: Too many levels of symbolic links" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		with(SOURCE_USER, arena_printf(&a, "[sandbox]\ndeny = [\"%s\"]\n", rows[i].path));
		refused(CORDON_E_PATH, rows[i].message);
	}
}

Test(policy, hints_for_paths)
{
	with_flag("--deny", "{hom}/x");
	refused(CORDON_E_PATH, "--deny: path '{hom}/x': unknown placeholder");
	cr_assert_str_eq(err.hint, "did you mean {home}?");
	memset(&flags, 0, sizeof(flags));
	with_flag("--deny", "@secret");
	refused(CORDON_E_PATH, "--deny: path '@secret': there is no such set");
	cr_assert_str_eq(err.hint, "did you mean @secrets? A file whose name starts with @ is "
				   "./@...");
}

Test(policy, long_path)
{
	char path[5000];

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	with_flag("--deny", path);
	refused(CORDON_E_PATH, "--deny: path '/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...': longer than a "
			       "path can be");
}

Test(policy, unknown_place_is_an_error)
{
	in.places.home = STR("");
	in.profile = "custom";
	with_flag("--deny", "~/.ssh");
	refused(CORDON_E_PATH,
		"--deny: path '~/.ssh': it refers to a place that is not known here");
	memset(&flags, 0, sizeof(flags));
	with_flag("--deny", "{gitdir}/hooks");
	cr_assert_eq(policy_decide(built(), STR("/hooks")).data_rule, NULL,
		     "no git directory: no rule");
}

Test(policy, too_many_rules)
{
	autobuf struct buf b = buf_make(1 << 20);

	in.profile = "custom";
	for (int list = 0; list < 3; list++) {
		static const char *const keys[] = { "read", "write", "deny" };

		buf_addf(&b, "%s%s = [", list ? "" : "[sandbox]\n", keys[list]);
		for (int i = 0; i < 7000; i++)
			buf_addf(&b, "\"/%d/%d\",", list, i);
		buf_adds(&b, "]\n");
	}
	with(SOURCE_USER, b.p);
	cr_assert_eq(policy_build(&a, &in, &(struct policy *){ NULL }, &err), -CORDON_E_LIMIT);
	cr_assert_eq(strncmp(err.message, "user.toml:4:", 12), 0, "%s", err.message);
	cr_assert_not_null(strstr(err.message, ": more than 20000 rules"));
}

Test(policy, too_many_globs)
{
	autobuf struct buf b = buf_make(1 << 20);

	buf_adds(&b, "[sandbox]\ndeny = [\n");
	for (int i = 0; i < 600; i++)
		buf_addf(&b, "\"*%d\",\n", i);
	buf_adds(&b, "]\n");
	with(SOURCE_PROJECT, b.p);
	refused(CORDON_E_LIMIT, "project.toml:514:1: glob '*511': the globs of one policy have "
				"more than 512 parts together");
}

/* --- scalars -------------------------------------------------------------------------- */

Test(policy, scalars_fold_in_order)
{
	in.profile = "mine";
	with(SOURCE_SYSTEM, "[sandbox]\nreport = \"none\"\ntmp = \"shared\"\nlimits.timeout = 10\n"
			    "[sandbox.profiles.mine]\nextends = \"strict\"\nprotect = \"off\"\n"
			    "limits.procs = 5\nlimits.timeout = 9\n");
	cr_assert_eq(policy_number(built(), KEY_PROTECT), PROTECT_OFF, "profile < system's own");
	cr_assert_eq(policy_number(built(), KEY_TIMEOUT), 10000, "a file's [sandbox] is on top");
	cr_assert_eq(policy_number(built(), KEY_HIDDEN_WRITES), HIDDEN_DENY, "from strict");
	with(SOURCE_USER, "[sandbox]\ntmp = \"private\"\n"
			  "[sandbox.profiles.mine]\nreport = \"all\"\nlimits.procs = \"none\"\n");
	cr_assert_eq(policy_number(built(), KEY_REPORT), REPORT_ALL,
		     "a profile in the user's file is later than the system");
	cr_assert_eq(policy_number(built(), KEY_TMP), TMP_PRIVATE);
	cr_assert_eq(policy_number(built(), KEY_PROCS), 0, "none lifts a limit");
	with_flag("--report", "output");
	with_flag("--procs", "3");
	with_flag("--procs", "4");
	cr_assert_eq(policy_number(built(), KEY_REPORT), REPORT_OUTPUT);
	cr_assert_eq(policy_number(built(), KEY_PROCS), 4, "the last flag counts");
	cr_assert_str_eq(built()->effective[KEY_PROCS].origin.file, "--procs");
}

Test(policy, defaults)
{
	const struct policy *p = built();

	cr_assert_eq(policy_number(p, KEY_ENABLED), 1);
	cr_assert_eq(policy_number(p, KEY_FALLBACK), FALLBACK_ERROR);
	cr_assert_eq(policy_number(p, KEY_MODE), MODE_SANDBOX);
	cr_assert_eq(policy_number(p, KEY_NEW_SESSION), 1);
	cr_assert_eq(policy_number(p, KEY_SHARE_PID), 0);
	cr_assert_eq(policy_number(p, KEY_OUTPUT), 16 << 20);
	cr_assert_eq(policy_number(p, KEY_TIMEOUT), 0);
	cr_assert_eq(policy_net_mode(p), NET_OFF);
}

Test(policy, profile_table)
{
	static const struct {
		const char *name;
		enum net_mode net;
		enum tmp tmp;
		enum protect protect;
		enum report report;
		enum hidden_writes hidden;
	} rows[] = {
		{ "strict", NET_OFF, TMP_PRIVATE, PROTECT_EXACT, REPORT_ALL, HIDDEN_DENY },
		{ "moderate", NET_OFF, TMP_PRIVATE, PROTECT_GUARD, REPORT_WRITES, HIDDEN_ALLOW },
		{ "permissive", NET_ON, TMP_SHARED, PROTECT_GUARD, REPORT_WRITES, HIDDEN_ALLOW },
		{ "shell", NET_OFF, TMP_PRIVATE, PROTECT_EXACT, REPORT_ALL, HIDDEN_DENY },
		{ "agent", NET_ON, TMP_SHARED, PROTECT_GUARD, REPORT_WRITES, HIDDEN_ALLOW },
		{ "custom", NET_OFF, TMP_PRIVATE, PROTECT_GUARD, REPORT_WRITES, HIDDEN_ALLOW },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct policy *p;

		in.profile = rows[i].name;
		p = built();
		cr_assert_eq(policy_net_mode(p), rows[i].net, "%s", rows[i].name);
		cr_assert_eq(policy_number(p, KEY_TMP), rows[i].tmp, "%s", rows[i].name);
		cr_assert_eq(policy_number(p, KEY_PROTECT), rows[i].protect, "%s", rows[i].name);
		cr_assert_eq(policy_number(p, KEY_REPORT), rows[i].report, "%s", rows[i].name);
		cr_assert_eq(policy_number(p, KEY_HIDDEN_WRITES), rows[i].hidden, "%s",
			     rows[i].name);
		cr_assert_eq(p->warnings.n, 0);
	}
}

/* --- narrowing ------------------------------------------------------------------------ */

Test(policy, project_lowers_nothing)
{
	with(SOURCE_PROJECT, "[sandbox]\nreport = \"output\"\n");
	refused(CORDON_E_CONFIG, "project.toml:2:10: a project file may not lower report from "
				 "\"writes\" to \"output\"");
	with_flag("--report", "none");
	cr_assert_eq(policy_number(built(), KEY_REPORT), REPORT_OUTPUT);
}

Test(policy, stricter_scalar_holds)
{
	const struct policy *p;

	with_flag("--timeout", "60s");
	with_flag("--memory", "1G");
	with_flag("--share-pid", "true");
	with_flag("--keyring", "true");
	with_flag("--tmp", "shared");
	with(SOURCE_PROJECT, "[sandbox]\nlimits = { timeout = \"10m\", memory = \"1M\", cpu = 5, "
			     "files = \"none\", output = \"none\" }\nshare_pid = false\n"
			     "ptrace = false\nnew_session = false\nprotect = \"off\"\n"
			     "tmp = \"private\"\nreport = \"all\"\nhidden_writes = \"deny\"\n");
	p = built();
	cr_assert_eq(policy_number(p, KEY_TIMEOUT), 60000);
	cr_assert_eq(policy_number(p, KEY_MEMORY), 1 << 20);
	cr_assert_eq(policy_number(p, KEY_CPU), 5000);
	cr_assert_eq(policy_number(p, KEY_FILES), 0);
	cr_assert_eq(policy_number(p, KEY_OUTPUT), 16 << 20);
	cr_assert_eq(policy_number(p, KEY_SHARE_PID), 0);
	cr_assert_eq(policy_number(p, KEY_KEYRING), 1);
	cr_assert_eq(policy_number(p, KEY_PTRACE), 0);
	cr_assert_eq(policy_number(p, KEY_NEW_SESSION), 1);
	cr_assert_eq(policy_number(p, KEY_PROTECT), PROTECT_GUARD);
	cr_assert_eq(policy_number(p, KEY_TMP), TMP_PRIVATE);
	cr_assert_eq(policy_number(p, KEY_REPORT), REPORT_ALL);
	cr_assert_eq(policy_number(p, KEY_HIDDEN_WRITES), HIDDEN_DENY);
	cr_assert_eq(p->effective[KEY_MEMORY].origin.source, SOURCE_PROJECT);
	cr_assert_eq(p->trusted.at[KEY_MEMORY].number, 1 << 30);
}

Test(policy, locked_scalars)
{
	with(SOURCE_SYSTEM, "[sandbox.locked]\nlimits.memory = \"1M\"\nprotect = \"exact\"\n"
			    "report = \"all\"\n");
	with_flag("--memory", "none");
	with_flag("--protect", "off");
	with_flag("--report", "none");
	cr_assert_eq(policy_number(built(), KEY_MEMORY), 1 << 20);
	cr_assert_eq(policy_number(built(), KEY_PROTECT), PROTECT_EXACT);
	cr_assert_eq(policy_number(built(), KEY_REPORT), REPORT_ALL);
	cr_assert_eq(built()->effective[KEY_MEMORY].origin.source, SOURCE_LOCKED);
}

static size_t caches(const struct policy *p)
{
	return p->effective_lists[KEY_CACHES].items.n;
}

Test(policy, lists)
{
	const struct policy *p;

	cr_assert_eq(caches(built()), 12);
	with(SOURCE_PROJECT, "[sandbox]\nenv.unset = [\"A*\"]\n");
	with(SOURCE_USER, "[sandbox]\nenv.unset = [\"B\"]\nbind = [80]\n");
	p = built();
	cr_assert_eq(p->effective_lists[KEY_ENV_UNSET].items.n, 2);
	cr_assert_eq(p->effective_lists[KEY_BIND].items.at[0].number, 80);
	in.project = NULL;
	with(SOURCE_USER, "[sandbox]\ncaches = []\n");
	cr_assert_eq(caches(built()), 0);
	with_flag("--caches", "go");
	cr_assert_eq(caches(built()), 1);
}

Test(policy, net_mode)
{
	with_flag("--allow-network", "a.com");
	cr_assert_eq(policy_net_mode(built()), NET_LIST);
	with(SOURCE_PROJECT, "[sandbox]\nnetwork = \"on\"\n");
	cr_assert_eq(policy_net_mode(built()), NET_LIST);
	with(SOURCE_PROJECT, "[sandbox]\nnetwork = []\n");
	cr_assert_eq(policy_net_mode(built()), NET_OFF);
	with(SOURCE_PROJECT, "[sandbox]\nread = []\n");
	cr_assert_eq(policy_net_mode(built()), NET_LIST);
}

/* The hosts that the built policy lists, with blanks between them. */
static const char *listed(void)
{
	static char text[1000];
	struct buf b = buf_make(sizeof(text));
	const struct policy *p = built();

	vec_each(h, &p->hosts) {
		buf_adds(&b, b.n ? " " : "");
		host_print(&b, &h->host);
	}
	snprintf(text, sizeof(text), "%s", b.p ? b.p : "");
	buf_free(&b);
	return text;
}

Test(policy, hosts_are_listed_once)
{
	static const struct {
		const char *list, *kept;
	} rows[] = {
		{ "\"b.com\", \"a.com\", \"B.com.\"", "b.com a.com" },
		{ "\"a.com:80\", \"a.com:443\", \"a.com:80\"", "a.com:80 a.com:443" },
		{ "\"a.com\", \"a.com:80\"", "a.com" },
		{ "\"a.com:80\", \"a.com\", \"a.com:443\"", "a.com:80 a.com" },
		{ "\"*.a.com\", \"a.com\", \"x.a.com\", \"x.y.a.com:1\"", "*.a.com a.com" },
		{ "\"*.a.com\", \"*.y.a.com\", \"*.com.a\", \"xa.com\"", "*.a.com *.com.a xa.com" },
		{ "\"*.y.a.com\", \"*.a.com:1\", \"z.a.com\"", "*.y.a.com *.a.com:1 z.a.com" },
		{ "\"10.0.0.0/8\", \"10.1.1.1\", \"10.0.0.0/9:1\", \"11.0.0.1\"",
		  "10.0.0.0/8 11.0.0.1" },
		{ "\"2001:db8::1\", \"2001:db8:0::1\", \"::/0\", \"1.2.3.4\"",
		  "2001:db8::1 ::/0 1.2.3.4" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[300];

		snprintf(text, sizeof(text), "[sandbox]\nnetwork = [%s]\n", rows[i].list);
		with(SOURCE_USER, text);
		cr_expect_str_eq(listed(), rows[i].kept);
	}
	with(SOURCE_USER, "[sandbox]\nnetwork = [\"*.a.com\", \"b.com:80\", \"d.com\"]\n");
	with(SOURCE_PROJECT,
	     "[sandbox]\nnetwork = [\"x.a.com\", \"b.com\", \"c.com\", \"x.a.com\"]\n");
	cr_expect_str_eq(listed(), "b.com:80 x.a.com", "what both allow");
	in.project = NULL;
	with_flag("--deny-host", "d.com");
	cr_expect_str_eq(listed(), "*.a.com b.com:80");
}

/* --- decisions name their rule ---------------------------------------------------------- */

Test(policy, rule_and_place)
{
	struct decision d;

	with(SOURCE_USER, "[sandbox]\ndeny = [\"/a\",\n \"/b\"]\n");
	cr_assert_not(policy_allows(built(), POLICY_READ, STR("/b/x"), &d));
	cr_assert_eq(d.data_rule->origin.line, 3);
	cr_assert_eq(d.data_rule->origin.column, 2);
	cr_assert_eq(d.data_rule->origin.source, SOURCE_USER);
	cr_assert_str_eq(d.data_rule->origin.file, "user.toml");
}

Test(policy, host_and_place)
{
	struct host_decision d;
	struct host h;

	cr_assert_eq(host_parse_target(STR("x.a.com:1"), &h, &err), 0);
	d = policy_decide_host(built(), &h);
	cr_assert(!d.allowed && d.origin && d.origin->source == SOURCE_PROFILE);
	with(SOURCE_USER, "[sandbox]\nnetwork = [\"*.a.com\"]\n");
	with(SOURCE_PROJECT, "[sandbox]\nnetwork = [\"x.a.com\"]\n");
	d = policy_decide_host(built(), &h);
	cr_assert(d.allowed && d.origin && d.origin->source == SOURCE_USER);
	cr_assert_eq(d.host->host.kind, HOST_SUFFIX, "the pattern that gave it");
}

Test(policy, warnings)
{
	const struct policy *p;

	with_flag("--allow-read", "~/.ssh/config");
	with_flag("--allow-read", "/opt");
	p = built();
	cr_assert_eq(p->warnings.n, 3);
	cr_assert_str_eq(p->warnings.at[0],
			 "--allow-read: read ~/.ssh/config opens a secret (~/.ssh)");
	cr_assert_str_eq(p->warnings.at[2], "--allow-read: read /opt: nothing is there now (/opt)");
	memset(&flags, 0, sizeof(flags));
	with_flag("--allow-read", "/");
	cr_assert_eq(built()->warnings.n, 0);
	in.places.workdir = STR("/home/u/.config/x");
	p = built();
	cr_assert_eq(p->warnings.n, 1);
	cr_assert_str_eq(p->warnings.at[0], "the workdir lies inside a secret (~/.config)");
}

Test(policy, warnings_about_globs)
{
	static const struct {
		const char *glob, *secret; /* NULL: opens none */
	} rows[] = {
		{ "~/.ssh/*.pub", "~/.ssh" },
		{ "~/.s*", "~/.ssh" },
		{ "~/**", "~/.ssh" },
		{ "~/**/known_hosts", "~/.ssh" },
		{ "/**/x", "~/.ssh" },
		{ "/home/*", NULL },
		{ "/**", NULL },
		{ "~/src/*.c", NULL },
		{ "/opt/**/x", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct policy *p;

		memset(&flags, 0, sizeof(flags));
		with_flag("--allow-read", rows[i].glob);
		p = built();
		cr_assert_eq(p->warnings.n, rows[i].secret ? 1 : 0, "%s", rows[i].glob);
		if (rows[i].secret)
			cr_assert_not_null(strstr(p->warnings.at[0],
						  arena_printf(&a, "%s opens a secret (%s)",
							       rows[i].glob, rows[i].secret)));
	}
}

Test(policy, own_home_in_both_spellings)
{
	struct fake_entry *link = fake_world_add(&fake, STR("/home/u/.cordon"), NODE_SYMLINK);

	link->target = STR("/w/.cordon");
	cr_assert_eq(policy_decide(built(), STR("/w/.cordon/keys")).data, ACCESS_NONE);
	cr_assert_eq(policy_decide(built(), STR("/home/u/.cordon/keys")).data, ACCESS_NONE);
}

Test(policy, words)
{
	enum policy_op op;

	for (enum policy_op i = POLICY_READ; i <= POLICY_CREATE; i++)
		cr_assert(policy_op_from_string(str_of(policy_op_to_string(i)), &op) && op == i);
	cr_assert_not(policy_op_from_string(STR("chmod"), &op));
	cr_assert_str_eq(layer_id_to_string(LAYER_CORDON), "cordon");
	cr_assert_str_eq(net_mode_to_string(NET_LIST), "list");
}
