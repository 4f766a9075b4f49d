/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch only. */
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "cli/cmd.h"
#include "cli/opts.h"
#include "cli/out.h"

#define MEMORY_MAX ((size_t)512 << 20)

/* A line that could not be read may still have said in which form to complain. */
static void want_json(struct opts *o, char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--json") == 0)
			o->value[OPTION_JSON] = "";
}

static int no_command(const struct opts *o)
{
	struct cordon_error err;

	err_set(&err, CORDON_E_USAGE, 0, "usage", "no command was named");
	err_hint(&err, "for example 'cordon run -- make test'; 'cordon help' lists the commands");
	return out_error(o, &err);
}

static int dispatch(char **argv, struct arena *a)
{
	struct cordon_error err;
	struct opts o;

	if (opts_parse(a, argv, &o, &err) < 0) {
		want_json(&o, argv);
		return out_error(&o, &err);
	}
	if (opts_given(&o, OPTION_HELP))
		return help_print(&o, o.command);
	if (opts_given(&o, OPTION_VERSION))
		return version_print(&o);
	return o.command ? o.command->main(&o) : no_command(&o);
}

/* With another's rights cordon would read, write and kill for whoever calls it. */
static int check_ids(void)
{
	const struct opts none = { 0 };
	struct cordon_error err;

	if (getuid() == geteuid() && getgid() == getegid())
		return 0;
	err_set(&err, CORDON_E_SYSTEM, 0, "start", "cordon must not be installed setuid or setgid");
	err_hint(&err, "it needs no rights of its own: chmod ug-s on the program");
	return out_error(&none, &err);
}

static int start(char **argv, struct arena *a)
{
	if (argv[0] && strcmp(argv[0], "--supervise") == 0 && !argv[1])
		return supervise(a);
	if (argv[0] && strcmp(argv[0], LAUNCH_INSIDE_STEP) == 0)
		return inside(argv + 1);
	return dispatch(argv, a);
}

int main(int argc, char **argv)
{
	autoarena struct arena a;
	int status;

	/* Before anything returns: leaving this scope frees it. */
	arena_init(&a, MEMORY_MAX);
	out_prepare();
	status = check_ids();
	if (status)
		return status;
	return start(argv + (argc > 0), &a);
}
