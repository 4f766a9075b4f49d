/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that no name may lead to, addresses that stand for names, resolver files. */
#include <criterion/criterion.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "net/address.h"
#include "net/refused.h"
#include "net/relay_in.h"
#include "net/synthetic.h"

static struct host host(const char *text)
{
	struct cordon_error err;
	struct host h;

	cr_assert_eq(host_parse(str_of(text), &h, &err), 0, "%s", text);
	return h;
}

Test(address, special_ones)
{
	static const char *const bad[] = {
		"0.0.0.0",
		"0.1.2.3",
		"10.255.255.255",
		"100.64.0.1",
		"127.0.0.1",
		"127.255.0.1",
		"168.63.129.16",
		"169.254.169.254",
		"172.16.0.1",
		"172.31.255.255",
		"192.0.0.1",
		"192.88.99.1",
		"192.168.1.1",
		"198.18.0.1",
		"198.19.255.255",
		"224.0.0.1",
		"255.255.255.255",
		"::",
		"::1",
		"::7f00:1",
		"64:ff9b::a00:1",
		"64:ff9b:1::1",
		"100::1",
		"2001::1",
		"2002:7f00:1::",
		"fc00::1",
		"fd00:ec2::254",
		"fe80::1",
		"fec0::1",
		"ff02::1",
		"::ffff:127.0.0.1",
		"::ffff:10.0.0.1",
	};
	static const char *const good[] = {
		"1.1.1.1",	   "9.255.255.255",  "11.0.0.0",      "100.63.255.255",
		"100.128.0.0",	   "172.15.255.255", "172.32.0.0",    "192.167.255.255",
		"192.169.0.0",	   "198.17.255.255", "198.20.0.0",    "223.255.255.255",
		"2606:4700::1111", "2003::1",	     "::ffff:1.1.1.1"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct host h = host(bad[i]);

		cr_assert(address_why_not(&h), "%s", bad[i]);
		h.port = 80;
		cr_assert(address_why_not(&h), "%s with a port", bad[i]);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct host h = host(good[i]);

		cr_assert_null(address_why_not(&h), "%s: %s", good[i], address_why_not(&h));
	}
}

static enum address_listed listed(const char *address, const char *pattern)
{
	struct host a = host(address), p = host(pattern);

	return address_listed(&a, &p, 1);
}

Test(address, a_list_means_what_lies_in_it)
{
	cr_assert_eq(listed("10.1.2.3:80", "10.1.2.3"), ADDRESS_LISTED);
	cr_assert_eq(listed("10.1.2.3:80", "10.1.2.3:80"), ADDRESS_LISTED);
	cr_assert_eq(listed("10.1.2.3:80", "10.1.2.3:81"), ADDRESS_NOT_LISTED);
	cr_assert_eq(listed("10.1.2.3:80", "10.0.0.0/8"), ADDRESS_IN_LISTED);
	cr_assert_eq(listed("10.1.2.3:80", "10.0.0.0/7"), ADDRESS_NOT_LISTED);
	cr_assert_eq(listed("169.254.169.254:80", "0.0.0.0/0"), ADDRESS_NOT_LISTED);
	cr_assert_eq(listed("1.1.1.1:80", "0.0.0.0/0"), ADDRESS_IN_LISTED);
	cr_assert_eq(listed("[::1]:80", "::/0"), ADDRESS_NOT_LISTED);
	cr_assert_eq(listed("1.1.1.1:80", "::/0"), ADDRESS_NOT_LISTED);
}

/* As an address of 16 bytes. */
static const uint8_t *mapped(const uint8_t four[4])
{
	static uint8_t address[16] = { [10] = 0xff, [11] = 0xff };

	memcpy(address + 12, four, 4);
	return address;
}

