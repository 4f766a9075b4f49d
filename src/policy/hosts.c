/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing, printing and matching of hosts. Resolves nothing. */
#include "policy/hosts.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

#define LABEL_MAX 63
#define V4_PREFIX "\0\0\0\0\0\0\0\0\0\0\xff\xff"
#define V4_BITS 96

__attribute__((format(printf, 3, 4))) static int refuse(struct str text, struct cordon_error *err,
							const char *why, ...)
{
	autobuf struct buf shown = buf_make(400);
	char line[160];
	va_list ap;

	va_start(ap, why);
	vsnprintf(line, sizeof(line), why, ap);
	va_end(ap);
	buf_add_escaped(&shown, str_take(text, 80));
	return err_set(err, CORDON_E_CONFIG, 0, "host", "host '%s': %s", shown.p, line);
}

static bool label_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static bool label_good(struct str label)
{
	if (!label.n || label.n > LABEL_MAX || label.p[0] == '-' || label.p[label.n - 1] == '-')
		return false;
	for (size_t i = 0; i < label.n; i++)
		if (!label_char(label.p[i]))
			return false;
	return true;
}

/* A last label of digits, or 0x..., is what inet_aton() would take for an address. */
static bool label_numeric(struct str label)
{
	bool hex = str_starts(label, STR("0x"));

	for (size_t i = hex ? 2 : 0; i < label.n; i++) {
		char c = label.p[i];

		if (!(c >= '0' && c <= '9') && !(hex && c >= 'a' && c <= 'f'))
			return false;
	}
	return true;
}

static int parse_name(struct str text, struct str whole, struct host *h, struct cordon_error *err)
{
	struct str rest, label = { 0 };

	if (str_ends(text, STR(".")))
		text.n--;
	if (!text.n || text.n > HOST_NAME_MAX_BYTES)
		return refuse(whole, err, "a name has 1 to %d bytes", HOST_NAME_MAX_BYTES);
	if (str_eq(text, STR("*")))
		return refuse(whole, err,
			      "'*' stands before a name only, as in *.example.com");
	for (size_t i = 0; i < text.n; i++)
		h->name[i] = text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] | 0x20 : text.p[i];
	h->name_length = (uint8_t)text.n;
	rest = (struct str){ h->name, text.n };
	do {
		bool more = str_cut(rest, '.', &label, &rest);

		if (!label_good(label))
			return refuse(whole, err,
				      "labels are letters, digits, '-' and '_'; write "
				      "other names in their xn-- form");
		if (!more)
			break;
	} while (true);
	if (label_numeric(label))
		return refuse(whole, err, "looks like a number; write an address in full");
	return 0;
}

static bool parse_address(struct str text, struct host *h)
{
	char buffer[INET6_ADDRSTRLEN];

	if (text.n >= sizeof(buffer) || str_find(text, '\0') < text.n)
		return false;
	memcpy(buffer, text.p, text.n);
	buffer[text.n] = '\0';
	if (inet_pton(AF_INET, buffer, h->address + 12) == 1) {
		memcpy(h->address, V4_PREFIX, 12);
		return true;
	}
	return inet_pton(AF_INET6, buffer, h->address) == 1;
}

bool host_is_v4(const struct host *h)
{
	return memcmp(h->address, V4_PREFIX, 12) == 0;
}

bool host_is_loopback(const struct host *h)
{
	static const uint8_t six[16] = { [15] = 1 };

	return host_is_v4(h) ? h->address[12] == 127 : memcmp(h->address, six, sizeof(six)) == 0;
}

bool host_is_local(const struct host *h)
{
	return h->kind == HOST_ADDRESS ? host_is_loopback(h) : strcmp(h->name, "localhost") == 0;
}

static int parse_port(struct str text, struct str whole, struct host *h, struct cordon_error *err)
{
	uint64_t port;

	if (!num_parse_u64(text, 65535, &port) || !port)
		return refuse(whole, err, "a port is a number from 1 to 65535");
	h->port = (uint16_t)port;
	return 0;
}

/* Cuts "host:port", "[v6]:port" and a bare v6 address; *port is empty without one. */
static int split_port(struct str text, struct str whole, struct str *host, struct str *port,
		      bool *has_port, struct cordon_error *err)
{
	struct str rest;

	*has_port = false;
	*port = (struct str){ 0 };
	*host = text;
	if (str_starts(text, STR("["))) {
		if (!str_cut(str_skip(text, 1), ']', host, &rest))
			return refuse(whole, err, "a '[' without its ']'");
		if (rest.n && rest.p[0] != ':')
			return refuse(whole, err, "after ']' comes ':' and a port");
		*has_port = rest.n > 0;
		*port = str_skip(rest, 1);
		return 0;
	}
	str_cut(text, ':', host, &rest);
	if (host->n == text.n)
		return 0;
	if (str_find(rest, ':') < rest.n) {
		*host = text; /* two colons without brackets: an IPv6 address */
		return 0;
	}
	*has_port = true;
	*port = rest;
	return 0;
}

static int parse_prefix(struct str text, struct str whole, struct host *h, struct cordon_error *err)
{
	uint64_t bits, most = host_is_v4(h) ? 32 : 128;

	if (!num_parse_u64(text, most, &bits))
		return refuse(whole, err, "a prefix length here is a number from 0 to %d",
			      (int)most);
	h->prefix_bits = (uint8_t)(bits + (host_is_v4(h) ? V4_BITS : 0));
	for (unsigned i = h->prefix_bits; i < 128; i++)
		if (h->address[i / 8] & (0x80 >> (i % 8)))
			return refuse(whole, err, "bits beyond the prefix length are set");
	return 0;
}

