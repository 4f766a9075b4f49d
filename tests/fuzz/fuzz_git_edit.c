/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the comparison of two git configurations, apart at the first NUL, against the
 * reader of such files: what is called harmless differs in branches and submodules only,
 * and sets nothing there that is not on the list.
 */
#include <string.h>

#include "fuzz.h"
#include "run/git_config.h"
#include "run/git_edit.h"

struct sum {
	uint64_t others; /* depends on every setting that must not differ, and their order */
	bool listed;	 /* the rest are known */
};

static bool is_between(struct str key, const char *start, const char *end)
{
	return str_starts(key, str_of(start)) && str_ends(key, str_of(end));
}

static void tell(void *data, struct str key, struct str value)
{
	static const char *const known[][2] = {
		{ "branch.", ".remote" },    { "branch.", ".merge" },	  { "branch.", ".rebase" },
		{ "submodule.", ".active" }, { "submodule.", ".update" }, { "submodule.", ".url" },
	};
	struct sum *s = data;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is_between(key, known[i][0], known[i][1])) {
			s->listed &= !value.n || value.p[0] != '!';
			return;
		}
	s->others = s->others * 31 + str_hash(key, 1) + 7 * str_hash(value, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *nul = memchr(data, 0, size);
	size_t n = nul ? (size_t)(nul - (const char *)data) : size;
	struct str before = { (const char *)data, n };
	struct str after = { (const char *)data + n + (nul ? 1 : 0), size - n - (nul ? 1 : 0) };
	struct str added;
	struct sum was = { .listed = true }, is = { .listed = true };
	size_t line = SIZE_MAX;

	if (git_edit_merge(before, after, &line) != GIT_EDIT_OTHER)
		CHECK(line < before.n && before.p[line] == '\t');
	if (!git_edit_is_harmless(before, after, &added))
		return 0;
	CHECK(added.n == after.n - before.n && str_starts(after, before));
	if (!git_config_read(before, tell, &was))
		return 0;
	CHECK(git_config_read(after, tell, &is));
	CHECK(was.others == is.others);
	CHECK(is.listed || !was.listed);
	return 0;
}
