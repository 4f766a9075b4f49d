/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of what the kernel refuses; the first byte says of which family. */
#include <string.h>

#include "fuzz.h"
#include "net/refused.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t address[16], again[16];
	uint16_t port = 0, port_again = 0;
	bool six = size && data[0] & 1;

	if (!size || !refused_udp(data + 1, size - 1, six, address, &port))
		return 0;
	/* It does not depend on what follows. */
	for (size_t n = 0; n < size - 1; n++)
		if (refused_udp(data + 1, n, six, again, &port_again))
			CHECK(port == port_again && memcmp(address, again, sizeof(again)) == 0);
	return 0;
}
