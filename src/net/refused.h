/* SPDX-License-Identifier: Apache-2.0 */
/* refused: what the kernel's answer to a datagram that nobody takes says about it. */
#ifndef CORDON_NET_REFUSED_H
#define CORDON_NET_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than this of a message is not needed. */
#define REFUSED_BYTES 256

/* Reads a message as a raw socket of ICMP (with the header of IPv4 before it) or of ICMPv6
 * (without one) has it. False: it is not about UDP that found no port. The address and port
 * are those it was for; IPv4 is ::ffff:a.b.c.d. */
bool refused_udp(const uint8_t *message, size_t n, bool six, uint8_t ret_address[16],
		 uint16_t *ret_port);

#endif
