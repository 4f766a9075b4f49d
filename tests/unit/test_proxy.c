/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of the caller, and what is said to a proxy and by it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "net/proxy.h"

static struct host host(const char *text)
{
	struct cordon_error err;
	struct host h;

	cr_assert_eq(host_parse_target(str_of(text), &h, &err), 0, "%s", text);
	return h;
}

Test(proxy, what_names_one)
{
	static const struct {
		const char *url, *at, *authorization;
	} rows[] = {
		{ "proxy.test", "proxy.test:80", "" },
		{ "proxy.test:3128", "proxy.test:3128", "" },
		{ "HTTP://Proxy.TEST.:3128/x?y", "proxy.test:3128", "" },
		{ "http://[2001:db8::1]:8080/", "[2001:db8::1]:8080", "" },
		{ "http://me:p%40ss@proxy.test:1", "proxy.test:1", "bWU6cEBzcw==" },
		{ "http://me:p@ss@proxy.test:1", "proxy.test:1", "bWU6cEBzcw==" },
		{ "me@10.0.0.1:1", "10.0.0.1:1", "bWU6" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		autobuf struct buf at = buf_make(512);
		struct cordon_error err;
		struct proxy p;

		cr_assert_eq(proxy_parse(str_of(rows[i].url), &p, &err), 0, "%s", rows[i].url);
		host_print(&at, &p.at);
		cr_assert_str_eq(at.p, rows[i].at);
		cr_assert_str_eq(p.authorization, rows[i].authorization, "%s", rows[i].url);
	}
}

Test(proxy, what_names_none)
{
	static const char *const rows[] = {
		"",
		"socks5://proxy.test:1",
		"https://proxy.test",
		"http://",
		"http://a b",
		"http://me:x%0d%0aEvil:@proxy.test",
		"http://me:%zz@p.t",
		"http://me:%0@p.t",
		"http://p.t:99999",
		"http://p.t\r\nX: y",
		"://p.t",
		"http://me:passw0rd/x@p.t",
		"http://me:passw0rd#x@p.t",
		"http://me:passw0rd?x@p.t",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cordon_error err;
		struct proxy p;

		cr_assert_lt(proxy_parse(str_of(rows[i]), &p, &err), 0, "%s", rows[i]);
		cr_assert_not(strstr(err.message, "passw0rd"), "%s", err.message);
		cr_assert_not(strstr(err.hint, "passw0rd"), "%s", err.hint);
	}
}

static const char *used(const char *const *env, const char *target)
{
	static char name[300];
	struct cordon_error err;
	struct proxies proxies;
	struct host h = host(target);
	enum proxy_use use;

	cr_assert_eq(proxies_read(env, &proxies, &err), 0);
	use = proxies_for(&proxies, &h);
	snprintf(name, sizeof(name), "%s", use == PROXY_USES ? "" : proxies.at[use].at.name);
	return name;
}

Test(proxy, which_variable_counts)
{
	const char *const all[] = { "ALL_PROXY=all.test", "HTTP_PROXY=web.test", NULL };
	const char *const both[] = { "https_proxy=small.test", "HTTPS_PROXY=big.test",
				     "http_proxy=",
				     "no_proxy=ok.test, .x.test 10.0.0.0/8,y.test:443", NULL };
	const char *const none[] = { "ALL_PROXY=socks5://all.test", "NO_PROXY=*", NULL };
	const char *const other[] = { "ALL_PROXY=socks5://all.test", NULL };
	struct cordon_error err;
	struct proxies proxies;

	cr_assert_str_eq(used(all, "a.test:80"), "web.test");
	cr_assert_str_eq(used(all, "a.test:443"), "all.test");
	cr_assert_str_eq(used(all, "localhost:443"), "");
	cr_assert_str_eq(used(all, "127.0.0.1:443"), "");
	cr_assert_str_eq(used(both, "a.test:443"), "small.test");
	cr_assert_str_eq(used(both, "a.test:80"), "");
	cr_assert_str_eq(used(both, "ok.test:443"), "");
	cr_assert_str_eq(used(both, "b.ok.test:443"), "");
	cr_assert_str_eq(used(both, "evilok.test:443"), "small.test");
	cr_assert_str_eq(used(both, "x.test:443"), "");
	cr_assert_str_eq(used(both, "10.1.2.3:443"), "");
	cr_assert_str_eq(used(both, "11.1.2.3:443"), "small.test");
	cr_assert_str_eq(used(both, "y.test:443"), "");
	cr_assert_str_eq(used(both, "y.test:444"), "small.test");
	cr_assert_str_eq(used(none, "a.test:443"), "");
	cr_assert_lt(proxies_read(other, &proxies, &err), 0);
	cr_assert(strstr(err.message, "ALL_PROXY"));
}

Test(proxy, what_it_answers)
{
	static const struct {
		const char *text;
		enum proxy_answer answer;
		unsigned status;
		size_t length;
	} rows[] = {
		{ "HTTP/1.0 200 OK\r\n\r\nfirst", PROXY_ANSWER_READ, 200, 19 },
		{ "HTTP/1.1 407\nA: b\n\n", PROXY_ANSWER_READ, 407, 19 },
		{ "HTTP/1.1 200 OK\r\nA: b\r\n", PROXY_ANSWER_MORE, 0, 0 },
		{ "HTTP/1.1 20", PROXY_ANSWER_MORE, 0, 0 },
		{ "HTTP/1.1 200", PROXY_ANSWER_MORE, 0, 0 },
		{ "HTTP/1.1 2000 \r\n\r\n", PROXY_ANSWER_BAD, 0, 0 },
		{ "HTTP/2 200 OK\r\n\r\n", PROXY_ANSWER_BAD, 0, 0 },
		{ "first\n", PROXY_ANSWER_BAD, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned status = 0;
		size_t length = 0;

		cr_assert_eq(proxy_read_answer((const uint8_t *)rows[i].text, strlen(rows[i].text),
					       &status, &length),
			     rows[i].answer, "%s", rows[i].text);
		cr_assert_eq(status, rows[i].status);
		cr_assert_eq(length, rows[i].length, "%s: %zu", rows[i].text, length);
	}
}
