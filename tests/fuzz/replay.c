/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz harness over the files of one directory and prints TAP. An input
 * that crashes ends the program, so the plan, printed first, is not fulfilled.
 * The empty input is always among them.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fd.h"

#define INPUT_MAX ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* A copy of exactly the input's size lets ASan see a read beyond its end. */
static bool replay(struct str text)
{
	unsigned char *exact = malloc(text.n ? text.n : 1);

	if (!exact)
		return false;
	if (text.n)
		memcpy(exact, text.p, text.n);
	LLVMFuzzerTestOneInput(exact, text.n);
	free(exact);
	return true;
}

static bool replay_file(const char *dir, const char *name)
{
	struct cordon_error err;
	autoarena struct arena a;
	struct str text;
	char *path;

	arena_init(&a, 2 * INPUT_MAX);
	path = arena_printf(&a, "%s/%s", dir, name);
	if (!path || fd_read_file(&a, path, INPUT_MAX, &text, &err) < 0)
		return false;
	return replay(text);
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n, failed = 0;

	if (argc != 2 || (n = scandir(argv[1], &entries, not_hidden, alphasort)) < 0)
		return 2;
	printf("TAP version 13\n1..%d\n", n + 1);
	fflush(stdout);
	printf("%s 1 empty input\n", replay(STR("")) ? "ok" : "not ok");
	for (int i = 0; i < n; i++) {
		bool ok = replay_file(argv[1], entries[i]->d_name);

		printf("%s %d %s\n", ok ? "ok" : "not ok", i + 2, entries[i]->d_name);
		fflush(stdout);
		failed += !ok;
		free(entries[i]);
	}
	free(entries);
	return failed ? 1 : 0;
}
