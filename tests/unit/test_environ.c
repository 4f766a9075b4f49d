/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/environ.h"
#include "policy_fixture.h"

static struct config user, project;

TestSuite(environ, .init = fixture_setup, .fini = fixture_teardown);

static void file(struct config *config, enum source source, const char *text)
{
	cr_assert_eq(config_parse(&a, str_of(text), "file", source, config, &err), 0, "%s",
		     err.message);
	if (source == SOURCE_USER)
		in.user = config;
	else
		in.project = config;
}

/* What is handed over, as "NAME=VALUE NAME=VALUE", without what the profile sets by itself. */
static const char *handed(const char *const *env)
{
	struct buf b = buf_make(1 << 16);
	struct variables v;
	const char *text;

	cr_assert_eq(environ_filter(&a, built(), env, &v, &err), 0, "%s", err.message);
	vec_each(item, &v.items)
		if (!str_eq(item->name, STR("LESSHISTFILE")))
			buf_addf(&b, "%s%.*s=%.*s", b.n ? " " : "", STR_ARG(item->name),
				 STR_ARG(item->value));
	text = arena_dup(&a, buf_str(&b));
	buf_free(&b);
	return text;
}

#define HANDED(wanted, ...) \
	cr_expect_str_eq(handed((const char *const[]){ __VA_ARGS__, NULL }), wanted)

