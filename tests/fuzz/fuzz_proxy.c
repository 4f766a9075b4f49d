/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what is read of proxies: the variables and the answer to CONNECT. What is taken
 * makes a request of exactly the lines it should have, and an answer that was read stays
 * read whatever follows it.
 */
#include <string.h>

#include "fuzz.h"
#include "net/proxy.h"

static void check_request(const struct proxy *p)
{
	autobuf struct buf b = buf_make(PROXY_REQUEST_MAX);
	size_t lines = 0;

	proxy_write_request(&b, &p->at, p);
	CHECK(!b.failed);
	for (size_t i = 0; i < b.n; i++)
		lines += b.p[i] == '\n';
	CHECK(lines == (*p->authorization ? 4 : 3));
	CHECK(strstr(b.p, "\r\n\r\n") == b.p + b.n - 4);
}

static void check_answer(const uint8_t *data, size_t size)
{
	unsigned status, again;
	size_t length, same;

	if (proxy_read_answer(data, size, &status, &length) != PROXY_ANSWER_READ)
		return;
	CHECK(status < 1000 && length > 0 && length <= size && data[length - 1] == '\n');
	CHECK(proxy_read_answer(data, length, &again, &same) == PROXY_ANSWER_READ);
	CHECK(again == status && same == length);
	CHECK(proxy_read_answer(data, length - 1, &again, &same) == PROXY_ANSWER_MORE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct cordon_error ignored;
	struct proxy p;

	check_answer(data, size);
	if (proxy_parse(text, &p, &ignored) < 0)
		return 0;
	CHECK(p.at.port && memchr(p.authorization, 0, sizeof(p.authorization)));
	check_request(&p);
	/* Read as a list it must only end. */
	proxy_is_without(text, &p.at);
	return 0;
}
