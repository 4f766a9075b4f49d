/* SPDX-License-Identifier: Apache-2.0 */
/* The table of special addresses. */
#include "net/address.h"

static const struct {
	struct str net;
	const char *what;
} special[] = {
	{ STR("0.0.0.0/8"), "this host" },
	{ STR("10.0.0.0/8"), "a private address" },
	{ STR("100.64.0.0/10"), "an address of the provider's own" },
	{ STR("127.0.0.0/8"), "a loopback address" },
	{ STR("168.63.129.16"), "a metadata service" },
	{ STR("169.254.0.0/16"), "a link-local address, as metadata services have" },
	{ STR("172.16.0.0/12"), "a private address" },
	{ STR("192.0.0.0/24"), "an address for protocols" },
	{ STR("192.88.99.0/24"), "a 6to4 relay" },
	{ STR("192.168.0.0/16"), "a private address" },
	{ STR("198.18.0.0/15"), "an address for measurements" },
	{ STR("224.0.0.0/4"), "a multicast address" },
	{ STR("240.0.0.0/4"), "a reserved address" },
	/* The unspecified address, loopback, and IPv4 in its oldest disguise. */
	{ STR("::/96"), "this host" },
	{ STR("::ffff:0:0:0/96"), "an IPv4 address that is translated" },
	{ STR("64:ff9b::/96"), "an IPv4 address behind NAT64" },
	{ STR("64:ff9b:1::/48"), "an IPv4 address behind NAT64" },
	{ STR("100::/64"), "a discarded address" },
	{ STR("2001::/32"), "an IPv4 address behind Teredo" },
	{ STR("2002::/16"), "an IPv4 address behind 6to4" },
	{ STR("fc00::/7"), "a private address" },
	{ STR("fe80::/10"), "a link-local address" },
	{ STR("fec0::/10"), "a private address" },
	{ STR("ff00::/8"), "a multicast address" },
};

/* The row that covers it, with its net; NULL: none. */
static const char *find_special(const struct host *address, struct host *ret_net)
{
	struct host plain = *address;

	plain.port = 0;
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		struct cordon_error ignored;

		/* A row that cannot be read refuses everything: a test reads them all. */
		if (host_parse(special[i].net, ret_net, &ignored) < 0 ||
		    host_covers(ret_net, &plain))
			return special[i].what;
	}
	return NULL;
}

const char *address_why_not(const struct host *address)
{
	struct host net;

	return find_special(address, &net);
}

enum address_listed address_listed(const struct host *address, const struct host *patterns,
				   size_t n)
{
	enum address_listed found = ADDRESS_NOT_LISTED;
	struct host net;
	bool is_special = find_special(address, &net);

	for (size_t i = 0; i < n; i++) {
		struct host whole = patterns[i];

		if (!host_covers(&patterns[i], address))
			continue;
		if (patterns[i].prefix_bits == 128)
			return ADDRESS_LISTED;
		whole.port = 0;
		if (!is_special || host_covers(&net, &whole))
			found = ADDRESS_IN_LISTED;
	}
	return found;
}