Test(environ, names_that_look_like_secrets)
{
	static const char *const secret[] = {
		"GITHUB_TOKEN",	 "AWS_SECRET_ACCESS_KEY",
		"SMTP_PASS",	 "SSHPASS",
		"STRIPE_SK",	 "SLACK_WEBHOOK",
		"JWT",		 "DB_PW",
		"MY_API_KEY",	 "DB_PASSWORD",
		"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
		"KUBECONFIG",	 "DATABASE_URL",
		"SENTRY_DSN",	 "CORDON_HOME",
		"NPM_TOKEN",	 "XAUTHORITY",
		"Github_Token",	 "aws_secret_access_key",
		"kubeconfig",	 "npm_config__authToken",
		"my_key",	 "npm_config__auth",
	};
	static const char *const plain[] = { "HOME", "PATH",	 "LANG",   "TERM",	"EDITOR",
					     "CI",   "KEYBOARD", "MONKEY", "TZ",	"COLORTERM",
					     "KEY",  "k",	 "OLDPWD", "http_proxy" };

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		cr_expect(environ_is_secret(str_of(secret[i])), "%s", secret[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		cr_expect_not(environ_is_secret(str_of(plain[i])), "%s", plain[i]);
}

Test(environ, values_that_hold_a_password)
{
	static const char *const secret[] = {
		"http://user:pass@proxy:3128",
		"redis://:pass@host/0",
		"postgresql+psycopg2://u:p@h:5432/db?x=1",
		"--index-url https://pypi/simple --extra-index-url 'https://u:p@h/simple'",
		"http://a,http://u:p@b",
		"https://u:p@ss@host",
		"-Dhttp.proxyHost=h -Dhttp.proxyPassword=p",
		"-Xmx1g -Dhttps.proxyPassword=p",
		"-Djavax.net.ssl.keyStorePassword=changeit",
	};
	static const char *const plain[] = {
		"",
		"://",
		"http://",
		"http://proxy:3128",
		"http://h:1/a:b@c",
		"ssh://git@host:22/x",
		"user:pass@host",
		"http://u:@host",
		"http://h/?m=a:b@c",
		"http://h:80 a:b@c",
		"unix:path=/run/x",
		"-Dhttp.proxyHost=h -Dhttp.proxyUser=u",
		"-Dhttp.proxyPassword=",
		"-Dhttp.proxyPassword -Dx=y",
		"-D",
	};

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		cr_expect(environ_has_credentials(STR("X"), str_of(secret[i])), "%s", secret[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		cr_expect_not(environ_has_credentials(STR("X"), str_of(plain[i])), "%s", plain[i]);
	cr_expect(environ_has_credentials(STR("HTTPS_PROXY"), STR("me:pw@h:1")));
	cr_expect(environ_has_credentials(STR("all_proxy"), STR("me:p@w@h")));
	cr_expect_not(environ_has_credentials(STR("http_proxy"), STR("me@h:1")));
	cr_expect_not(environ_has_credentials(STR("http_proxy"), STR("h:3128")));
}

Test(environ, a_url_with_a_password_is_handed_on_only_when_asked_for)
{
	HANDED("REDIS_URL=redis://h", "REDIS_URL=redis://h", "http_proxy=http://u:p@h");
	with_flag("--env", "http_proxy");
	with_flag("--env", "SET=http://u:p@h");
	HANDED("SET=http://u:p@h http_proxy=http://u:p@h", "http_proxy=http://u:p@h",
	       "OTHER=http://u:p@h");
}

Test(environ, sorted_without_secrets_and_without_what_is_no_variable)
{
	HANDED("A= B=2 C==", "C==", "B=2", "A=", "NPM_TOKEN=x", "novalue", "=x", "BAD NAME=1",
	       "TAB\t=1");
}

Test(environ, of_a_name_twice_the_last_counts)
{
	HANDED("A=2", "A=1", "A=2");
	with_flag("--env", "A=3");
	HANDED("A=3", "A=1", "A=2");
	with_flag("--env", "A=4");
	HANDED("A=4", "A=1");
}

Test(environ, a_bare_name_hands_on_and_a_value_sets)
{
	with_flag("--env", "GITHUB_TOKEN");
	with_flag("--env", "NEW=a=b");
	with_flag("--env", "EMPTY=");
	HANDED("EMPTY= GITHUB_TOKEN=t NEW=a=b", "GITHUB_TOKEN=t");
	/* Nothing to hand on is nothing, not an empty variable. */
	HANDED("EMPTY= NEW=a=b", "NPM_TOKEN=t");
}

Test(environ, unset_drops_by_pattern_and_the_later_source_wins)
{
	file(&user, SOURCE_USER,
	     "[sandbox]\nenv = { pass = [\"MY_*\"], unset = [\"LC_*\", \"KEEP\"] }\n");
	with_flag("--unset-env", "MY_B*");
	with_flag("--env", "KEEP");
	HANDED("KEEP=1 MY_TOKEN=1", "LC_ALL=C", "KEEP=1", "MY_TOKEN=1", "MY_BOOK=1");
}

Test(environ, within_one_source_unset_beats_pass)
{
	file(&user, SOURCE_USER, "[sandbox]\nenv = { pass = [\"A*\"], unset = [\"AB\"] }\n");
	HANDED("AC=1", "AB=1", "AC=1");
}

Test(environ, a_project_drops_what_flags_hand_on)
{
	file(&project, SOURCE_PROJECT, "[sandbox]\nenv = { unset = [\"CI\", \"*_TOKEN\"] }\n");
	with_flag("--env", "CI=1");
	with_flag("--env", "NPM_TOKEN");
	HANDED("A=1", "A=1", "CI=0", "NPM_TOKEN=x");
}

Test(environ, what_was_dropped_is_known_by_name)
{
	static const char *const env[] = { "A=1", "NPM_TOKEN=value", NULL };
	struct variables v;
	struct policy *policy;

	cr_assert_eq(policy_build(&a, &in, &policy, &err), 0);
	cr_assert_eq(environ_filter(&a, policy, env, &v, &err), 0);
	cr_assert_eq(v.dropped.n, 1);
	cr_expect(str_eq(v.dropped.at[0], STR("NPM_TOKEN")));
}

Test(environ, bytes_that_are_not_text_pass_untouched)
{
	HANDED("A=\xff\x01\n", "A=\xff\x01\n");
	HANDED("", NULL);
}