Test(synthetic, each_name_has_one_and_back)
{
	autoarena struct arena a = { .max = 1 << 20 };
	struct synthetic s = { .arena = &a };
	uint8_t one[4], two[4], again[4];

	cr_assert(synthetic_address(&s, STR("one.test"), one));
	cr_assert(synthetic_address(&s, STR("two.test"), two));
	cr_assert(synthetic_address(&s, STR("one.test"), again));
	cr_assert_arr_eq(one, again, 4);
	cr_assert(memcmp(one, two, 4) != 0);
	cr_assert(synthetic_is(mapped(one)) && synthetic_is(mapped(two)));
	cr_assert_str_eq(synthetic_name(&s, mapped(one)), "one.test");
	cr_assert_str_eq(synthetic_name(&s, mapped(two)), "two.test");
	cr_assert_not(synthetic_address(&s, STR(""), one));
}

Test(synthetic, each_has_an_address_of_ipv6)
{
	autoarena struct arena a = { .max = 1 << 20 };
	struct synthetic s = { .arena = &a };
	struct host net = host(HOST_SYNTHETIC_NET_SIX), at = { .kind = HOST_ADDRESS };
	uint8_t one[4], two[4];

	at.prefix_bits = 128;
	cr_assert(synthetic_address(&s, STR("one.test"), one));
	cr_assert(synthetic_address(&s, STR("two.test"), two));
	synthetic_six(two, at.address);
	cr_assert(host_covers(&net, &at) && synthetic_is(at.address));
	cr_assert_str_eq(synthetic_name(&s, at.address), "two.test");
}

Test(synthetic, what_was_not_given_out_stands_for_nothing)
{
	static const uint8_t others[][4] = { { 198, 18, 0, 0 },	    { 198, 18, 0, 2 },
					     { 198, 19, 255, 255 }, { 198, 20, 0, 1 },
					     { 198, 17, 0, 1 },	    { 127, 0, 0, 1 } };
	/* The number of the first name behind other prefixes, and other numbers. */
	static const char *const six[] = {
		"::198.18.0.1",			    "::ffff:0:198.18.0.1",
		"64:ff9b::198.18.0.1",		    "fd63:6f72:646f:6e01::198.18.0.1",
		"fd63:6f72:646f:6e00:1::198.18.0.1", "fd63:6f72:646f:6e00::1:198.18.0.1",
		"fd63:6f72:646f:6e00::",	    "fd63:6f72:646f:6e00::198.18.0.0",
		"fd63:6f72:646f:6e00::198.18.0.2",  "fd63:6f72:646f:6e00::127.0.0.1",
	};
	autoarena struct arena a = { .max = 1 << 20 };
	struct synthetic s = { .arena = &a };
	uint8_t one[4];

	cr_assert(synthetic_address(&s, STR("one.test"), one));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_assert_null(synthetic_name(&s, mapped(others[i])));
	for (size_t i = 0; i < sizeof(six) / sizeof(six[0]); i++) {
		struct host h = host(six[i]);

		cr_assert_null(synthetic_name(&s, h.address), "%s", six[i]);
		cr_assert_eq(synthetic_is(h.address), i > 3, "%s", six[i]);
	}
	cr_assert(synthetic_is(mapped(others[2])));
	cr_assert_not(synthetic_is(mapped(others[3])));
	cr_assert_not(synthetic_is(mapped(others[4])));
}

Test(synthetic, there_is_an_end_of_them)
{
	autoarena struct arena a = { .max = (size_t)64 << 20 };
	struct synthetic s = { .arena = &a };
	uint8_t address[4];
	char name[32];

	for (unsigned i = 0; i < SYNTHETIC_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		cr_assert(synthetic_address(&s, str_of(name), address));
		cr_assert(synthetic_is(mapped(address)));
		cr_assert_str_eq(synthetic_name(&s, mapped(address)), name);
	}
	cr_assert_not(synthetic_address(&s, STR("more.test"), address));
	cr_assert(synthetic_address(&s, STR("n7.test"), address));
}

