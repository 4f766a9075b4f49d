/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of ICMP quote the packet they are about: its header and that of UDP. */
#include "net/refused.h"

#include <netinet/in.h>
#include <string.h>

#include "base/str.h"

#define ICMP_BYTES 8
#define UDP_BYTES 8
#define FOUR_BYTES_MIN 20
#define SIX_BYTES 40
/* "Destination unreachable", because of the port. */
#define FOUR_TYPE 3
#define FOUR_CODE 3
#define SIX_TYPE 1
#define SIX_CODE 4

/* Cuts n bytes off; NULL: there are fewer. */
static const uint8_t *cut(struct str *rest, size_t n)
{
	const char *at = rest->p;

	if (rest->n < n)
		return NULL;
	*rest = str_skip(*rest, n);
	return (const uint8_t *)at;
}

/* A header of IPv4 with its options. */
static const uint8_t *cut_four(struct str *rest)
{
	size_t n = rest->n ? ((uint8_t)rest->p[0] & 0xfu) * 4 : 0;

	return n < FOUR_BYTES_MIN ? NULL : cut(rest, n);
}

static bool cut_error(struct str *rest, uint8_t type, uint8_t code)
{
	const uint8_t *icmp = cut(rest, ICMP_BYTES);

	return icmp && icmp[0] == type && icmp[1] == code;
}

static bool read_four(struct str *rest, uint8_t ret[16])
{
	const uint8_t *quoted;

	if (!cut_four(rest) || !cut_error(rest, FOUR_TYPE, FOUR_CODE))
		return false;
	quoted = cut_four(rest);
	if (!quoted || quoted[9] != IPPROTO_UDP)
		return false;
	memset(ret, 0, 10);
	memset(ret + 10, 0xff, 2);
	memcpy(ret + 12, quoted + 16, 4);
	return true;
}

static bool read_six(struct str *rest, uint8_t ret[16])
{
	const uint8_t *quoted;

	if (!cut_error(rest, SIX_TYPE, SIX_CODE))
		return false;
	quoted = cut(rest, SIX_BYTES);
	if (!quoted || quoted[6] != IPPROTO_UDP)
		return false;
	memcpy(ret, quoted + 24, 16);
	return true;
}

bool refused_udp(const uint8_t *message, size_t n, bool six, uint8_t ret_address[16],
		 uint16_t *ret_port)
{
	struct str rest = { (const char *)message, n };
	uint8_t address[16];
	const uint8_t *udp;

	if (six ? !read_six(&rest, address) : !read_four(&rest, address))
		return false;
	udp = cut(&rest, UDP_BYTES);
	if (!udp)
		return false;
	memcpy(ret_address, address, sizeof(address));
	*ret_port = (uint16_t)(udp[2] << 8 | udp[3]);
	return true;
}
