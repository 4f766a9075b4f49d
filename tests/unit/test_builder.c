/* SPDX-License-Identifier: Apache-2.0 */
/* A policy said in C is the one that the same words make as flags and as TOML. */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/builder.h"
#include "policy_fixture.h"

static struct policy_builder b;

static void setup(void)
{
	fixture_setup();
	in.flags = NULL;
	policy_builder_init(&b, &a, "moderate");
}

TestSuite(builder, .init = setup, .fini = fixture_teardown);

static struct policy *made(void)
{
	struct policy *p = NULL;

	cr_assert_eq(policy_builder_build(&b, &in, &p, &err), 0, "%s", err.message);
	return p;
}

/* The policy that the printed TOML makes. */
static struct policy *reread(void)
{
	autobuf struct buf text = buf_make((size_t)1 << 20);
	struct policy_input other = in;
	struct config *config = arena_new(&a, struct config);
	struct policy *p = NULL;

	cr_assert_eq(policy_builder_print(&b, "said", &text, &err), 0, "%s", err.message);
	cr_assert_eq(config_parse(&a, str_of(arena_dup(&a, buf_str(&text))), "said.toml",
				  SOURCE_USER, config, &err),
		     0, "%s\n%s", err.message, text.p);
	other.user = config;
	other.profile = "said";
	cr_assert_eq(policy_build(&a, &other, &p, &err), 0, "%s\n%s", err.message, text.p);
	return p;
}

static void same_settings(const struct policy *x, const struct policy *y)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct item_list *m = &x->effective_lists[k], *n = &y->effective_lists[k];

		if (k == KEY_EXTENDS)
			continue;
		cr_assert_eq(policy_number(x, k), policy_number(y, k), "%s", key_rows[k].name);
		cr_assert(str_eq(x->effective[k].text, y->effective[k].text) ||
				  key_rows[k].type != TYPE_NAME,
			  "%s", key_rows[k].name);
		cr_assert_eq(m->items.n, n->items.n, "%s", key_rows[k].name);
		for (size_t i = 0; i < m->items.n; i++)
			cr_assert(str_eq(m->items.at[i].text, n->items.at[i].text), "%s",
				  key_rows[k].name);
	}
	cr_assert_eq(policy_net_mode(x), policy_net_mode(y));
	cr_assert_eq(x->hosts.n, y->hosts.n);
	cr_assert_eq(x->confined, y->confined);
}

static void same_verdicts(const struct policy *x, const struct policy *y)
{
	static const char *const objects[] = {
		"/",
		"/w",
		"/w/a",
		"/w/private/x",
		"/w/.git/config",
		"/opt/sdk/bin",
		"/etc/x",
		"/home/u/.ssh",
		"/home/u/.ccache/0",
		"/w/tools/t",
		"/w/a/.env",
		"/tmp/x",
		"/home/u/.cordon/x",
		"/w/sub/odd \"name",
		"/w/only",
		"/w/only/below",
		"/usr/bin/cc",
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		struct decision d = policy_decide(x, str_of(objects[i]));
		struct decision e = policy_decide(y, str_of(objects[i]));

		cr_assert(d.data == e.data && d.exec == e.exec, "%s: %s%s and %s%s", objects[i],
			  access_to_string(d.data), d.exec ? " exec" : "", access_to_string(e.data),
			  e.exec ? " exec" : "");
	}
}

static void round_trips(void)
{
	struct policy *said = made(), *read = reread();

	same_settings(said, read);
	same_verdicts(said, read);
}

Test(builder, nothing_said_is_the_profile)
{
	static const char *const profiles[] = { "strict", "moderate", "permissive",
						"shell",  "agent",    "custom" };

	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		policy_builder_init(&b, &a, profiles[i]);
		cr_assert_str_eq(made()->profile, profiles[i]);
		round_trips();
	}
}

/* The fields that R4.1 names. */
Test(builder, every_kind_of_value)
{
	struct policy *p;

	policy_builder_add(&b, KEY_READ, "/opt/sdk");
	policy_builder_add(&b, KEY_WRITE, "{home}/.ccache");
	policy_builder_add(&b, KEY_WRITE, "sub/odd \"name");
	policy_builder_add(&b, KEY_EXEC, "tools");
	policy_builder_add(&b, KEY_DENY, "private");
	policy_builder_add(&b, KEY_DENY, "=/w/only");
	policy_builder_add(&b, KEY_DENY, "**/.env");
	policy_builder_add(&b, KEY_PROTECT, "exact");
	policy_builder_add(&b, KEY_NETWORK, "api.example.com:443,*.example.org");
	policy_builder_add(&b, KEY_NETWORK, "192.0.2.0/24");
	policy_builder_set(&b, KEY_BIND, 8080);
	policy_builder_add(&b, KEY_UNIX, "/run/x.sock");
	policy_builder_add(&b, KEY_ENV_SET, "A=b c\"d");
	policy_builder_add(&b, KEY_ENV_UNSET, "SECRET*");
	policy_builder_add(&b, KEY_FALLBACK, "degrade");
	policy_builder_set(&b, KEY_TIMEOUT, 90500);
	policy_builder_set(&b, KEY_MEMORY, (uint64_t)512 << 20);
	policy_builder_set(&b, KEY_PROCS, 0);
	policy_builder_set(&b, KEY_FILES, 77);
	policy_builder_set(&b, KEY_SHARE_PID, true);
	policy_builder_set(&b, KEY_NEW_SESSION, false);
	p = made();
	cr_assert_eq(policy_number(p, KEY_TIMEOUT), 90500);
	cr_assert_eq(policy_number(p, KEY_MEMORY), 512 << 20);
	cr_assert_eq(policy_number(p, KEY_FILES), 77);
	cr_assert_eq(policy_number(p, KEY_SHARE_PID), 1);
	cr_assert_eq(policy_number(p, KEY_NEW_SESSION), 0);
	cr_assert_eq(p->hosts.n, 3);
	cr_assert_eq(policy_decide(p, STR("/opt/sdk/x")).data, ACCESS_READ);
	cr_assert_eq(policy_decide(p, STR("/home/u/.ccache/x")).data, ACCESS_WRITE);
	cr_assert_eq(policy_decide(p, STR("/w/private")).data, ACCESS_NONE);
	round_trips();
}

