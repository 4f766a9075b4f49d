/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz harness over every file of the given directories, so that what the
 * fuzzer once found is tried in every build. An empty or missing directory fails:
 * it would replay nothing.
 */
#include <dirent.h>
#include <string.h>

#include "base/fd.h"
#include "fuzz.h"

#define FILE_MAX ((size_t)64 << 20)

static int replay_file(const char *path)
{
	autoarena struct arena a;
	struct cordon_error err;
	struct str text;
	uint8_t *exact;

	arena_init(&a, FILE_MAX * 2);
	if (fd_read_file(&a, path, FILE_MAX, &text, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	/* Exactly as many bytes as there are, so that a sanitizer sees an overrun. */
	exact = malloc(text.n ? text.n : 1);
	if (!exact)
		return -1;
	memcpy(exact, text.p, text.n);
	LLVMFuzzerTestOneInput(exact, text.n);
	free(exact);
	return 0;
}

/* Number of files replayed, or -1. */
static int replay_directory(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *e;
	int count = 0;

	while (d && count >= 0 && (e = readdir(d))) {
		char path[4096];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
		count = replay_file(path) ? -1 : count + 1;
	}
	if (d)
		closedir(d);
	return count;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int count = replay_directory(argv[i]);

		if (count <= 0) {
			fprintf(stderr, "%s: nothing to replay\n", argv[i]);
			return 1;
		}
		printf("%s: %d files\n", argv[i], count);
	}
	return argc < 2;
}
