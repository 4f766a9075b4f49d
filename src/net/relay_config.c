/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's resolver would know: name servers and the names of /etc/hosts. */
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>

#include "base/fd.h"
#include "base/num.h"
#include "net/relay_in.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)

/* The next word of a line; a comment ends it. */
static struct str next_word(struct str *line)
{
	size_t n = 0;
	struct str word;

	while (line->n && (line->p[0] == ' ' || line->p[0] == '\t'))
		*line = str_skip(*line, 1);
	while (n < line->n && !memchr(" \t\r#;", line->p[n], 5))
		n++;
	word = (struct str){ line->p, n };
	*line = str_skip(*line, n);
	return word;
}

static bool read_address(struct str word, uint8_t ret[16])
{
	struct cordon_error ignored;
	struct host host;

	if (host_parse_target(word, &host, &ignored) < 0 || host.kind != HOST_ADDRESS || host.port)
		return false;
	memcpy(ret, host.address, 16);
	return true;
}

/* A link-local one says by which device, with its name or number; false: there is none. */
static bool read_server(struct str word, struct relay_server *ret)
{
	struct str address, name;
	char device[IF_NAMESIZE];
	uint64_t number = 0;

	if (!str_cut(word, '%', &address, &name)) {
		ret->device = 0;
		return read_address(word, ret->address);
	}
	if (!name.n || name.n >= sizeof(device) || !read_address(address, ret->address))
		return false;
	memcpy(device, name.p, name.n);
	device[name.n] = '\0';
	ret->device = if_nametoindex(device);
	if (!ret->device && num_parse_u64(name, INT32_MAX, &number))
		ret->device = (uint32_t)number;
	return ret->device;
}

void relay_read_servers(struct str text, struct relay_config *ret)
{
	struct str line;

	while (text.n && ret->n_servers < RELAY_SERVERS_MAX) {
		str_cut(text, '\n', &line, &text);
		if (str_eq(next_word(&line), STR("nameserver")) &&
		    read_server(next_word(&line), &ret->servers[ret->n_servers]))
			ret->n_servers++;
	}
}

static void add_known(struct arena *a, struct str word, const uint8_t address[16],
		      struct relay_config *ret)
{
	struct cordon_error ignored;
	struct relay_known *known;
	struct host host;
	const char *name;

	/* The parser spells it as the request will. */
	if (host_parse_target(word, &host, &ignored) < 0 || host.kind != HOST_NAME || host.port)
		return;
	name = arena_dup(a, (struct str){ host.name, host.name_length });
	known = name ? vec_push(&ret->hosts, a) : NULL;
	if (!known)
		return;
	known->name = name;
	memcpy(known->address, address, 16);
}

void relay_read_hosts(struct arena *a, struct str text, struct relay_config *ret)
{
	while (text.n) {
		struct str line, word;
		uint8_t address[16];

		str_cut(text, '\n', &line, &text);
		if (!read_address(next_word(&line), address))
			continue;
		while ((word = next_word(&line)).n)
			add_known(a, word, address, ret);
	}
}

void relay_read_config(struct arena *a, struct relay_config *ret)
{
	struct cordon_error ignored;
	struct str text;

	if (fd_read_file(a, "/etc/resolv.conf", FILE_BYTES_MAX, &text, &ignored) == 0)
		relay_read_servers(text, ret);
	/* As resolvers do without a server. */
	if (!ret->n_servers)
		read_server(STR("127.0.0.1"), &ret->servers[ret->n_servers++]);
	if (fd_read_file(a, "/etc/hosts", FILE_BYTES_MAX, &text, &ignored) == 0)
		relay_read_hosts(a, text, ret);
}
