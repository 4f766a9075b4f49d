/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text functions of base on arbitrary bytes: what normalises is normal and
 * stays as it is, what parses prints back to itself, escaped text is harmless.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/num.h"
#include "base/path.h"
#include "fuzz.h"

static void normalise(struct str text)
{
	autoarena struct arena a;
	char *once, *twice;

	arena_init(&a, 1 << 16);
	once = path_normalise(&a, STR("/w/d"), text);
	if (!once)
		return;
	CHECK(path_is_normal(str_of(once)));
	twice = path_normalise(&a, STR("/"), str_of(once));
	CHECK(twice && str_eq(str_of(once), str_of(twice)));
}

static void round_trip(struct str text, bool (*parse)(struct str, uint64_t *),
		       void (*print)(struct buf *, uint64_t))
{
	autobuf struct buf b = buf_make(256);
	uint64_t value, again;

	if (!parse(text, &value))
		return;
	print(&b, value);
	CHECK(parse(buf_str(&b), &again) && again == value);
}

static void escape(struct str text)
{
	autobuf struct buf b = buf_make(1 << 16);

	buf_add_escaped(&b, text);
	CHECK(b.failed || str_is_utf8(buf_str(&b)));
	for (size_t i = 0; i < b.n; i++)
		CHECK((unsigned char)b.p[i] >= 0x20 && b.p[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };

	normalise(text);
	round_trip(text, num_parse_size, num_print_size);
	round_trip(text, num_parse_duration, num_print_duration);
	escape(text);
	return 0;
}
