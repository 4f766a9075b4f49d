/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_shell for an agent, with libcordon: run_shell COMMAND
 *
 * Prints what the model gets to see, as harness.c does with the program. Build:
 *	cc run_shell.c $(pkg-config --cflags --libs libcordon)
 */
#include <cordon/cordon.h>
#include <stdio.h>
#include <string.h>

static void print_end(const struct cordon_result *result)
{
	enum cordon_cause cause = cordon_result_cause(result);
	const struct cordon_error *error = cordon_result_error(result);

	if (error)
		printf("not started: %s\n", error->message);
	else if (cause == CORDON_CAUSE_exited)
		printf("exit code %d\n", cordon_result_exit_code(result));
	else if (cause == CORDON_CAUSE_signal)
		printf("ended by signal %d\n", cordon_result_signal(result));
	else
		printf("ended by the sandbox: %s\n", cordon_cause_to_string(cause));
}

static void print_refusal(const struct cordon_violation *v)
{
	printf("%s: %s %s (rule: %s)",
	       strcmp(v->source, "inferred") == 0 ? "seemingly refused" : "refused", v->op,
	       v->object, v->rule ? v->rule : "none");
	if (v->fix)
		printf("; ask the user for %s%s%s%s", v->fix, v->warning ? " (warning: " : "",
		       v->warning ? v->warning : "", v->warning ? ")" : "");
	else if (v->reason)
		printf("; %s", v->reason);
	putchar('\n');
}

static int run_shell(const struct cordon_policy *policy, const char *command)
{
	const struct cordon_violation *v;
	struct cordon_result *result;
	struct cordon_error err;
	int failed = cordon_execute_shell(policy, command, ".", 120000, &result, &err);

	if (!result) {
		fprintf(stderr, "%s%s%s\n", err.message, *err.hint ? "; " : "", err.hint);
		return 2;
	}
	fputs(cordon_result_stdout(result, NULL), stdout);
	fputs(cordon_result_stderr(result, NULL), stdout);
	print_end(result);
	for (size_t i = 0; (v = cordon_result_violation(result, i)); i++)
		print_refusal(v);
	failed = failed < 0 || cordon_result_exit_code(result) != 0;
	cordon_result_free(result);
	return failed;
}

int main(int argc, char **argv)
{
	struct cordon_policy *policy = cordon_policy_new(NULL);
	int failed;

	if (argc != 2) {
		fprintf(stderr, "usage: run_shell COMMAND\n");
		return 2;
	}
	failed = run_shell(policy, argv[1]);
	cordon_policy_free(policy);
	return failed;
}
