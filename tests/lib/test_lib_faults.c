/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcordon when memory runs out: every allocation fails in turn. Each call ends in success
 * or in an error value; nothing is left, neither memory nor descriptor.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cordon/cordon.h>

#include "descriptors.h"
#include "fail_alloc.h"

static void use_failing_functions(void)
{
	json_set_alloc_funcs(__wrap_malloc, __wrap_free);
}

TestSuite(lib_faults, .init = use_failing_functions);

static struct cordon_policy *make_policy(void)
{
	struct cordon_policy *policy = cordon_policy_new("moderate");

	cordon_policy_program(policy, CORDON);
	cordon_policy_readonly_path(policy, "/usr");
	cordon_policy_timeout(policy, 60000);
	cordon_policy_set(policy, "env.set", "COLOUR=blue");
	return policy;
}

static void check(int r, const struct cordon_error *err)
{
	if (!fail_alloc_failed())
		cr_assert_eq(r, 0, "%s", err->message);
	else if (r < 0)
		cr_assert_eq(r, -CORDON_E_NOMEM, "%s: %s", err->stage, err->message);
}

static void build(void)
{
	struct cordon_policy *policy = make_policy();
	struct cordon_error err = { 0 };
	char *toml = NULL;
	int r = cordon_policy_check(policy, &err);

	check(r, &err);
	if (r == 0) {
		r = cordon_policy_print(policy, "mine", &toml, &err);
		check(r, &err);
	}
	if (r == 0)
		cr_assert_not_null(strstr(toml, "COLOUR"));
	cordon_free(toml);
	cordon_policy_free(policy);
}

Test(lib_faults, policies)
{
	cr_assert_gt(fail_alloc_each(build, false), 5);
	cr_assert_gt(fail_alloc_each(build, true), 5);
}

/* Output that could not be kept is said to be missing, and no error. */
static void run(void)
{
	struct cordon_policy *policy = make_policy();
	struct cordon_result *result = NULL;
	struct cordon_error err = { 0 };
	int r = cordon_execute_shell(policy, "echo $COLOUR", NULL, 0, &result, &err);

	check(r, &err);
	if (r == 0 && !cordon_result_truncated(result))
		cr_assert_str_eq(cordon_result_stdout(result, NULL), "blue\n");
	cordon_result_free(result);
	cordon_policy_free(policy);
}

static void decide(void)
{
	struct cordon_policy *policy = make_policy();
	struct cordon_error err = { 0 };
	int r = cordon_decide(policy, "write", "/etc/passwd", &err);

	check(r, &err);
	cordon_policy_free(policy);
}

Test(lib_faults, runs)
{
	int before = count_descriptors();

	cr_assert_gt(fail_alloc_each(run, false), 20);
	cr_assert_gt(fail_alloc_each(decide, false), 20);
	cr_assert_eq(count_descriptors(), before);
}
