/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an attack by its name and exits with its outcome. */
#include "attack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct attack *const groups[] = {
	broker_attacks, call_attacks,	  name_attacks,	 path_attacks,	 process_attacks,
	socket_attacks, terminal_attacks, limit_attacks, helper_programs,
};

enum outcome held(const char *what)
{
	printf("held: %s: %s\n", what, strerror(errno));
	return HELD;
}

enum outcome cannot(const char *what)
{
	printf("cannot try: %s: %s\n", what, strerror(errno));
	return CANNOT;
}

enum outcome judge(long result, const char *what)
{
	if (result < 0)
		return held(what);
	printf("done: %s\n", what);
	return DONE;
}

const char *argument(int argc, char **argv, int i)
{
	return i < argc ? argv[i] : "";
}

long number(const char *text)
{
	return strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(groups) / sizeof(groups[0]); i++)
		for (const struct attack *a = groups[i]; a->name; a++)
			if (strcmp(a->name, argv[1]) == 0)
				return (int)a->run(argc - 2, argv + 2);
	fprintf(stderr, "attack: no attack named '%s'\n", argc > 1 ? argv[1] : "");
	return CANNOT;
}
