/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of TLS names. A name is within its bounds, and what was decided on some
 * bytes stays decided whatever follows them.
 */
#include <string.h>

#include "fuzz.h"
#include "net/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char whole[HELLO_NAME_MAX + 1], part[HELLO_NAME_MAX + 1];
	enum hello last = hello_read(data, size, whole), now;

	if (last == HELLO_NAME)
		CHECK(*whole && memchr(whole, 0, sizeof(whole)));
	if (size > 4096)
		return 0;
	for (size_t n = 0; n < size; n++) {
		now = hello_read(data, n, part);
		CHECK(now == HELLO_MORE || now == last);
		CHECK(now != HELLO_NAME || strcmp(part, whole) == 0);
	}
	return 0;
}