Test(relay_config, name_servers)
{
	struct relay_config c = { 0 };

	relay_read_servers(STR("# nameserver 192.0.2.9\n"
			       "search example.com\n"
			       "nameserver\t192.0.2.1 # first\n"
			       "nameserver fe80::1%no-such-device\n"
			       "nameserver fe80::1%\n"
			       "nameserver fe80::1%0\n"
			       "nameserver 2001:db8::1\r\n"
			       "nameservers 192.0.2.8\n"
			       "nameserver 192.0.2.2\n"
			       "nameserver 192.0.2.3"),
			   &c);
	cr_assert_eq(c.n_servers, 3);
	cr_assert_arr_eq(c.servers[0].address + 12, "\xc0\0\2\1", 4);
	cr_assert_arr_eq(c.servers[1].address, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	cr_assert_arr_eq(c.servers[2].address + 12, "\xc0\0\2\2", 4);
}

Test(relay_config, a_name_server_of_the_link)
{
	struct relay_config c = { 0 };

	relay_read_servers(STR("nameserver fe80::1%lo\nnameserver fe80::2%7 # by number\n"), &c);
	cr_assert_eq(c.n_servers, 2);
	cr_assert_eq(c.servers[0].device, if_nametoindex("lo"));
	cr_assert_arr_eq(c.servers[0].address, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	cr_assert_eq(c.servers[1].device, 7);
}

Test(relay_config, known_hosts)
{
	autoarena struct arena a = { .max = 1 << 20 };
	struct relay_config c = { 0 };

	relay_read_hosts(&a,
			 STR("127.0.0.1 localhost\n"
			     "192.0.2.1\tOne.Example one # two\n"
			     "bad line\n"
			     "192.0.2.2 a/b ok.example.\n"),
			 &c);
	cr_assert_eq(c.hosts.n, 4);
	cr_assert_str_eq(c.hosts.at[1].name, "one.example");
	cr_assert_str_eq(c.hosts.at[2].name, "one");
	cr_assert_arr_eq(c.hosts.at[2].address + 12, "\xc0\0\2\1", 4);
	cr_assert_str_eq(c.hosts.at[3].name, "ok.example");
}

/* --- what the kernel refuses ------------------------------------------------------ */

/* To 198.18.0.1:443; the quoted header has four bytes of options. */
static const uint8_t refused_four[] = {
	0x45, 0, 0, 60, 0, 0, 0, 0, 64, 1, 0, 0, 198, 18, 0, 1, 198, 18, 0, 1,
	3, 3, 0, 0, 0, 0, 0, 0,
	0x46, 0, 0, 29, 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 198, 18, 0, 1, 0, 0, 0, 0,
	0x9c, 0x40, 0x01, 0xbb, 0, 9, 0, 0,
};

Test(refused, of_ipv4)
{
	static const uint8_t want[16] = { [10] = 0xff, 0xff, 198, 18, 0, 1 };
	uint8_t changed[sizeof(refused_four)], got[16];
	uint16_t port = 0;

	cr_assert(refused_udp(refused_four, sizeof(refused_four), false, got, &port));
	cr_assert_arr_eq(got, want, sizeof(want));
	cr_assert_eq(port, 443);
	for (size_t n = 0; n < sizeof(refused_four); n++)
		cr_assert_not(refused_udp(refused_four, n, false, got, &port), "%zu", n);
	/* Another header length, type, code or protocol. */
	for (size_t i = 0; i < 5; i++) {
		static const struct {
			size_t at;
			uint8_t value;
		} bad[] = { { 0, 0x44 }, { 20, 11 }, { 21, 1 }, { 28, 0x40 }, { 37, 6 } };

		memcpy(changed, refused_four, sizeof(changed));
		changed[bad[i].at] = bad[i].value;
		cr_assert_not(refused_udp(changed, sizeof(changed), false, got, &port), "%zu", i);
	}
}

Test(refused, of_ipv6)
{
	uint8_t message[56] = { 1, 4, [8] = 0x60, [14] = 17, [47] = 9, [50] = 0x01, 0xbb };
	uint8_t want[16] = { [15] = 9 }, got[16];
	uint16_t port = 0;

	cr_assert(refused_udp(message, sizeof(message), true, got, &port));
	cr_assert_arr_eq(got, want, sizeof(want));
	cr_assert_eq(port, 443);
	cr_assert_not(refused_udp(message, sizeof(message) - 1, true, got, &port));
	message[14] = 6;
	cr_assert_not(refused_udp(message, sizeof(message), true, got, &port));
}