Test(builder, the_last_word_counts)
{
	policy_builder_add(&b, KEY_NETWORK, "a.test");
	policy_builder_add(&b, KEY_NETWORK, "on");
	policy_builder_set(&b, KEY_TIMEOUT, 1000);
	policy_builder_set(&b, KEY_TIMEOUT, 2000);
	policy_builder_add(&b, KEY_CACHES, "go");
	policy_builder_empty(&b, KEY_CACHES);
	policy_builder_empty(&b, KEY_BIND);
	cr_assert_eq(policy_net_mode(made()), NET_ON);
	cr_assert_eq(policy_number(made(), KEY_TIMEOUT), 2000);
	cr_assert_eq(made()->effective_lists[KEY_CACHES].items.n, 0);
	round_trips();
	policy_builder_add(&b, KEY_NETWORK, "b.test");
	cr_assert_eq(made()->hosts.n, 1);
	round_trips();
	policy_builder_empty(&b, KEY_NETWORK);
	cr_assert_eq(policy_net_mode(made()), NET_OFF, "an empty list allows nothing");
	round_trips();
}

/* As flags: the same statements by their names on a command line. */
Test(builder, is_what_flags_say)
{
	struct policy_input other = in;
	struct policy *p = NULL;
	const struct {
		enum key key;
		const char *value;
	} rows[] = { { KEY_WRITE, "/opt" },
		     { KEY_DENY, "private" },
		     { KEY_TIMEOUT, "5m" },
		     { KEY_NETWORK, "a.test" },
		     { KEY_HIDDEN_WRITES, "git" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		policy_builder_add(&b, rows[i].key, rows[i].value);
		with_flag(key_rows[rows[i].key].flag, rows[i].value);
	}
	other.profile = "moderate";
	other.flags = &flags;
	cr_assert_eq(policy_build(&a, &other, &p, &err), 0, "%s", err.message);
	same_settings(made(), p);
	same_verdicts(made(), p);
}

Test(builder, the_first_mistake_is_kept)
{
	struct policy *p = NULL;
	autobuf struct buf text = buf_make(100);

	policy_builder_add(&b, KEY_PROTECT, "exactt");
	policy_builder_add(&b, KEY_TIMEOUT, "never");
	policy_builder_empty(&b, KEY_TIMEOUT);
	cr_assert_eq(policy_builder_build(&b, &in, &p, &err), -CORDON_E_CONFIG);
	cr_assert(strstr(err.message, "protect") && strstr(err.message, "exactt"), "%s",
		  err.message);
	cr_assert_str_eq(err.hint, "did you mean 'exact'?");
	cr_assert_null(p);
	cr_assert_eq(policy_builder_print(&b, "x", &text, &err), -CORDON_E_CONFIG);
	cr_assert_eq(text.n, 0);
	policy_builder_init(&b, &a, NULL);
	policy_builder_empty(&b, KEY_TIMEOUT);
	cr_assert_eq(policy_builder_build(&b, &in, &p, &err), -CORDON_E_CONFIG);
	cr_assert_str_eq(err.message, "limits.timeout is not a list");
}

Test(builder, an_emptied_list_stays_empty)
{
	struct policy *p = NULL;

	policy_builder_empty(&b, KEY_READ);
	policy_builder_add(&b, KEY_READ, "/opt/sdk");
	round_trips();
	policy_builder_empty(&b, KEY_CACHES);
	policy_builder_add(&b, KEY_CACHES, "go");
	cr_assert_eq(policy_builder_build(&b, &in, &p, &err), -CORDON_E_CONFIG);
	cr_assert_str_eq(err.message, "caches was said to be empty");
}

/* A program narrows no less than a command line: project files hold. */
Test(builder, a_project_file_holds)
{
	struct config project;

	cr_assert_eq(config_parse(&a, STR("[sandbox]\nread = [\"private\"]\n"), "p.toml",
				  SOURCE_PROJECT, &project, &err),
		     0);
	in.project = &project;
	policy_builder_add(&b, KEY_WRITE, "/w/private");
	cr_assert_eq(policy_decide(made(), STR("/w/private/x")).data, ACCESS_READ);
}
