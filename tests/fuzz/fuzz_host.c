/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes host_parse. What is accepted prints to a text that parses to the same host
 * and prints the same again; a target covers itself; what is refused says why.
 */
#include <string.h>

#include "fuzz.h"
#include "policy/hosts.h"

static bool same(const struct host *a, const struct host *b)
{
	if (a->kind != b->kind || a->port != b->port)
		return false;
	if (a->kind == HOST_ADDRESS)
		return a->prefix_bits == b->prefix_bits &&
		       memcmp(a->address, b->address, sizeof(a->address)) == 0;
	return a->name_length == b->name_length && !memcmp(a->name, b->name, a->name_length);
}

static void check_host(const struct host *h)
{
	struct cordon_error err = { 0 };
	autobuf struct buf first, second;
	struct host again;

	buf_init(&first, 400);
	buf_init(&second, 400);
	host_print(&first, h);
	CHECK(!first.failed);
	CHECK(host_parse(buf_str(&first), &again, &err) == 0);
	CHECK(same(h, &again));
	host_print(&second, &again);
	CHECK(str_eq(buf_str(&first), buf_str(&second)));
	for (size_t i = 0; i < h->name_length; i++)
		CHECK(!(h->name[i] >= 'A' && h->name[i] <= 'Z'));
}

/* Nothing but "*.x" and x differ between a pattern and the names it covers. */
static void check_cover(const struct host *pattern, const struct host *target)
{
	if (!host_covers(pattern, target))
		return;
	CHECK(!pattern->port || pattern->port == target->port);
	CHECK((pattern->kind == HOST_ADDRESS) == (target->kind == HOST_ADDRESS));
	if (pattern->kind == HOST_SUFFIX)
		CHECK(target->name_length > pattern->name_length + 1);
}

/* The input is a pattern, or a pattern and a target on two lines. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = { (const char *)data, size }, first, second;
	struct cordon_error err = { 0 };
	struct host pattern, target;
	bool both = str_cut(all, '\n', &first, &second);
	int r = host_parse(first, &pattern, &err);

	if (r < 0) {
		CHECK(r == -CORDON_E_CONFIG && !strncmp(err.message, "host '", 6));
		return 0;
	}
	check_host(&pattern);
	if (host_parse_target(first, &target, &err) == 0)
		CHECK(host_covers(&pattern, &target));
	if (both && host_parse_target(second, &target, &err) == 0) {
		check_host(&target);
		check_cover(&pattern, &target);
	}
	return 0;
}
