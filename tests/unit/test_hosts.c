/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy/hosts.h"

static const char *canonical(const char *text)
{
	static char shown[400];
	struct cordon_error err = { 0 };
	struct host h;
	autobuf struct buf b;

	buf_init(&b, sizeof(shown) - 1);
	if (host_parse(str_of(text), &h, &err) < 0)
		return "refused";
	host_print(&b, &h);
	snprintf(shown, sizeof(shown), "%s", b.p);
	return shown;
}

Test(hosts, canonical_spelling)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "Example.COM.", "example.com" },
		{ "*.Example.com:0443", "*.example.com:443" },
		{ "localhost:8080", "localhost:8080" },
		{ "xn--bcher-kva.example", "xn--bcher-kva.example" },
		{ "192.0.2.1", "192.0.2.1" },
		{ "192.0.2.0/24", "192.0.2.0/24" },
		{ "192.0.2.1/32", "192.0.2.1" },
		{ "192.0.2.0/24:80", "192.0.2.0/24:80" },
		{ "0.0.0.0/0", "0.0.0.0/0" },
		{ "2001:DB8:0::1", "2001:db8::1" },
		{ "[2001:db8::1]", "2001:db8::1" },
		{ "[2001:db8::]:443", "[2001:db8::]:443" },
		{ "[2001:db8::/32]:443", "[2001:db8::/32]:443" },
		{ "::ffff:192.0.2.1", "192.0.2.1" },
		{ "::/0", "::/0" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_str_eq(canonical(rows[i].text), rows[i].want, "%s", rows[i].text);
}

Test(hosts, refused)
{
	static const char *const bad[] = {
		"",
		".",
		"..",
		"a..b",
		".a",
		"-a.com",
		"a-.com",
		"a b",
		"a/b",
		"*",
		"*.",
		"*.com",
		"*.*.com",
		"a.*.com",
		"*a.com",
		"1.2.3",
		"127.1",
		"0x7f.1",
		"0x7f000001",
		"2130706433",
		"1.2.3.4.5",
		"01.2.3.4",
		"1.2.3.256",
		"a.0",
		"a.0x1f",
		"[1.2.3.4]",
		"[::1",
		"[::1]80",
		"[::1]:",
		"[a.com]:80",
		"[fe80::1%eth0]",
		"fe80::1%1",
		"a.com:",
		"a.com:0",
		"a.com:65536",
		"a.com:+1",
		"a.com:80:90",
		"1.2.3.4/33",
		"1.2.3.4/24",
		"1.2.3.4/",
		"::1/129",
		"2001:db8::1/32",
		"\xc3\xa4.com",
		"a\n.com",
		"a.com/24",
		"*.1.2.3.4",
		"::ffff:1.2.3.0/120",
	};
	char long_label[80], long_name[300];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_str_eq(canonical(bad[i]), "refused", "%s", bad[i]);
	memset(long_label, 'a', 64);
	long_label[64] = '\0';
	cr_assert_str_eq(canonical(long_label), "refused");
	long_label[63] = '\0';
	cr_assert_str_eq(canonical(long_label), long_label);
	for (size_t i = 0; i < 254; i++)
		long_name[i] = i % 2 ? '.' : 'a';
	long_name[253] = '\0';
	cr_assert_str_eq(canonical(long_name), long_name);
	long_name[253] = 'a';
	long_name[254] = '\0';
	cr_assert_str_eq(canonical(long_name), "refused");
}

Test(hosts, messages)
{
	struct cordon_error err;
	struct host h = { .port = 7 };

	cr_assert_eq(host_parse(STR("127.1"), &h, &err), -CORDON_E_CONFIG);
	cr_assert_str_eq(err.message,
			 "host '127.1': looks like a number; write an address in full");
	cr_assert_eq(host_parse(STR("a\x1b[2J"), &h, &err), -CORDON_E_CONFIG);
	cr_assert_null(strchr(err.message, '\x1b'));
	cr_assert_eq(host_parse(STR("*.com"), &h, &err), -CORDON_E_CONFIG);
	cr_assert_str_eq(err.message,
			 "host '*.com': a wildcard needs at least two labels after '*.'");
	cr_assert_eq(h.port, 7, "a failure leaves the result alone");
}

static bool covers(const char *pattern, const char *target)
{
	struct cordon_error err;
	struct host p, t;

	cr_assert_eq(host_parse(str_of(pattern), &p, &err), 0, "%s", err.message);
	cr_assert_eq(host_parse_target(str_of(target), &t, &err), 0, "%s", err.message);
	return host_covers(&p, &t);
}

static bool covers_pattern(const char *pattern, const char *other)
{
	struct cordon_error err;
	struct host p, o;

	cr_assert_eq(host_parse(str_of(pattern), &p, &err), 0, "%s", err.message);
	cr_assert_eq(host_parse(str_of(other), &o, &err), 0, "%s", err.message);
	return host_covers(&p, &o);
}

Test(hosts, covers_all_that_another_covers)
{
	static const char *const all[] = { "a.com",	  "a.com:80",	 "*.a.com",  "*.a.com:80",
					   "*.b.a.com",	  "192.0.2.1",	 "::1",	     "10.0.0.0/8",
					   "10.1.0.0/16", "10.1.2.3:80", "2001:db8::/32" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		cr_assert(covers_pattern(all[i], all[i]), "%s", all[i]);
	cr_assert(covers_pattern("*.a.com", "*.b.a.com"));
	cr_assert(covers_pattern("*.a.com", "*.a.com:80"));
	cr_assert(covers_pattern("10.0.0.0/8", "10.1.0.0/16"));
	cr_assert_not(covers_pattern("*.b.a.com", "*.a.com"));
	cr_assert_not(covers_pattern("*.a.com:80", "*.a.com"));
	cr_assert_not(covers_pattern("a.com", "*.a.com"));
	cr_assert_not(covers_pattern("*.a.com", "a.com"));
	cr_assert_not(covers_pattern("10.1.0.0/16", "10.0.0.0/8"));
	cr_assert_not(covers_pattern("10.0.0.0/16", "10.0.0.0/8"));
}

Test(hosts, covers)
{
	cr_assert(covers("a.com", "A.com.:5"));
	cr_assert_not(covers("a.com:5", "a.com"));
	cr_assert(covers("*.a.com", "x.y.a.com:9"));
	cr_assert_not(covers("*.a.com", "a.com"));
	cr_assert_not(covers("*.a.com", "ba.com"));
	cr_assert(covers("10.0.0.0/8", "10.255.0.1"));
	cr_assert_not(covers("10.0.0.0/8", "11.0.0.1"));
	cr_assert_not(covers("::/0", "10.0.0.1"));
	cr_assert_not(covers("0.0.0.0/0", "::1"));
	cr_assert(covers("::/0", "::1"));
	cr_assert(covers("10.0.0.1", "::ffff:10.0.0.1"));
	cr_assert_not(covers("10.0.0.1", "a.com"));
	cr_assert_not(covers("0.0.0.0/0", "a.com"));
}

Test(hosts, target_is_one_host)
{
	static const char *const bad[] = { "*.a.com", "10.0.0.0/8", "10.0.0.1/32", "::1/128" };

	for (size_t i = 0; i < 4; i++) {
		struct cordon_error err;
		struct host h;

		cr_assert_eq(host_parse_target(str_of(bad[i]), &h, &err), -CORDON_E_CONFIG, "%s",
			     bad[i]);
	}
}
