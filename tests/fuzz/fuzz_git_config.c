/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of git's configuration: whatever comes in, keys and values stay
 * within their bounds and a key has a section and a name.
 */
#include "fuzz.h"
#include "run/git_config.h"

static void tell(void *data, struct str key, struct str value)
{
	size_t *count = data;
	size_t dot = str_find(key, '.');

	CHECK(key.n <= GIT_CONFIG_TEXT_MAX && value.n <= GIT_CONFIG_TEXT_MAX);
	CHECK(dot > 0 || key.p[0] == '.');
	CHECK(dot + 1 < key.n && key.p[key.n - 1] != '.');
	for (size_t i = 0; i < dot; i++)
		CHECK(!(key.p[i] >= 'A' && key.p[i] <= 'Z'));
	(*count)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	size_t first = 0, again = 0;
	bool good = git_config_read(text, tell, &first);

	CHECK(git_config_read(text, tell, &again) == good && first == again);
	CHECK(first <= size);
	return 0;
}
