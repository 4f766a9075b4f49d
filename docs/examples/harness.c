/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_shell for an agent, in C: harness COMMAND
 *
 * Runs a shell command under cordon and prints what the model gets to see. Everything
 * in it comes from the JSON of `cordon run --json`. Build: cc harness.c -ljansson
 */
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The JSON that cordon prints; NULL when it could not be started or read. */
static json_t *run_shell(const char *command)
{
	const char *cordon = getenv("CORDON");
	char *argv[] = { "cordon", "run", "--quiet", "--json", "--timeout", "2m", "--",
			 "sh",     "-c",  (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	json_t *result = NULL;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends) < 0)
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	if (posix_spawnp(&pid, cordon ? cordon : "cordon", &actions, NULL, argv, environ) == 0) {
		close(ends[1]);
		ends[1] = -1;
		result = json_loadfd(ends[0], JSON_ALLOW_NUL, NULL);
		waitpid(pid, &status, 0);
	}
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return result;
}

/* The member as it is written; in an object with "escaped" \xNN stands for a byte. */
static const char *text(const json_t *obj, const char *key)
{
	const char *value = json_string_value(json_object_get(obj, key));

	return value ? value : "";
}

static void print_end(const json_t *result)
{
	const char *cause = text(result, "cause");
	const json_t *error = json_object_get(result, "error");

	if (strcmp(cause, "exited") == 0)
		printf("exit code %lld\n",
		       (long long)json_integer_value(json_object_get(result, "exit_code")));
	else if (strcmp(cause, "signal") == 0)
		printf("ended by signal %lld\n",
		       (long long)json_integer_value(json_object_get(result, "signal")));
	else if (error)
		printf("not started: %s\n", text(error, "message"));
	else
		printf("ended by the sandbox: %s\n", cause);
}

/* What there is to know before anybody agrees to it. */
static void print_fix(const json_t *fix)
{
	fputs("; ask the user for ", stdout);
	if (json_object_get(fix, "first"))
		printf("%s, outside, then ", text(fix, "first"));
	fputs(text(fix, "flags"), stdout);
	if (json_object_get(fix, "note"))
		printf(" (%s)", text(fix, "note"));
	if (json_object_get(fix, "warning"))
		printf(" (warning: %s)", text(fix, "warning"));
}

static void print_refusal(const json_t *v)
{
	const json_t *fix = json_object_get(v, "fix");
	const char *rule = text(v, "rule");

	printf("%s: %s %s (rule: %s)",
	       strcmp(text(v, "source"), "inferred") == 0 ? "seemingly refused" : "refused",
	       text(v, "op"), text(v, "object"), *rule ? rule : "none");
	if (json_is_object(fix))
		print_fix(fix);
	else if (json_object_get(v, "reason"))
		printf("; %s", text(v, "reason"));
	putchar('\n');
}

static int print_result(const json_t *result)
{
	const json_t *v;
	size_t i;

	fputs(text(result, "stdout"), stdout);
	fputs(text(result, "stderr"), stdout);
	print_end(result);
	json_array_foreach(json_object_get(result, "violations"), i, v)
		print_refusal(v);
	return strcmp(text(result, "cause"), "exited") != 0 ||
	       json_integer_value(json_object_get(result, "exit_code")) != 0;
}

int main(int argc, char **argv)
{
	json_t *result = argc == 2 ? run_shell(argv[1]) : NULL;
	int failed;

	if (!result || !json_object_get(result, "cause")) {
		fprintf(stderr, "%s\n",
			result ? text(json_object_get(result, "error"), "message") :
				 "usage: harness COMMAND, with cordon in PATH or CORDON");
		json_decref(result);
		return 2;
	}
	failed = print_result(result);
	json_decref(result);
	return failed;
}