/* Of a URL the host is what was meant; it is named only if nothing in it needs care. */
static int refuse_url(struct str text, size_t scheme_end, struct cordon_error *err)
{
	struct str rest = str_skip(text, scheme_end), host = rest;

	for (host.n = 0; host.n < rest.n && !strchr("/?#", rest.p[host.n]); host.n++) {
		char c = (char)(rest.p[host.n] | 0x20);

		if (!label_char(c) && c != '.' && rest.p[host.n] != ':' && rest.p[host.n] != '*')
			return refuse(text, err, "a URL, where a host is wanted");
	}
	if (!host.n || host.n > 80)
		return refuse(text, err, "a URL, where a host is wanted");
	return refuse(text, err, "a URL, where a host is wanted: write %.*s", STR_ARG(host));
}

static size_t after_scheme(struct str text)
{
	for (size_t i = 0; i + 3 <= text.n; i++)
		if (memcmp(text.p + i, "://", 3) == 0)
			return i + 3;
	return 0;
}

int host_parse(struct str text, struct host *ret, struct cordon_error *err)
{
	struct host h = { .prefix_bits = 128 };
	struct str host, port, address, prefix;
	bool has_port, has_prefix, bracketed = str_starts(text, STR("["));
	size_t url = after_scheme(text);
	int r = url ? refuse_url(text, url, err)
		    : split_port(text, text, &host, &port, &has_port, err);

	if (r == 0 && has_port)
		r = parse_port(port, text, &h, err);
	if (r < 0)
		return r;
	has_prefix = str_cut(host, '/', &address, &prefix);
	/* Brackets are for IPv6 only. */
	if (parse_address(address, &h) && (!bracketed || str_find(address, ':') < address.n)) {
		h.kind = HOST_ADDRESS;
		r = has_prefix ? parse_prefix(prefix, text, &h, err) : 0;
	} else if (bracketed) {
		r = refuse(text, err, "brackets hold an IPv6 address without a scope");
	} else if (str_starts(host, STR("*."))) {
		h.kind = HOST_SUFFIX;
		r = parse_name(str_skip(host, 2), text, &h, err);
		if (r == 0 && !memchr(h.name, '.', h.name_length))
			r = refuse(text, err, "a wildcard needs at least two labels after '*.'");
	} else {
		h.kind = HOST_NAME;
		r = parse_name(host, text, &h, err);
	}
	if (r == 0)
		*ret = h;
	return r;
}

int host_parse_target(struct str text, struct host *ret, struct cordon_error *err)
{
	struct host h;
	int r = host_parse(text, &h, err);

	if (r < 0)
		return r;
	if (h.kind == HOST_SUFFIX || str_find(text, '/') < text.n)
		return refuse(text, err, "a pattern, where one host is wanted");
	*ret = h;
	return 0;
}

static bool suffix_covers(const struct host *suffix, const struct host *target)
{
	size_t n = suffix->name_length, m = target->name_length;

	if (target->kind == HOST_SUFFIX && m == n)
		return memcmp(target->name, suffix->name, n) == 0;
	return m > n + 1 && target->name[m - n - 1] == '.' &&
	       memcmp(target->name + m - n, suffix->name, n) == 0;
}

static bool address_covers(const struct host *net, const struct host *target)
{
	/* ::/0 is about IPv6, although IPv4 is kept inside it. */
	if (host_is_v4(net) != host_is_v4(target) || net->prefix_bits > target->prefix_bits)
		return false;
	for (unsigned i = 0; i < net->prefix_bits; i++)
		if ((net->address[i / 8] ^ target->address[i / 8]) & (0x80 >> (i % 8)))
			return false;
	return true;
}

bool host_covers(const struct host *pattern, const struct host *target)
{
	if (pattern->port && pattern->port != target->port)
		return false;
	if ((pattern->kind == HOST_ADDRESS) != (target->kind == HOST_ADDRESS))
		return false;
	switch (pattern->kind) {
	case HOST_NAME:
		return target->kind == HOST_NAME &&
		       pattern->name_length == target->name_length &&
		       memcmp(pattern->name, target->name, target->name_length) == 0;
	case HOST_SUFFIX:
		return suffix_covers(pattern, target);
	case HOST_ADDRESS:
		return address_covers(pattern, target);
	}
	return false;
}

static void print_address(struct buf *b, const struct host *h)
{
	char text[INET6_ADDRSTRLEN];
	bool v4 = host_is_v4(h), bracket = !v4 && h->port;
	unsigned bits = h->prefix_bits - (v4 ? V4_BITS : 0);

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? h->address + 12 : h->address, text, sizeof(text));
	buf_addf(b, bracket ? "[%s" : "%s", text);
	if (h->prefix_bits != 128)
		buf_addf(b, "/%u", bits);
	if (bracket)
		buf_addc(b, ']');
}

void host_print(struct buf *b, const struct host *host)
{
	if (host->kind == HOST_ADDRESS)
		print_address(b, host);
	else
		buf_addf(b, "%s%s", host->kind == HOST_SUFFIX ? "*." : "", host->name);
	if (host->port)
		buf_addf(b, ":%u", host->port);
}
