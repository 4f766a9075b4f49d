/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of TLS names and of the answers. A name is within its bounds, and what was
 * decided on some bytes stays decided whatever follows them.
 */
#include <string.h>

#include "fuzz.h"
#include "net/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char whole[HELLO_NAME_MAX + 1], part[HELLO_NAME_MAX + 1];
	size_t end = 0, part_end = 0;
	enum hello last = hello_read(data, size, whole, &end), now;
	enum hello_answer answer = hello_answer(data, size), sooner;

	if (last == HELLO_NAME)
		CHECK(*whole && memchr(whole, 0, sizeof(whole)) && end <= size);
	if (size > 4096)
		return 0;
	for (size_t n = 0; n < size; n++) {
		now = hello_read(data, n, part, &part_end);
		CHECK(now == HELLO_MORE || now == last);
		CHECK(now != HELLO_NAME || (strcmp(part, whole) == 0 && part_end == end));
		sooner = hello_answer(data, n);
		CHECK(sooner == HELLO_ANSWER_MORE || sooner == answer);
	}
	return 0;
}
