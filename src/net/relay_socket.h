/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORDON_NET_RELAY_SOCKET_H
#define CORDON_NET_RELAY_SOCKET_H

#include <stdint.h>

/* A socket that does not wait, on its way to the address (IPv4 as ::ffff:a.b.c.d).
 * SOCK_DGRAM or SOCK_STREAM; a stream may still be connecting. -1: errno says why. */
int relay_socket(const uint8_t address[16], uint16_t port, int type);
/* By that device, where it is not 0 and the address of IPv6. */
int relay_socket_by(uint32_t device, const uint8_t address[16], uint16_t port, int type);

/* The same with a socket that is there already. 0 or -1. */
int relay_connect(int fd, const uint8_t address[16], uint16_t port);

#endif
