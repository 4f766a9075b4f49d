/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the matcher of one component against a slower one that is right by
 * construction, and quoting against unquoting.
 */
#include <string.h>

#include "fmt/glob.h"
#include "fuzz.h"

#define PATTERN_MAX 200
#define NAME_MAX_BYTES 200

/* One element at p[i]: its end, or 0 when malformed. */
static size_t element_end(struct str p, size_t i)
{
	size_t k = i + 1;

	if (p.p[i] == '\\')
		return i + 1 < p.n ? i + 2 : 0;
	if (p.p[i] != '[')
		return i + 1;
	if (k < p.n && (p.p[k] == '!' || p.p[k] == '^'))
		k++;
	for (size_t first = k; k < p.n; k++) {
		if (p.p[k] == ']' && k > first)
			return k + 1;
		if (p.p[k] == '\\')
			k++;
	}
	return 0;
}

static bool set_holds(struct str p, size_t from, size_t end, unsigned char c)
{
	bool invert = p.p[from + 1] == '!' || p.p[from + 1] == '^', hit = false;

	for (size_t k = from + 1 + invert; k < end - 1; k++) {
		unsigned char low, high;

		k += p.p[k] == '\\';
		low = high = (unsigned char)p.p[k];
		if (k + 2 < end - 1 && p.p[k + 1] == '-') {
			k += 2;
			k += p.p[k] == '\\';
			high = (unsigned char)p.p[k];
		}
		hit |= c >= low && c <= high;
	}
	return hit != invert;
}

static bool element_holds(struct str p, size_t i, size_t end, unsigned char c)
{
	if (p.p[i] == '?')
		return true;
	if (p.p[i] == '[')
		return set_holds(p, i, end, c);
	return (unsigned char)p.p[end - 1] == c;
}

/* reach[k]: the pattern up to here can match the first k bytes of the name. */
static bool reference(struct str p, struct str name)
{
	bool reach[NAME_MAX_BYTES + 1] = { true };

	for (size_t i = 0, end; i < p.n; i = end) {
		bool next[NAME_MAX_BYTES + 1] = { false };

		end = element_end(p, i);
		for (size_t k = 0; k <= name.n; k++) {
			if (p.p[i] == '*')
				next[k] = reach[k] || (k && next[k - 1]);
			else if (k)
				next[k] = reach[k - 1] &&
					  element_holds(p, i, end, (unsigned char)name.p[k - 1]);
		}
		memcpy(reach, next, sizeof(reach));
	}
	return reach[name.n];
}

static bool well_formed(struct str p)
{
	for (size_t i = 0; i < p.n;) {
		i = element_end(p, i);
		if (!i)
			return false;
	}
	return true;
}

static void check_quoting(struct str text)
{
	autobuf struct buf quoted, plain;

	buf_init(&quoted, 4096);
	buf_init(&plain, 4096);
	glob_quote(&quoted, text);
	CHECK(!glob_has_magic(buf_str(&quoted)));
	CHECK(!glob_component_fault(buf_str(&quoted)));
	CHECK(glob_component_match(buf_str(&quoted), text));
	glob_unquote(&plain, buf_str(&quoted));
	CHECK(str_eq(buf_str(&plain), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = { (const char *)data, size }, pattern, name;

	str_cut(all, '\n', &pattern, &name);
	pattern = str_take(pattern, PATTERN_MAX);
	name = str_take(name, NAME_MAX_BYTES);
	check_quoting(pattern);
	CHECK(well_formed(pattern) == !glob_component_fault(pattern));
	if (well_formed(pattern))
		CHECK(glob_component_match(pattern, name) == reference(pattern, name));
	return 0;
}
